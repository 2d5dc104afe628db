"""What an attempt, a strategy and a run may cost, and how that is kept."""
