"""Streaming synthesis out of stages: the state of one utterance, and what a voice contributes to all of them."""
