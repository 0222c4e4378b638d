"""The speed that a model of full size will have on this processor, from a measurement of three seconds.

In a line of a few seconds, products by weights take about half of the time of Fun-CosyVoice3's flow, and reading the
weights takes most of the time of its language model. Both are measured on layers of its size, in the precision that the
program would choose.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from studio.model.config import Precision
from studio.model.cpu_products import linear, multiplies_in

# Fun-CosyVoice3: a second of speech is 50 frames of two rows, which pass 22 blocks in each of 10 solver steps.
_ROWS, _BLOCKS, _STEPS = 100, 22, 10
_SIZE, _FEED_FORWARD = 1024, 2048
_SHARE_OF_PRODUCTS = 0.55
_TOKENS_PER_SECOND = 25
_SPEECH_LM_BYTES = 380e6  # read for each token, in 8 bits
_SPEECH_LM_SHARE_OF_READING = 0.65
# The vocoder's part of the flow's products in float32.
_VOCODER_SHARE = 0.09
# More weights than a processor caches, as in the network.
_NUM_LAYERS = 4
_READ_BYTES = 256 << 20
_SECONDS_EACH = 0.7
_MIN_RUNS = 3


def estimate_seconds() -> float:
    """Return the estimated time in which this processor computes a second of speech with Fun-CosyVoice3, in seconds."""
    flow = {
        precision: _BLOCKS * _STEPS * _block_seconds(precision)
        for precision in (Precision.FLOAT32, Precision.BFLOAT16, Precision.INT8)
        if precision is Precision.FLOAT32 or multiplies_in(precision)
    }
    speech_lm = _TOKENS_PER_SECOND * _SPEECH_LM_BYTES / (_read_bytes_per_second() * _SPEECH_LM_SHARE_OF_READING)
    return min(flow.values()) / _SHARE_OF_PRODUCTS + _VOCODER_SHARE * flow[Precision.FLOAT32] + speech_lm


def _block_seconds(precision: Precision) -> float:
    """Return the shortest time of the products of one block of the flow's estimator."""
    shapes = [*[(_SIZE, _SIZE)] * 4, (_FEED_FORWARD, _SIZE), (_SIZE, _FEED_FORWARD)]
    inputs = {size: torch.ones(_ROWS, size) for size in (_SIZE, _FEED_FORWARD)}
    blocks = [[_product(shape, precision) for shape in shapes] for _ in range(_NUM_LAYERS)]

    def multiply() -> None:
        for block in blocks:
            for (_, num_inputs), product in zip(shapes, block, strict=True):
                product(inputs[num_inputs])

    return _shortest(multiply) / _NUM_LAYERS


def _product(shape: tuple[int, int], precision: Precision) -> Callable[[torch.Tensor], torch.Tensor]:
    weight = torch.linspace(-1.0, 1.0, shape[0] * shape[1]).view(shape)
    if multiplies_in(precision):
        return linear(weight, None, _ROWS, precision)
    return lambda x: torch.nn.functional.linear(x, weight)


def _read_bytes_per_second() -> float:
    numbers = torch.ones(_READ_BYTES // 4)
    return _READ_BYTES / _shortest(numbers.sum)


def _shortest(work: Callable[[], object]) -> float:
    """Return the shortest time of several runs, since other programs may disturb any of them."""
    end = time.perf_counter() + _SECONDS_EACH
    seconds: list[float] = []
    with torch.inference_mode():
        while len(seconds) < _MIN_RUNS or time.perf_counter() < end:
            began = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - began)
    return min(seconds)
