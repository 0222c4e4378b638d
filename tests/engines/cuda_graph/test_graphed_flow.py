"""The recorded solver computes what the plain stream does, block by block, whatever the schedule.

Without a GPU, runs are not recorded but use the same memory of fixed size, so everything but recording is tested.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from flow_inputs import prompt as random_prompt
from flow_inputs import tokens
from graph_cases import checkpoint_of
from torch import nn

from studio.engines.cuda_graph.flow import GraphedFlowDecoder, PooledCaches, load_graphed_flow
from studio.engines.cuda_graph.solver_memory import SolverMemory, solver_bytes
from studio.model.config import Precision
from studio.model.flow import packing
from studio.model.flow.decoder import PromptState, StreamingFlow
from studio.model.flow.layers import ProjectedAttention
from studio.model.stages import FlowDecoder, FlowPrompt, FlowPromptState

NUM_PROMPT_TOKENS = 40
prompt = partial(random_prompt, num_tokens=NUM_PROMPT_TOKENS)
# Memory of lines is managed in one way for every generation.
ONE_GENERATION = pytest.mark.parametrize("family", ["cosyvoice3"])


@cache
def plain_flow(reference: Path, family: str) -> FlowDecoder:
    return checkpoint_of(reference, family).load_flow(Precision.FLOAT32, "cpu")


@cache
def graphed_flow(reference: Path, family: str) -> GraphedFlowDecoder:
    checkpoint = checkpoint_of(reference, family)
    return load_graphed_flow(checkpoint.folder / "flow.pt", checkpoint.flow, Precision.FLOAT32, "cpu")


def streamed(flow: FlowDecoder, voice: FlowPrompt, spoken: tuple[int, ...], cuts: tuple[int, ...]) -> torch.Tensor:
    stream = flow.open_stream(flow.prepare_prompt(voice))
    mels, start = [], 0
    for stop in (*cuts, len(spoken)):
        lookahead = spoken[stop : stop + flow.lookahead_tokens] if stop < len(spoken) else ()
        mels.append(stream.decode(spoken[start:stop], lookahead))
        start = stop
    stream.close()
    return torch.cat(mels, dim=1)


def assert_equal(found: torch.Tensor, wanted: torch.Tensor) -> None:
    assert found.shape == wanted.shape
    assert (found - wanted).abs().max() <= 1e-5 * wanted.abs().max()


@pytest.mark.parametrize(
    "cuts",
    [pytest.param((10,), marks=pytest.mark.slow), (10, 35), pytest.param((35, 60), marks=pytest.mark.slow)],
    ids=str,
)
def test_streams_equal_plain_pytorch(reference: Path, family: str, cuts: tuple[int, ...]) -> None:
    """The chunks include a first block with the end of the prompt, several blocks in a call, and a partial last block."""
    wanted = streamed(plain_flow(reference, family), prompt(), tokens(71), cuts)
    assert_equal(streamed(graphed_flow(reference, family), prompt(), tokens(71), cuts), wanted)


@pytest.mark.parametrize(("precision", "limit"), [(Precision.FLOAT32, 1e-5), (Precision.FLOAT16, 1e-2)])
def test_layers_for_a_gpu_compute_the_same(
    reference: Path, family: str, precision: Precision, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Merged projections, and 16-bit values between multiplications."""

    def pack_for_gpu(
        network: nn.Module, precision: Precision, _: packing.CpuProducts, after_layer: Callable[[], None]
    ) -> bool:
        packing._pack_for_gpu(network, packing._WEIGHT_TYPES[precision], after_layer)
        return True

    monkeypatch.setattr(packing, "_pack_for_cpu", pack_for_gpu)
    checkpoint = checkpoint_of(reference, family)
    graphed = load_graphed_flow(checkpoint.folder / "flow.pt", checkpoint.flow, precision, "cpu")
    attention = graphed._layouts.estimator.attentions[0]
    assert isinstance(attention, ProjectedAttention)
    assert attention.to_qkv is not None
    wanted = streamed(plain_flow(reference, family), prompt(), tokens(71), (10, 35))
    found = streamed(graphed, prompt(), tokens(71), (10, 35))
    assert (found - wanted).norm() <= limit * wanted.norm()


@pytest.mark.slow
def test_prompt_too_short_for_the_cache(reference: Path, family: str) -> None:
    voice = prompt(num_tokens=5)
    wanted = streamed(plain_flow(reference, family), voice, tokens(30), (20,))
    assert_equal(streamed(graphed_flow(reference, family), voice, tokens(30), (20,)), wanted)


@pytest.mark.slow
def test_later_line_reuses_memory_without_traces_of_the_first(reference: Path, family: str) -> None:
    graphed = graphed_flow(reference, family)
    once = streamed(graphed, prompt(), tokens(30), (10,))
    streamed(graphed, prompt(3), tokens(90, seed=9), (10, 35, 60))
    free = graphed.budget.free_bytes
    assert torch.equal(streamed(graphed, prompt(), tokens(30), (10,)), once)
    assert graphed.budget.free_bytes == free, "memory of earlier lines is reused"


@ONE_GENERATION
def test_state_of_a_voice_is_copied_once(reference: Path, family: str) -> None:
    """Later lines of the voice find it in their memory, and lines of another voice replace it."""
    checkpoint = checkpoint_of(reference, family)
    graphed = load_graphed_flow(checkpoint.folder / "flow.pt", checkpoint.flow, Precision.FLOAT32, "cpu")

    def first_chunk(state: FlowPromptState) -> torch.Tensor:
        return graphed.open_stream(state).decode(tokens(10), tokens(3))

    state, other = graphed.prepare_prompt(prompt()), graphed.prepare_prompt(prompt(3))
    once, of_other = first_chunk(state), first_chunk(other)
    assert torch.equal(first_chunk(state), once)
    assert isinstance(state, PromptState)
    assert state.caches is not None
    kept = {name: tensor.clone() for name, tensor in state.caches.estimator.blocks[0].tensors.items()}
    with torch.inference_mode():
        for tensor in state.caches.estimator.blocks[0].tensors.values():
            tensor.zero_()
        assert torch.equal(first_chunk(state), once), "nothing was copied"
        for name, tensor in state.caches.estimator.blocks[0].tensors.items():
            tensor.copy_(kept[name])
    assert torch.equal(first_chunk(other), of_other)
    assert torch.equal(first_chunk(state), once)


@pytest.mark.slow
def test_growing_line_moves_to_larger_memory(reference: Path, family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.engines.cuda_graph.solver_pool.LINE_BLOCKS", (2, 3, 4, 6))
    monkeypatch.setattr("studio.engines.cuda_graph.flow._EXPECTED_BLOCKS", 0)
    graphed = graphed_flow(reference, family)
    sizes: list[int] = []
    real = graphed._pool.borrow
    monkeypatch.setattr(
        graphed._pool, "borrow", lambda frames, *prompt, **rest: sizes.append(frames) or real(frames, *prompt, **rest)
    )
    wanted = streamed(plain_flow(reference, family), prompt(), tokens(71), (10, 35, 60))
    assert_equal(streamed(graphed, prompt(), tokens(71), (10, 35, 60)), wanted)
    assert len(sizes) >= 3


@ONE_GENERATION
def test_voices_that_alternate_stay_in_their_memories(reference: Path, family: str) -> None:
    """As in a dialogue, if there is memory for two lines."""
    graphed = new_graphed_flow(reference, family)
    states = [graphed.prepare_prompt(prompt(seed)) for seed in (0, 3)]

    def first_chunk(number: int) -> torch.Tensor:
        return graphed.open_stream(states[number]).decode(tokens(10), tokens(3))

    stream = graphed.open_stream(states[0])
    once = [stream.decode(tokens(10), tokens(3))]
    graphed._pool.record(12)  # further memory, without a voice
    del stream
    gc.collect()
    once.append(first_chunk(1))
    with torch.inference_mode():
        for state in states:
            assert isinstance(state, PromptState)
            assert state.caches is not None
            for tensor in state.caches.estimator.blocks[0].tensors.values():
                tensor.zero_()
    for number in (0, 1, 0, 1, 1, 0):
        assert torch.equal(first_chunk(number), once[number]), "nothing was copied"


@ONE_GENERATION
def test_voice_of_a_short_clip_leaves_no_other_voice_in_its_memory(reference: Path, family: str) -> None:
    """A prompt of less than a block has no stored state, and its lines overwrite the memory from the first frame on."""
    graphed = new_graphed_flow(reference, family)
    state, of_short_clip = graphed.prepare_prompt(prompt()), graphed.prepare_prompt(prompt(3, num_tokens=10))

    def first_chunk(state: FlowPromptState, count: int) -> torch.Tensor:
        return graphed.open_stream(state).decode(tokens(count), tokens(3))

    once = first_chunk(state, 10)
    first_chunk(of_short_clip, 15)
    assert torch.equal(first_chunk(state, 10), once)


@pytest.mark.slow
@ONE_GENERATION
def test_growing_line_finds_its_voice_in_the_larger_memory(
    reference: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another line of the voice has grown into it before, so only the speech is copied."""
    monkeypatch.setattr("studio.engines.cuda_graph.solver_pool.LINE_BLOCKS", (2, 3))
    monkeypatch.setattr("studio.engines.cuda_graph.flow._EXPECTED_BLOCKS", 0)
    graphed = new_graphed_flow(reference, family)
    state = graphed.prepare_prompt(prompt())
    num_prompt_frames = state.num_cached_tokens * 2

    def grown(*, is_prompt_lost: bool) -> torch.Tensor:
        stream = graphed.open_stream(state)
        mel = stream.decode(tokens(35)[:10], tokens(35)[10:13])
        assert isinstance(stream, StreamingFlow)
        assert isinstance(stream._caches, PooledCaches)
        assert stream._caches.borrowed is not None
        memory = stream._caches.borrowed.memory
        if is_prompt_lost:
            for states in memory._states:
                states[..., :num_prompt_frames, :].zero_()
        mel = torch.cat((mel, stream.decode(tokens(35)[10:], ())), dim=1)
        assert stream._caches.borrowed.memory is not memory
        stream.close()
        return mel

    with torch.inference_mode():
        once = grown(is_prompt_lost=False)
        assert torch.equal(grown(is_prompt_lost=True), once)


@pytest.mark.slow
@ONE_GENERATION
def test_growing_line_needs_no_memory_for_both_sizes(
    reference: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its layers move one by one."""
    monkeypatch.setattr("studio.engines.cuda_graph.solver_pool.LINE_BLOCKS", (2, 3, 4, 6))
    monkeypatch.setattr("studio.engines.cuda_graph.flow._EXPECTED_BLOCKS", 0)
    graphed = new_graphed_flow(reference, family)
    wanted = streamed(plain_flow(reference, family), prompt(), tokens(71), (10, 35, 60))
    pool, block = graphed._pool, graphed._pool._layout.block_frames
    last, before = (solver_bytes(pool._layout, blocks * block, pool._dtype) for blocks in (6, 4))
    one_layer = -(-before // len(pool._layout.attentions))
    state = graphed.prepare_prompt(prompt())
    of_the_encoder = 1_000_000
    graphed.budget.total_bytes = last + one_layer + of_the_encoder
    assert graphed.budget.total_bytes < last + before
    stream = graphed.open_stream(state)
    assert isinstance(stream, StreamingFlow)
    mels, start, capacities = [], 0, []
    for stop in (10, 35, 60, 71):
        mels.append(stream.decode(tokens(71)[start:stop], tokens(71)[stop : stop + 3]))
        start = stop
        assert isinstance(stream._caches, PooledCaches), "the line is not computed from its start"
        assert stream._caches.borrowed is not None
        capacities.append(stream._caches.borrowed.memory.capacity // block)
    assert capacities == [2, 3, 4, 6]
    assert_equal(torch.cat(mels, dim=1), wanted)


@ONE_GENERATION
def test_line_without_memory_to_grow_leaves_none_behind(
    reference: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory runs out although the budget allows it: what is half moved is not given to other lines."""
    pool = new_graphed_flow(reference, family)._pool
    block = pool._layout.block_frames
    buffers = pool.borrow(12 * block)
    assert buffers is not None
    calls: list[int] = []

    def zeros(*arguments: Any, **rest: Any) -> torch.Tensor:
        calls.append(1)
        if len(calls) in (2, 4):  # of new memory, and of the second layer that moves
            raise RuntimeError("CUDA out of memory.")
        return real(*arguments, **rest)

    real = torch.zeros
    monkeypatch.setattr(torch, "zeros", zeros)
    assert not pool.grow(buffers, 24 * block, 12 * block)
    monkeypatch.undo()
    del buffers
    gc.collect()
    assert not any(pool._idle.values())
    assert pool._budget.free_bytes == pool._budget.total_bytes


@pytest.mark.slow
@ONE_GENERATION
def test_concurrent_lines_have_separate_memory(reference: Path, family: str) -> None:
    graphed = graphed_flow(reference, family)
    alone = [streamed(graphed, prompt(), tokens(60, seed), (10, 35)) for seed in (1, 2)]
    state = graphed.prepare_prompt(prompt())
    streams = [graphed.open_stream(state) for _ in range(2)]
    mels: list[list[torch.Tensor]] = [[], []]
    for start, stop in ((0, 10), (10, 35), (35, 60)):
        for index, stream in enumerate(streams):
            spoken = tokens(60, index + 1)
            mels[index].append(stream.decode(spoken[start:stop], spoken[stop : stop + 3] if stop < 60 else ()))
    assert all(torch.equal(torch.cat(pieces, dim=1), whole) for pieces, whole in zip(mels, alone, strict=True))


@pytest.mark.slow
@ONE_GENERATION
def test_line_without_memory_runs_on_plain_pytorch(
    reference: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphed = graphed_flow(reference, family)
    monkeypatch.setattr(graphed._pool, "borrow", lambda frames, prompt, **rest: None)
    stream = graphed.open_stream(graphed.prepare_prompt(prompt()))
    assert isinstance(stream, StreamingFlow)
    spoken = tokens(71)
    mels = [stream.decode(spoken[:10], spoken[10:13]), stream.decode(spoken[10:], ())]
    assert isinstance(stream._caches, PooledCaches)
    assert not stream.is_recomputing
    assert_equal(torch.cat(mels, dim=1), streamed(plain_flow(reference, family), prompt(), spoken, (10,)))


@pytest.mark.gpu
@pytest.mark.parametrize("precision", [Precision.FLOAT32, Precision.BFLOAT16])
def test_recorded_runs_equal_plain_pytorch(reference: Path, family: str, precision: Precision) -> None:
    """On a GPU: consecutive lines of several lengths run from recorded graphs."""
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    checkpoint = checkpoint_of(reference, family)
    graphed = load_graphed_flow(checkpoint.folder / "flow.pt", checkpoint.flow, precision, "cuda:0")
    for seed in range(3):
        spoken = tokens(71 + seed, seed)
        wanted = streamed(plain_flow(reference, family), prompt(seed), spoken, (10, 35))
        found = streamed(graphed, prompt(seed), spoken, (10, 35)).cpu()
        limit = 1e-3 if precision is Precision.FLOAT32 else 0.2
        assert (found - wanted).norm() <= limit * wanted.norm()


@ONE_GENERATION
def test_memory_may_be_returned_during_an_allocation(
    reference: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python may collect a failed line at any time, on a thread that is just allocating memory."""
    pool = graphed_flow(reference, family)._pool
    block = pool._layout.block_frames
    loans = [pool.borrow(block)]

    real = SolverMemory.__init__

    def collecting(memory: SolverMemory, *arguments: Any, **rest: Any) -> None:
        loans.clear()
        real(memory, *arguments, **rest)

    monkeypatch.setattr(SolverMemory, "__init__", collecting)
    pool._idle.clear()
    borrowing = threading.Thread(target=lambda: loans.append(pool.borrow(20 * block)), daemon=True)
    borrowing.start()
    borrowing.join(60)
    assert not borrowing.is_alive(), "the pool must not deadlock"
    assert pool._idle[12 * block], "the first buffer was returned"


@ONE_GENERATION
def test_idle_memory_is_freed_for_a_longer_line(reference: Path, family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = new_graphed_flow(reference, family)._pool
    block, budget = pool._layout.block_frames, pool._budget
    finished: list[int] = []
    monkeypatch.setattr(SolverMemory, "finish", lambda memory: finished.append(memory.capacity))
    collects = gc.isenabled()
    gc.disable()
    try:
        assert pool.borrow(12 * block) is not None, "buffers can be borrowed and returned"
        budget.total_bytes = 2 * (budget.total_bytes - budget.free_bytes)
        assert pool.borrow(24 * block) is not None
    finally:
        if collects:
            gc.enable()
    assert finished == [12 * block], "memory is not freed while the GPU uses it"


@pytest.mark.slow
@ONE_GENERATION
def test_overflow_does_not_affect_the_next_line(reference: Path, family: str) -> None:
    graphed = new_graphed_flow(reference, family)
    once = streamed(graphed, prompt(), tokens(30), (10,))
    loud = replace(prompt(4), mel=np.full((2 * NUM_PROMPT_TOKENS, 80), np.inf, np.float32))
    assert not streamed(graphed, loud, tokens(90), (10, 35, 60)).isfinite().all()
    assert torch.equal(streamed(graphed, prompt(), tokens(30), (10,)), once)
    assert_equal(once, streamed(plain_flow(reference, family), prompt(), tokens(30), (10,)))


def new_graphed_flow(reference: Path, family: str) -> GraphedFlowDecoder:
    checkpoint = checkpoint_of(reference, family)
    return load_graphed_flow(checkpoint.folder / "flow.pt", checkpoint.flow, Precision.FLOAT32, "cpu")
