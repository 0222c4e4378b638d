"""Streaming synthesis from the stages of a model: requests, utterances, and cached voice prompts."""
