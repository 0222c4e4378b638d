"""Conversion of the trainers' checkpoints to a model folder with the official layout."""
