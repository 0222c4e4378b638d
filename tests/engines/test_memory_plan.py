"""What fits on a GPU, computed before anything is loaded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from studio.engines.candidate import Available, EngineTarget
from studio.engines.cuda_graph.candidates import CudaGraphCandidate
from studio.engines.memory_plan import CONTEXT_BYTES, MemoryPlan, frame_bytes, plan_memory
from studio.engines.stage import Device, Stage
from studio.model.checkpoint import open_checkpoint
from studio.model.config import DiTConfig, FlowConfig, LookAheadConfig, Precision
from studio.model.device_kind import DeviceKind
from studio.model.flow import CachedFlowDecoder
from studio.model.flow.caches import CacheKind

GIBIBYTE = 1 << 30
# Sizes of Fun-CosyVoice3-0.5B and its files.
RELEASED = FlowConfig(
    6561,
    80,
    lookahead=LookAheadConfig(80, 1024),
    dit=DiTConfig(1024, 22, num_heads=16, head_size=64, feed_forward_ratio=2),
)
FILES = {Stage.SPEECH_LM: 2_020_000_000, Stage.FLOW: 1_330_000_000, Stage.VOCODER: 83_000_000}
TYPES = {Precision.FLOAT32: torch.float32, Precision.BFLOAT16: torch.bfloat16}


def plans(gpu_gibibytes: int) -> tuple[MemoryPlan, ...]:
    available = gpu_gibibytes * GIBIBYTE - CONTEXT_BYTES - DeviceKind.CUDA.traits.reserved_bytes
    return plan_memory(RELEASED, 50.0, FILES, available)


@pytest.mark.parametrize("precision", list(TYPES))
def test_size_of_a_frame_is_that_of_the_caches(reference: Path, family: str, precision: Precision) -> None:
    checkpoint = open_checkpoint(reference / family / "checkpoint")
    decoder = checkpoint.load_flow(Precision.FLOAT32, "cpu")
    assert isinstance(decoder, CachedFlowDecoder)
    layout = decoder._layouts.estimator
    assert frame_bytes(checkpoint.flow, precision) == layout.block_bytes(CacheKind.KEYS_VALUES, 1, TYPES[precision])


def test_released_model_on_small_gpus() -> None:
    """The memory of a line contains a copy of a prompt of 10 s and is rounded down to one of the sizes."""
    exact, of_8 = plans(8)
    assert [plan.precision for plan in (exact, of_8)] == [Precision.FLOAT32, Precision.BFLOAT16]
    assert of_8.weight_bytes == 83_000_000 + 3_350_000_000 // 2
    found = {size: [plan.line_seconds for plan in plans(size)] for size in (6, 8, 12)}
    assert found == {6: [0, 2], 8: [2, 26], 12: [14, 38]}


def test_weights_that_do_not_fit_leave_no_line() -> None:
    assert [plan.line_seconds for plan in plans(2)] == [None, None]
    exact, reduced = plans(4)
    assert exact.line_seconds is None, "3.2 GB of weights, and 1.1 GB for other things"
    assert reduced.line_seconds is not None


def test_model_without_caches_has_no_longest_line(reference: Path) -> None:
    flow = open_checkpoint(reference / "cosyvoice1" / "checkpoint").flow
    assert [plan.line_seconds for plan in plan_memory(flow, 86.1, FILES, 16 * GIBIBYTE)] == [float("inf")] * 2
    assert frame_bytes(replace(RELEASED, solver=replace(RELEASED.solver, num_steps=5)), Precision.FLOAT32) * 2 == (
        frame_bytes(RELEASED, Precision.FLOAT32)
    )


@pytest.mark.parametrize("stage", [Stage.SPEECH_LM, Stage.FLOW])
def test_16_bits_need_less_memory_to_be_tried(reference: Path, stage: Stage) -> None:
    """A small GPU is not refused the form that fits, because of the size of the float32 file."""
    gpu = Device(DeviceKind.CUDA, "a GPU", 1, 8 * GIBIBYTE, 0, (8, 6), "580.95.05")
    target = EngineTarget(open_checkpoint(reference / "cosyvoice3" / "checkpoint"), gpu)
    needed = {}
    for precision in TYPES:
        found = CudaGraphCandidate(stage, precision).probe(target)
        assert isinstance(found, Available)
        needed[precision] = found.memory_bytes
    saved = needed[Precision.FLOAT32] - needed[Precision.BFLOAT16]
    assert saved == pytest.approx(0.4 * target.weight_bytes(stage), rel=0.01)
