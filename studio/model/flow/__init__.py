"""The flow: speech tokens to mel spectrogram (specification F), with exact streaming.

The networks (``network``, ``dit``, ``unet``) get surrounding frames from a context (``layers``). The context of a
stream reads them from its caches (``caches``, ``blocks``). ``model`` integrates velocities to a mel, and ``decoder``
implements the protocols of ``stages``.
"""

from studio.model.flow.decoder import CachedFlowDecoder, FlowOptions

__all__ = ["CachedFlowDecoder", "FlowOptions"]
