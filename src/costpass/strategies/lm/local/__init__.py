"""Models that run on this machine: their weights, and the processes that serve them."""
