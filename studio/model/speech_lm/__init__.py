"""The speech language model of CosyVoice2 and CosyVoice3: text tokens in, speech tokens out.

Decision: a plain network (``SpeechLMNetwork``) for training and as the reference, and a packed decoder
(``Decoder``) for synthesis. Reason: separate matrices, gradients and whole sequences suit training, but are
slow for single tokens. Alternative: one module with switches.
"""

from studio.model.speech_lm.loading import load_speech_lm, open_network, speech_lm_of
from studio.model.speech_lm.network import SpeechLMNetwork
from studio.model.speech_lm.quality import QualityReport, compare_with_reference, random_request
from studio.model.speech_lm.sampling import RepetitionAwareSampler, filter_silent_tokens
from studio.model.speech_lm.torch_lm import TorchSpeechLM

__all__ = [
    "QualityReport",
    "RepetitionAwareSampler",
    "SpeechLMNetwork",
    "TorchSpeechLM",
    "compare_with_reference",
    "filter_silent_tokens",
    "load_speech_lm",
    "open_network",
    "random_request",
    "speech_lm_of",
]
