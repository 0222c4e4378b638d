"""The speech language models: text tokens in, speech tokens out.

CosyVoice2 and CosyVoice3 share one network. CosyVoice-300M has another one, in the modules ``transformer_…``.

Decision: a plain network (``SpeechLMNetwork``) for training and as the reference, and a packed decoder
(``Decoder``) for synthesis. Reason: separate matrices, gradients and whole sequences suit training, but are
slow for single tokens. Alternative: one module with switches. With 8-bit and 4-bit weights on a CPU, the decoder is
one graph of ONNX Runtime (``GraphDecoder``).
"""

from studio.model.speech_lm.loading import build_speech_lm, load_speech_lm, open_network
from studio.model.speech_lm.network import SpeechLMNetwork
from studio.model.speech_lm.quality import QualityReport, compare_with_reference, random_request
from studio.model.speech_lm.torch_lm import CachedSpeechLM, RepetitionAwareSampler, TorchSpeechLM
from studio.model.speech_lm.transformer_lm import TransformerSpeechLM
from studio.model.speech_lm.transformer_network import TransformerLMNetwork

__all__ = [
    "CachedSpeechLM",
    "QualityReport",
    "RepetitionAwareSampler",
    "SpeechLMNetwork",
    "TorchSpeechLM",
    "TransformerLMNetwork",
    "TransformerSpeechLM",
    "build_speech_lm",
    "compare_with_reference",
    "load_speech_lm",
    "open_network",
    "random_request",
]
