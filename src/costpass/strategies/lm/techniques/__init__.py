"""Inference-time techniques: ways to get an answer out of a model, from one bare call to votes and one's own code."""
