"""Synthetic speech for training: texts, synthesizers, speakers, phones, anchored tokens, and shards on disk.

Decision: tokens are defined by the phone timings of the synthesizers (pair of phone labels x colour of the voice).
Reason: flow and language model can be trained independently and at the same time, and tokens are readable.
Alternative: learning a codebook first, for which all other training would have to wait.
"""
