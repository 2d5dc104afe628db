"""What an attempt may cost."""
