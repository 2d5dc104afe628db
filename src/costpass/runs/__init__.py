"""Experiments: read, planned, run, resumed."""
