"""costpass: what does a correct answer cost, with which model, agent or tool, and how sure are we?"""

__version__ = "0.1.0"
