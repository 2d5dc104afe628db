"""Ways to attempt a problem."""
