"""The flow: speech tokens to mel spectrogram (specification F), streamed exactly.

Networks with the official names (``network``, ``encoder``, ``dit``, ``unet``) ask a ``context`` for the
frames around; ``caches`` is the context of a stream. ``solver`` and ``model`` turn velocities into mel;
``prompt_state``, ``stream`` and ``decoder`` keep the promises of ``stages``. Nothing here knows of text,
sound or schedules.
"""

from studio.model.flow.decoder import CachedFlowDecoder, FlowOptions, load_flow

__all__ = ["CachedFlowDecoder", "FlowOptions", "load_flow"]
