"""Mel spectrogram to waveform: the HiFT vocoders of CosyVoice2 (non-causal) and CosyVoice3 (causal).

Decision: one network class per generation with two ways to run it: ``forward`` for whole utterances, for
training and as the reference, and streams with the state of one utterance. Reason: in the two ways, a causal
layer differs only in the source of its past (``layers.History``). Alternative: a streaming copy of every layer.
"""

from studio.model.vocoder.vocoder import HiFTVocoder, load_vocoder

__all__ = ["HiFTVocoder", "load_vocoder"]
