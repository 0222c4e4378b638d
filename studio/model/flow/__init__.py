"""The flow: speech tokens to mel spectrogram (specification F), with exact streaming.

The networks (``network``, ``encoder``, ``dit``, ``unet``) get surrounding frames from a ``context``;
``caches`` provides the context of a stream. ``solver`` and ``model`` integrate velocities to a mel.
``prompt_state``, ``stream`` and ``decoder`` implement the protocols of ``stages``.
"""

from studio.model.flow.decoder import CachedFlowDecoder, FlowOptions, load_flow

__all__ = ["CachedFlowDecoder", "FlowOptions", "load_flow"]
