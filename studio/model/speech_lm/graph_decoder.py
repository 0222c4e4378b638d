"""The decoder with 8-bit or 4-bit weights on a CPU: one ONNX Runtime graph, so a step is one call.

Decision: ONNX Runtime. Reason: its products read the weights once for up to four rows at the speed of the memory, there
is no Python between the layers, and it is installed anyway. Alternatives: torch's products (see ``linear``), where the
operations between the products take half as long as the products; a kernel of our own, which needs a compiler on the
computer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache as cached
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import nn

from studio.errors import UnsupportedPrecision
from studio.model.config import Precision, QwenConfig
from studio.model.cpu_products import multiplies_in, ratio_of_seconds
from studio.model.huge_pages import on_huge_pages
from studio.model.onnx_networks import onnxruntime, open_graph
from studio.model.speech_lm.bfloat16_prefill import MIN_ROWS, is_worthwhile
from studio.model.speech_lm.block_weights import LEVELS, ROWS, block_size
from studio.model.speech_lm.decoder import Decoder, KVCache
from studio.model.speech_lm.network import DecoderLayer
from studio.model.weights import release_freed_memory

if TYPE_CHECKING:
    from studio.model.speech_lm.decoder_graph import GraphWriter

_GATED_BITS = {Precision.INT8: 8, Precision.INT4: 4}
# Relative to float32. Without a matching kernel, ONNX Runtime widens all weights first and runs at 1/50 of the speed.
_MIN_SPEED = 0.25
_TRIAL_WIDTH, _TRIAL_HEIGHT = 896, 1024
GRAPH = "graph"
_PRODUCT = "product"
# Prefix of the tensors of the output layer.
_HEAD, _HEAD_BITS = "head.", 8


def fits_graph(config: QwenConfig, precision: Precision) -> bool:
    """Return whether the graph supports these sizes and ONNX Runtime is fast on this processor."""
    block = block_size(config.hidden_size, config.intermediate_size)
    return (
        precision in _GATED_BITS
        and block is not None
        and config.head_size % 16 == 0
        and all(has_fast_product(bits, block) for bits in {8, _GATED_BITS[precision]})
    )


@cached
def has_fast_product(bits: int, block: int) -> bool:
    """Return whether ONNX Runtime has a kernel for such weights on this processor, with its own copy of them."""
    weight, row = torch.ones(_TRIAL_HEIGHT, _TRIAL_WIDTH), torch.ones(1, _TRIAL_WIDTH)
    graph = written_product(weight, None, bits, block)
    try:
        product = GraphLinear(graph)
    except UnsupportedPrecision:
        return False
    graph[_PRODUCT + LEVELS][:] = 0
    if not torch.allclose(product(row), torch.tensor(float(_TRIAL_WIDTH)), rtol=0.05):
        return False
    return ratio_of_seconds(lambda: F.linear(row, weight), lambda: product(row), clear=_MIN_SPEED) > _MIN_SPEED


def gains_from_bfloat16(config: QwenConfig) -> bool:
    """Return whether a decoder of this size is clearly faster in bfloat16 than its graph, for many rows."""
    height, width = config.intermediate_size, config.hidden_size
    block = block_size(width)
    if block is None or not multiplies_in(Precision.BFLOAT16):
        return False
    return is_worthwhile(GraphLinear(written_product(torch.ones(height, width), None, 8, block)), height, width)


def written_product(weight: torch.Tensor, bias: torch.Tensor | None, bits: int, block: int) -> dict[str, torch.Tensor]:
    """Return the ONNX file of one product, under the name ``GRAPH``, and its weights."""
    from studio.model.speech_lm.decoder_graph import write_product  # noqa: PLC0415 - imports onnx

    return _read_tensors(write_product(_PRODUCT, weight, bias, bits, block))


class GraphLinear:
    """``rows @ weight.T + bias``, (rows, in) to (rows, out). ``graph`` is what ``written_product`` returns.

    Between two steps of the decoder, the output layer of CosyVoice3 takes 0.6 ms in 8 bits and 1.2 to 1.6 ms in float16.
    The scores of studio-mini differ from float32 by 0.73 % with all layers in 8 bits, and by 0.60 % with the output layer
    in float16.
    """

    def __init__(self, graph: Mapping[str, torch.Tensor]) -> None:
        self._session, self._weights = _open(graph, torch.get_num_threads())

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        (product,) = self._session.run(None, {ROWS: rows.numpy(force=True)})
        return torch.from_numpy(product)


def _read_tensors(writer: GraphWriter) -> dict[str, torch.Tensor]:
    file = torch.frombuffer(bytearray(writer.model()), dtype=torch.uint8)
    return {GRAPH: file, **{name: torch.from_numpy(values) for name, values in writer.weights.items()}}


def _open(graph: Mapping[str, torch.Tensor], num_threads: int) -> tuple[Any, dict[str, npt.NDArray[Any]]]:
    """Return a session, and the weights whose memory it uses."""
    weights = {name: values.numpy() for name, values in graph.items() if name != GRAPH}
    session = open_graph(graph[GRAPH].numpy().tobytes(), weights, num_threads)
    # The session has a packed copy of the levels (see ``has_fast_product``), but may use the memory of other weights.
    return session, {name: values for name, values in weights.items() if not name.endswith(LEVELS)}


class GraphCache(KVCache):
    """Keys and values that the graph extends in place."""

    def _use(self, states: torch.Tensor) -> None:
        super()._use(states)
        self.last, self.total = np.zeros(1, np.int32), np.zeros((), np.int32)
        self.binding: Any = None


def written_graph(
    config: QwenConfig, layers: Iterable[DecoderLayer], final_norm: torch.Tensor, head: nn.Linear, precision: Precision
) -> dict[str, torch.Tensor]:
    """Return the ONNX files of the decoder and of the output layer ``head``, and their weights."""
    from studio.model.speech_lm.decoder_graph import write_decoder  # noqa: PLC0415 - imports onnx

    turns = Decoder(config, (), final_norm, torch.device("cpu")).turns[:, 0]
    decoder = _read_tensors(write_decoder(config, layers, final_norm, turns, _GATED_BITS[precision]))
    bias = None if head.bias is None else head.bias.detach()
    block = block_size(config.hidden_size)
    assert block is not None
    product = written_product(head.weight.detach(), bias, _HEAD_BITS, block)
    return decoder | {_HEAD + name: values for name, values in product.items()}


class GraphDecoder(Decoder):
    """``Decoder`` as one graph.

    Attributes:
        head: The output layer.
    """

    def __init__(
        self,
        config: QwenConfig,
        graph: Mapping[str, torch.Tensor],
        final_norm: torch.Tensor,
        precision: Precision,
        *,
        for_many_rows: Decoder | None = None,
    ) -> None:
        """``graph`` is what ``written_graph`` returns. ``for_many_rows`` computes the same function for many rows."""
        super().__init__(config, (), final_norm, torch.device("cpu"))
        self.num_threads = torch.get_num_threads()
        self._for_many_rows = for_many_rows
        with on_huge_pages():
            own = {name: values for name, values in graph.items() if not name.startswith(_HEAD)}
            self._session, self._weights = _open(own, self.num_threads)
            parts = {name.removeprefix(_HEAD): values for name, values in graph.items() if name.startswith(_HEAD)}
            self.head = GraphLinear(parts)
            del graph, own, parts
            release_freed_memory()
        self.engine = f"{precision.value} weights, ONNX Runtime {onnxruntime.__version__}"
        if for_many_rows is not None:
            self.engine += ", prompts in bfloat16"

    def open_cache(self, capacity: int) -> KVCache:
        """See ``Decoder``."""
        return GraphCache.empty(self.config, capacity, self._device)

    @torch.inference_mode()
    def advance(self, embeddings: torch.Tensor, cache: KVCache) -> torch.Tensor:
        """See ``Decoder``."""
        if self._for_many_rows is not None and len(embeddings) >= MIN_ROWS:
            return self._for_many_rows.advance(embeddings, cache)
        assert isinstance(cache, GraphCache)
        start, rows = cache.length, embeddings.contiguous()
        stop = start + len(rows)
        cache.reserve(stop)
        if cache.binding is None:
            self._bind(cache)
        hidden = torch.empty_like(rows)
        cache.last[0], cache.total[()] = stop - 1, stop
        _bind_input(cache.binding, ROWS, rows[None])
        _bind_output(cache.binding, "hidden", hidden[None])
        traced = self._traced(cache, len(rows))
        self._session.run_with_iobinding(cache.binding)
        cache.length = stop
        for index, queries in traced.items():
            self._record(cache, index, queries, start)
        return hidden

    def _bind(self, cache: GraphCache) -> None:
        num_kv = self.config.num_kv_heads
        cache.binding = self._session.io_binding()
        _bind_input(cache.binding, "last", torch.from_numpy(cache.last))
        _bind_input(cache.binding, "length", torch.from_numpy(cache.total))
        for index, states in enumerate(cache.layers):
            for name, part in (("keys", states[None, :num_kv]), ("values", states[None, num_kv:])):
                _bind_input(cache.binding, f"{name}.{index}", part)
                _bind_output(cache.binding, f"new_{name}.{index}", part)

    def _traced(self, cache: GraphCache, num_rows: int) -> dict[int, torch.Tensor]:
        """Bind memory for queries, keys and values of the layers that are traced, and return it."""
        if cache.recorder is None:
            return {}
        width = self.config.hidden_size + 2 * self.config.num_kv_heads * self.config.head_size
        traced = {index: torch.empty(num_rows, width) for index in cache.recorder.layers}
        for index, mixed in traced.items():
            _bind_output(cache.binding, f"mixed.{index}", mixed[None])
        return traced

    def _record(self, cache: GraphCache, index: int, mixed: torch.Tensor, start: int) -> None:
        assert cache.recorder is not None
        size = self.config.head_size
        queries = mixed[:, : self.config.hidden_size]
        pairs = mixed[:, : self.config.hidden_size].view(len(mixed), self.config.num_heads, size // 2, 2)
        torch.view_as_complex(pairs).mul_(self.turns[start : start + len(mixed)])
        cache.recorder.record(index, queries, size, start)


def _bind_input(binding: Any, name: str, tensor: torch.Tensor) -> None:
    kind = np.float32 if tensor.dtype == torch.float32 else np.int32
    binding.bind_input(name, "cpu", 0, kind, tuple(tensor.shape), tensor.data_ptr())


def _bind_output(binding: Any, name: str, tensor: torch.Tensor) -> None:
    binding.bind_output(name, "cpu", 0, np.float32, tuple(tensor.shape), tensor.data_ptr())
