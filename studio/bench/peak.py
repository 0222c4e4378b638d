"""Share of the processor's measured peak that the flow reaches."""

from __future__ import annotations

import timeit
from collections.abc import Callable

import torch

from studio.bench.inputs import BenchSize, random_prompt, random_tokens
from studio.bench.measurements import Measurement
from studio.bench.stage_measures import good_prompt_tokens
from studio.model.checkpoint import Checkpoint
from studio.model.config import FlowConfig, Precision
from studio.model.flow.network import build_network
from studio.model.onednn import OneDnnLinear, has_onednn
from studio.model.stages import FlowDecoder
from studio.model.weights import meta_init
from studio.pipeline.request import EngineOptions

_PROMPT_TOKENS = 50
_PEAK_SIZE = 2048  # rows and columns of both matrices
_GUIDANCE_ROWS = 2
_GIGA = 1e9


def measure_flow_products(
    flow: FlowDecoder, precision: Precision, checkpoint: Checkpoint, options: EngineOptions, extent: BenchSize
) -> list[Measurement]:
    """Compare the speed of the flow, in ``precision``, with that of one large matrix product in its number format, on the same threads.

    Only the products with weights are counted, so everything else lowers the share. CosyVoice-300M is not measured.
    """
    config, num_speech_tokens = checkpoint.flow, checkpoint.speech_lm.layout.num_speech_tokens
    if config.length_regulator is not None:
        return []
    prompt_tokens = good_prompt_tokens(_PROMPT_TOKENS, flow.chunk_tokens)
    prompt = random_prompt(prompt_tokens, num_speech_tokens, num_frames=flow.frames_of_tokens(prompt_tokens))
    state = flow.prepare_prompt(prompt)
    hop = flow.chunk_tokens - prompt_tokens % flow.chunk_tokens
    tokens = random_tokens(hop + flow.chunk_tokens + flow.lookahead_tokens, num_speech_tokens)

    def later_chunk() -> float:
        stream = flow.open_stream(state)
        stream.decode(tokens[:hop], tokens[hop : hop + flow.lookahead_tokens])
        started = timeit.default_timer()
        stream.decode(tokens[hop : hop + flow.chunk_tokens], tokens[hop + flow.chunk_tokens :])
        seconds = timeit.default_timer() - started
        stream.close()
        return seconds

    seconds = min(later_chunk() for _ in range(extent.num_repeats + 1))
    num_steps = options.flow_steps or config.solver.num_steps
    speed = flow_operations(config, flow.chunk_tokens, num_steps) / seconds / _GIGA
    peak = peak_speed(precision)
    return [
        Measurement(
            "flow.later_chunk", seconds, "s", f"A chunk of {flow.chunk_tokens} tokens after the first; fastest."
        ),
        Measurement(
            "flow.peak",
            peak,
            "GFLOP/s",
            f"Product of two {precision.value} matrices of {_PEAK_SIZE} rows and columns, on the same threads; fastest of ten.",
        ),
        Measurement(
            "flow.share_of_peak",
            100 * speed / peak,
            "%",
            "Products with weights in that chunk, per second, over that peak; attention and all other work only costs time.",
        ),
    ]


def flow_operations(config: FlowConfig, num_tokens: int, num_steps: int) -> float:
    """Return the additions and multiplications in products with weights of the estimator, for ``num_tokens``."""
    estimator = meta_init(lambda: build_network(config)).estimator
    estimator.drop_time_layers()
    weights = sum(parameter.numel() for parameter in estimator.parameters() if parameter.dim() > 1)
    return 2.0 * weights * config.frames_of_tokens(num_tokens) * _GUIDANCE_ROWS * num_steps


def peak_speed(precision: Precision) -> float:
    """Return the speed of a large matrix product in GFLOP/s, by the faster of PyTorch's product and oneDNN's."""
    one, other = (torch.ones(_PEAK_SIZE, _PEAK_SIZE, dtype=getattr(torch, precision.value)) for _ in range(2))
    products: list[Callable[[], object]] = [lambda: torch.mm(one, other)]
    if precision is not Precision.FLOAT16 and has_onednn(precision):
        multiply = OneDnnLinear(other, None, _PEAK_SIZE)
        products.append(lambda: multiply(one))
    seconds = min(min(timeit.repeat(product, number=1, repeat=10)) for product in products)
    return 2.0 * _PEAK_SIZE**3 / seconds / _GIGA
