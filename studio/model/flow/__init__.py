"""The flow: speech tokens to mel spectrogram (specification F), with exact streaming.

The networks (``network``, ``dit``, ``unet``) get surrounding frames from a context (``layers``). The context of a
stream reads them from its caches (``caches``, ``blocks``). ``model`` integrates velocities to a mel, and ``decoder``
implements the protocols of ``stages``. CosyVoice-300M's flow cannot stream exactly and has its own network, estimator
and decoder (``whole_network``, ``whole_unet``, ``whole_decoder``).
"""

from studio.model.flow.decoder import CachedFlowDecoder, FlowOptions
from studio.model.flow.stored import discard_stored
from studio.model.flow.whole_decoder import WholeFlowDecoder

__all__ = ["CachedFlowDecoder", "FlowOptions", "WholeFlowDecoder", "discard_stored"]
