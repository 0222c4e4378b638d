"""Mel spectrogram to waveform: the HiFT vocoders of CosyVoice2 (centred) and CosyVoice3 (causal).

Decided: one network class a generation, and two ways to run it: ``forward`` over whole utterances,
which can be trained and is the reference, and streams that hold the state of one utterance. Because
a causal layer differs between the two only in where its past comes from (``history.py``). Instead of:
a streaming copy of every layer.
"""

from studio.model.vocoder.noise import TableNoise
from studio.model.vocoder.vocoder import HiFTVocoder, load_vocoder

__all__ = ["HiFTVocoder", "TableNoise", "load_vocoder"]
