"""Optimization profiles: the sizes of streamed chunks, and of whole utterances.

The minimum, optimum and maximum sizes of a profile are each consistent: TensorRT rejects impossible combinations.
"""

from __future__ import annotations

from studio.engines.onnx.flow_shapes import FlowShapes
from studio.engines.onnx.vocoder_shapes import VocoderShapes
from studio.engines.tensorrt.building import Profile, SizeRange

# Two minutes of prompt and speech in a stream, one minute at once; scripts are split into shorter sentences.
MOST_STREAM_TOKENS, MOST_WHOLE_TOKENS = 3000, 1500
_USUAL_PAST_TOKENS, _USUAL_WHOLE_TOKENS = 175, 350
_BLANK = 1  # the first frame of every cache
_MOST_WINDOW_FRAMES, _USUAL_WINDOW_FRAMES = 150, 66


def flow_profiles(shapes: FlowShapes) -> tuple[Profile, Profile]:
    """Return the profiles of both flow graphs: a block with cached frames, and a whole utterance without."""
    grid = shapes.chunk_tokens
    stream = _flow_profile(
        shapes, own=SizeRange(1, grid, grid), past=SizeRange(0, _USUAL_PAST_TOKENS, MOST_STREAM_TOKENS)
    )
    whole = _flow_profile(shapes, own=SizeRange(1, _USUAL_WHOLE_TOKENS, MOST_WHOLE_TOKENS), past=SizeRange(0, 0, 0))
    return stream, whole


def vocoder_profiles(shapes: VocoderShapes, look_right_frames: int) -> tuple[Profile, ...]:
    """Return the profiles: causal: later chunks and the first chunk; non-causal: windows and whole utterances."""
    frames = SizeRange(1, _USUAL_WINDOW_FRAMES, _MOST_WINDOW_FRAMES)
    if not shapes.tails:
        most = 2 * MOST_WHOLE_TOKENS
        whole = SizeRange(1, 2 * _USUAL_WHOLE_TOKENS, most)
        return tuple({"frames": own, "columns": _columns(shapes, own, 1)} for own in (frames, whole))
    first = {f"{port.name}_columns": _exactly(port.first_columns) for port in shapes.tails}
    later = {f"{port.name}_columns": _exactly(port.columns) for port in shapes.tails}
    mel = _plus(frames, _exactly(look_right_frames))
    return tuple(
        tails | {"frames_and_look_right": mel, "columns": _columns(shapes, frames, num_leading)}
        for tails, num_leading in ((later, 0), (first, 1))
    )


def _flow_profile(shapes: FlowShapes, *, own: SizeRange, past: SizeRange) -> Profile:
    profile: dict[str, SizeRange] = {"tokens_and_look_ahead": _plus(own, _exactly(shapes.lookahead_tokens))}
    for clock, rate in (("tokens", 1), ("frames", shapes.frames_per_token)):
        profile[clock] = _times(own, rate)
        profile[f"{clock}_past"] = _plus(_times(past, rate), _exactly(_BLANK))
        profile[f"{clock}_seen"] = _plus(profile[clock], profile[f"{clock}_past"])
    return profile


def _columns(shapes: VocoderShapes, frames: SizeRange, num_leading: int) -> SizeRange:
    return _plus(_times(frames, shapes.columns_per_frame), _exactly(num_leading))


def _exactly(size: int) -> SizeRange:
    return SizeRange(size, size, size)


def _times(size: SizeRange, factor: int) -> SizeRange:
    return SizeRange(factor * size.least, factor * size.usual, factor * size.most)


def _plus(one: SizeRange, other: SizeRange) -> SizeRange:
    return SizeRange(one.least + other.least, one.usual + other.usual, one.most + other.most)
