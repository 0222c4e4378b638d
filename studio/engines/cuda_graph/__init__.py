"""The speech language model as a recorded graph of kernels: on a card a token costs what its arithmetic costs.

Plain PyTorch launches some hundred kernels for every token, one by one; that is most of the time of a token on a
graphics card. ``static_step`` does the same arithmetic in memory that never moves, so that it can be recorded
once and replayed; ``device_sampling`` draws the token where its scores are.
"""
