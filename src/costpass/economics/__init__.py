"""Cost of pass, frontier, gain, essentialness, trend, policies and risk: pure functions on numpy arrays.

Tables are strategies × problems, `[S, P]`; resampled tables carry the replicate axis first, `[B, S, P]`.
"""
