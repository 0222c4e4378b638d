"""Synthetic speech to learn from: texts, synthesizers, speakers, phones, anchored tokens, and shards on disk.

Decided: tokens are anchored in the synthesizers' own phone timings (pair of phone labels x colour of the voice).
Because then flow and language model can be trained at once and apart from each other, and a token can be read.
Instead of: learning a codebook first, on which everything else would have to wait.
"""
