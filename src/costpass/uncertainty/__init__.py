"""How far a figure can be trusted: intervals, paired comparison, resampling and power, as pure functions on arrays."""
