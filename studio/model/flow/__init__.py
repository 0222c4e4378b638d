"""The flow: speech tokens to mel spectrogram (specification F), with exact streaming.

The networks (``network``, ``dit``, ``unet``) get surrounding frames from a context (``layers``). The context of a
stream reads them from its caches (``caches``, ``blocks``). ``model`` integrates velocities to a mel, and ``decoder``
implements the protocols of ``stages``. CosyVoice-300M's flow cannot stream exactly and has its own network, estimator
and decoder (``non_causal_network``, ``non_causal_unet``, ``non_causal_decoder``).
"""

from studio.model.flow.decoder import CachedFlowDecoder, FlowOptions
from studio.model.flow.non_causal_decoder import NonCausalFlowDecoder
from studio.model.flow.stored import discard_stored

__all__ = ["CachedFlowDecoder", "FlowOptions", "NonCausalFlowDecoder", "discard_stored"]
