"""Language models: providers, the metered call, and inference-time techniques."""
