"""Counts of kernel launches, and the networks of the released models on the meta device, which has shapes but no values.

A launch costs a GPU one to two microseconds in a recorded graph and more outside, even if it computes almost nothing.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any, Self

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from measurements.random_models.reference_sizes import released_plan
from studio.engines.cuda_graph import norm_kernel
from studio.engines.cuda_graph.attention_kernel import StepAttention
from studio.engines.cuda_graph.flow import GraphedFlowDecoder
from studio.model.config import Precision, SpeechLMConfig
from studio.model.flow import FlowOptions, decoder
from studio.model.flow.network import build_network
from studio.model.speech_lm import build_speech_lm, loading
from studio.model.speech_lm.cuda_int8 import CudaInt8Linear
from studio.model.speech_lm.network import SpeechLMNetwork
from studio.model.speech_lm.torch_lm import TorchSpeechLM
from studio.model.vocoder.network import CausalHiFT, NonCausalHiFT
from studio.model.vocoder.vocoder import CausalVocoder, HiFTVocoder, NonCausalVocoder, _to_half
from studio.model.weights import meta_init

META = torch.device("meta")
# One kernel each on a GPU, although torch would divide them into several operations on other devices.
_ONE_KERNEL = {"scaled_dot_product_attention", "rms_norm"}
_ALLOCATIONS = {
    "empty",
    "empty_like",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "_unsafe_view",
    "_reshape_alias",
}
_TO_HOST = {"_local_scalar_dense", "is_nonzero", "nonzero", "item"}


class LaunchCounter(TorchDispatchMode):
    """Counts the operations inside the ``with`` that launch a kernel, and the copies between GPU and host."""

    current: LaunchCounter | None = None

    def __init__(self) -> None:
        super().__init__()
        self.kernels: Counter[str] = Counter()
        self.host_copies: Counter[str] = Counter()

    @property
    def num_launches(self) -> int:
        return sum(self.kernels.values())

    def __enter__(self) -> Self:
        LaunchCounter.current = self
        super().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        LaunchCounter.current = None
        super().__exit__(*error)  # type: ignore[arg-type]

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name.split("::")[-1]
        inputs = [value for value in tree_leaves((args, kwargs)) if isinstance(value, torch.Tensor)]
        if name == "scaled_dot_product_attention":
            self.kernels[name] += 1
            return _attended(*args[:3])
        if name == "rms_norm":
            self.kernels[name] += 1
            return torch.empty_like(args[0])
        with self:
            parts = func.decompose(*args, **kwargs)
        LaunchCounter.current = self
        if parts is not NotImplemented:
            return parts
        if name in _TO_HOST and any(value.device == META for value in inputs):
            self.host_copies[name] += 1
            return 1
        result = func(*args, **kwargs)
        devices = {value.device.type for value in (*inputs, *tree_leaves(result)) if isinstance(value, torch.Tensor)}
        if name in {"_to_copy", "copy_"} and devices == {"cpu", "meta"}:
            self.host_copies[name] += 1
        elif "meta" in devices and name not in _ALLOCATIONS and not _is_view(func):
            self.kernels[name] += 1
        return result


def _attended(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Return an empty result with the strides of the GPU's kernels, in which the heads of a position are adjacent."""
    del keys
    batch, heads, positions, _ = queries.shape
    return queries.new_empty(batch, positions, heads, values.shape[-1]).transpose(1, 2)


@functools.cache
def _is_view(func: Any) -> bool:
    """Return whether an operation returns its input without computing anything."""
    returned = [part.alias_info for part in func._schema.returns]
    return bool(returned) and all(alias is not None and not alias.is_write for alias in returned)


class CountedKernel:
    """Stands for a ``CudaKernel``: each call is one launch."""

    def __call__(self, name: str, *arguments: object, blocks: tuple[int, int], num_threads: int) -> None:
        del arguments, blocks, num_threads
        if LaunchCounter.current is not None:
            LaunchCounter.current.kernels[name] += 1


def meta_speech_lm(precision: Precision, monkeypatch: pytest.MonkeyPatch) -> TorchSpeechLM:
    """Return CosyVoice3's language model in the form that it has on a GPU."""
    config = released_plan("cosyvoice3").speech_lm
    assert isinstance(config, SpeechLMConfig)
    network = meta_init(lambda: SpeechLMNetwork(config)).requires_grad_(requires_grad=False)
    monkeypatch.setattr(loading, "check_support", lambda precision, device: None)
    monkeypatch.setattr(
        "studio.model.speech_lm.linear.quantize_int8_per_channel",
        lambda weight: (weight.to(torch.int8), weight.new_empty(len(weight))),
    )
    monkeypatch.setattr("studio.model.speech_lm.linear.CudaInt8Linear", _CountedInt8)
    monkeypatch.setattr(
        "studio.engines.cuda_graph.static_step.step_attention",
        lambda config, turns: StepAttention(config, turns, CountedKernel()),
    )
    return build_speech_lm(network, precision, "meta")


class _CountedInt8(CudaInt8Linear):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._kernel = CountedKernel()  # type: ignore[assignment]


def meta_flow(generation: str, precision: Precision, monkeypatch: pytest.MonkeyPatch) -> GraphedFlowDecoder:
    """Return the flow of a generation in the form that it has on a GPU."""
    monkeypatch.setattr(decoder, "digest_samples", lambda tensors: "no values")
    monkeypatch.setattr(decoder, "max_concurrent_streams", lambda device, budget, line_bytes: 1)
    monkeypatch.setattr(norm_kernel, "norm_kernel", lambda device, width, eps, dtype: CountedKernel())
    config = released_plan(generation).flow
    network = meta_init(lambda: build_network(config)).requires_grad_(requires_grad=False)
    cache_dtype = torch.float16 if precision is Precision.FLOAT16 else None
    options = FlowOptions(cache_dtype=cache_dtype, cache_budget_bytes=1 << 40)
    return GraphedFlowDecoder(network, config, precision=precision, options=options, after_layer=lambda: None)


def meta_vocoder(generation: str, precision: Precision) -> HiFTVocoder:
    """Return the vocoder of a generation in the form that it has on a GPU."""
    config = released_plan(generation).vocoder
    is_causal = generation == "cosyvoice3"
    network = meta_init(lambda: CausalHiFT(config) if is_causal else NonCausalHiFT(config))
    network.requires_grad_(requires_grad=False).eval()
    if precision is Precision.FLOAT16:
        _to_half(network, torch.float16)
    network.precompute()
    if isinstance(network, CausalHiFT):
        return CausalVocoder(network)
    return NonCausalVocoder(network)
