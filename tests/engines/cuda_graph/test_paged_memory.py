"""Lines in pages compute the same as plain PyTorch, share the pages of their voice, and take only what they need.

The driver is a fake that maps the processor's memory by CUDA's rules, so an access without a page crashes.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from cuda_memory import FakeMemoryDriver, fake_memory_driver
from flow_inputs import prompt as random_prompt
from flow_inputs import tokens
from graph_cases import checkpoint_of

from studio.engines.cuda_graph import flow as graphed_flow
from studio.engines.cuda_graph.flow import GraphedFlowDecoder, PooledCaches, load_graphed_flow
from studio.engines.cuda_graph.paged_memory import PagedMemory, PagedPool, PagedState
from studio.model.config import Precision
from studio.model.flow.caches import CacheKind
from studio.model.flow.decoder import PromptState, StreamingFlow
from studio.model.stages import FlowDecoder, FlowPromptState

# The miniature's pages have one or two blocks, as those of the released models.
GRANULARITY = 1 << 16
prompt = partial(random_prompt, num_tokens=90)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeMemoryDriver]:
    with fake_memory_driver(monkeypatch, granularity=GRANULARITY) as (driver, memory):
        monkeypatch.setattr(graphed_flow, "virtual_memory", lambda _device: memory)
        monkeypatch.setattr("studio.engines.cuda_graph.solver_pools.LINE_BLOCKS", (5, 6, 8, 24))
        monkeypatch.setattr(graphed_flow, "_EXPECTED_BLOCKS", 2)
        yield driver
        gc.collect()


@pytest.fixture(params=["cosyvoice3", pytest.param("cosyvoice2", marks=pytest.mark.slow)])
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def paged(driver: FakeMemoryDriver, reference: Path, family: str) -> GraphedFlowDecoder:
    checkpoint = checkpoint_of(reference, family)
    decoder = load_graphed_flow(checkpoint.folder / "flow.pt", checkpoint.flow, Precision.FLOAT32, "cpu")
    assert isinstance(decoder._pool, PagedPool)
    return decoder


@pytest.fixture
def plain(reference: Path, family: str) -> FlowDecoder:
    return checkpoint_of(reference, family).load_flow(Precision.FLOAT32, "cpu")


def pieces(flow: FlowDecoder, state: FlowPromptState, spoken: tuple[int, ...]) -> Iterator[torch.Tensor]:
    """Decode a line after a prompt of 90 tokens block by block."""
    stream = flow.open_stream(state)
    for start in range(-15, len(spoken), 25):
        stop = min(start + 25, len(spoken))
        lookahead = spoken[stop : stop + flow.lookahead_tokens] if stop < len(spoken) else ()
        yield stream.decode(spoken[max(0, start) : stop], lookahead)
    stream.close()


def line(flow: FlowDecoder, state: FlowPromptState, spoken: tuple[int, ...]) -> torch.Tensor:
    return torch.cat(list(pieces(flow, state, spoken)), dim=1)


def assert_equal(found: torch.Tensor, wanted: torch.Tensor) -> None:
    assert found.shape == wanted.shape
    assert (found - wanted).abs().max() <= 1e-5 * wanted.abs().max()


def idle(decoder: GraphedFlowDecoder) -> list[PagedMemory]:
    assert isinstance(decoder._pool, PagedPool)
    return decoder._pool._idle


def state_in_pages(state: FlowPromptState) -> PagedState:
    assert isinstance(state, PromptState)
    assert state.caches is not None
    found = state.caches.estimator.blocks[0].tensors
    assert isinstance(found, PagedState)
    return found


def test_lines_equal_plain_pytorch(paged: GraphedFlowDecoder, plain: FlowDecoder) -> None:
    """Voices and lengths alternate, so pages are reused at other addresses with other content."""
    voices = [prompt(0), prompt(1, num_tokens=140), prompt(2), prompt(3, num_tokens=5)]
    states, plain_states = ([flow.prepare_prompt(voice) for voice in voices] for flow in (paged, plain))
    assert len(state_in_pages(states[1]).shared) >= 1
    for voice, count in ((0, 60), (1, 10), (2, 35), (3, 30), (0, 60), (1, 35)):
        if len(voices[voice].speech_tokens) % 25 == 15:
            found, wanted = line(paged, states[voice], tokens(count)), line(plain, plain_states[voice], tokens(count))
        else:
            found, wanted = (
                flow.open_stream(of[voice]).decode(tokens(count), ())
                for flow, of in ((paged, states), (plain, plain_states))
            )
        assert_equal(found, wanted)
    assert len(idle(paged)) == 1, "all lines used the same memory"


def test_growth_copies_nothing_and_takes_what_the_line_needs(
    paged: GraphedFlowDecoder, plain: FlowDecoder, driver: FakeMemoryDriver
) -> None:
    """Also beyond the first capacity."""
    state, spoken = paged.prepare_prompt(prompt()), tokens(110)
    pool = paged._pool
    assert isinstance(pool, PagedPool)
    layout, of_voice, mels, addresses = pool._pages, driver.used_bytes, [], set()
    stream = paged.open_stream(state)
    assert isinstance(stream, StreamingFlow)
    for start in range(-15, len(spoken), 25):
        stop = min(start + 25, len(spoken))
        lookahead = spoken[stop : stop + 3] if stop < len(spoken) else ()
        mels.append(stream.decode(spoken[max(0, start) : stop], lookahead))
        assert isinstance(stream._caches, PooledCaches)
        assert stream._caches.borrowed is not None
        memory = stream._caches.borrowed.memory
        addresses.add(memory._states[0].data_ptr())
        num_frames = 150 + 2 * (stop + 15)
        own = layout.pages_of(num_frames) - len(state_in_pages(state).shared)
        assert driver.used_bytes - of_voice == own * layout.num_bytes
    assert len(addresses) == 1
    assert sorted(memory._runs) == [250, 300, 400, 600], "the last is the default"
    assert_equal(torch.cat(mels, dim=1), line(plain, plain.prepare_prompt(prompt()), spoken))


def test_lines_of_a_voice_share_its_pages(paged: GraphedFlowDecoder, driver: FakeMemoryDriver) -> None:
    """Concurrent lines have their own speech and the same prompt, which is not copied again for later lines."""
    state = paged.prepare_prompt(prompt())
    alone = [line(paged, state, tokens(60, seed)) for seed in (1, 2)]
    both = [pieces(paged, state, tokens(60, seed)) for seed in (1, 2)]
    mels = list(zip(*both, strict=True))
    assert all(
        torch.equal(torch.cat(found, dim=1), mel) for found, mel in zip(zip(*mels, strict=True), alone, strict=True)
    )
    assert len(idle(paged)) == 2
    assert idle(paged)[0]._shared == idle(paged)[1]._shared == state_in_pages(state).shared
    calls = dict(driver.num_calls)
    assert torch.equal(line(paged, state, tokens(60, 1)), alone[0])
    assert driver.num_calls == calls, "a later line of the voice maps nothing"


def test_pages_of_a_voice_are_freed_with_it(paged: GraphedFlowDecoder, driver: FakeMemoryDriver) -> None:
    state = paged.prepare_prompt(prompt())
    line(paged, state, tokens(30))
    before = driver.used_bytes
    del state
    gc.collect()
    assert driver.used_bytes > 0
    paged.prepare_prompt(prompt(1))
    assert driver.used_bytes <= before, "the pages of the first voice are freed for the next one"


def test_all_memory_is_freed_with_the_flow(
    driver: FakeMemoryDriver, reference: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = checkpoint_of(reference, "cosyvoice3")
    decoder = load_graphed_flow(checkpoint.folder / "flow.pt", checkpoint.flow, Precision.FLOAT32, "cpu")
    state = decoder.prepare_prompt(prompt())
    line(decoder, state, tokens(30))
    next(pieces(decoder, state, tokens(60)))  # a line that is cancelled
    faster = decoder.with_steps(4)
    assert faster is not None
    line(faster, faster.prepare_prompt(prompt()), tokens(30))
    for record in decoder.recordings():
        record()
    del decoder, faster, state, record
    gc.collect()
    driver.expect_all_freed()


@pytest.mark.parametrize("failing", ["budget", "create", "map", "access"])
def test_line_without_memory_to_grow_is_not_lost(
    paged: GraphedFlowDecoder, plain: FlowDecoder, driver: FakeMemoryDriver, failing: str
) -> None:
    """If memory runs out within a line, the line is computed from its start, and later lines are correct."""
    state, spoken = paged.prepare_prompt(prompt()), tokens(60)
    wanted = line(plain, plain.prepare_prompt(prompt()), spoken)
    stream, mels = paged.open_stream(state), []
    assert isinstance(stream, StreamingFlow)
    for start in range(-15, len(spoken), 25):
        stop = min(start + 25, len(spoken))
        if start == 35:
            if failing == "budget":
                paged.budget.total_bytes = paged.budget.used_bytes
            else:
                driver.failing[failing] = 1
        mels.append(stream.decode(spoken[max(0, start) : stop], spoken[stop : stop + 3] if stop < len(spoken) else ()))
    assert stream.is_recomputing
    driver.failing.clear()
    paged.budget.total_bytes = 1 << 40
    assert_equal(torch.cat(mels, dim=1), wanted)
    stream.close()
    assert_equal(line(paged, state, spoken), wanted)


def test_idle_pages_serve_a_longer_line(
    paged: GraphedFlowDecoder, plain: FlowDecoder, driver: FakeMemoryDriver
) -> None:
    """The memory that gives them up keeps its recordings."""
    states = [paged.prepare_prompt(prompt(seed)) for seed in (0, 1)]
    list(zip(*(pieces(paged, states[seed], tokens(60, seed)) for seed in (0, 1)), strict=True))
    unused, _used = idle(paged)
    assert unused.num_own_pages > 0
    runs = dict(unused._runs)
    driver.failing["create"] = 0
    assert_equal(line(paged, states[1], tokens(110)), line(plain, plain.prepare_prompt(prompt(1)), tokens(110)))
    assert unused.num_own_pages == 0
    assert unused._runs == runs
    driver.failing.clear()
    assert_equal(line(paged, states[0], tokens(35)), line(plain, plain.prepare_prompt(prompt(0)), tokens(35)))
    assert len(idle(paged)) == 2


def test_voice_without_room_for_its_pages(
    paged: GraphedFlowDecoder, plain: FlowDecoder, driver: FakeMemoryDriver
) -> None:
    """Its prompt is kept in plain tensors, which its lines copy into their own pages."""
    driver.failing["create"] = 0
    state = paged.prepare_prompt(prompt())
    driver.failing.clear()
    assert isinstance(state, PromptState)
    assert state.caches is not None
    assert not isinstance(state.caches.estimator.blocks[0].tensors, PagedState)
    wanted = line(plain, plain.prepare_prompt(prompt()), tokens(60))
    for _ in range(2):
        assert_equal(line(paged, state, tokens(60)), wanted)
    assert len(idle(paged)) == 1


def test_recordings_share_one_memory(paged: GraphedFlowDecoder, driver: FakeMemoryDriver) -> None:
    """They take one page and do not affect later lines."""
    state, pool = paged.prepare_prompt(prompt()), paged._pool
    assert isinstance(pool, PagedPool)
    once, before = line(paged, state, tokens(10)), driver.used_bytes
    for record in paged.recordings():
        record()
    (memory,) = idle(paged)
    assert memory._runs.keys() >= {600, 1200, 1800, 2400}
    assert driver.used_bytes <= before + pool._pages.num_bytes
    assert torch.equal(line(paged, state, tokens(10)), once)
    assert driver.used_bytes == before


def test_overflow_does_not_affect_other_lines(paged: GraphedFlowDecoder, plain: FlowDecoder) -> None:
    """Neither lines in the same memory nor lines that reuse its pages."""
    state = paged.prepare_prompt(prompt())
    loud = replace(prompt(4), mel=np.full((180, 80), np.inf, np.float32))
    once = line(paged, state, tokens(60))
    of_loud = paged.prepare_prompt(loud)
    for _ in range(2):
        assert not line(paged, of_loud, tokens(90)).isfinite().all()
        assert torch.equal(line(paged, state, tokens(60)), once)
    assert_equal(once, line(plain, plain.prepare_prompt(prompt()), tokens(60)))
    assert not line(paged, of_loud, tokens(90)).isfinite().all()
    list(zip(*(pieces(paged, state, tokens(60)) for _ in range(2)), strict=True))
    assert torch.equal(line(paged, state, tokens(60)), once)


def test_voice_that_leaves_no_room_for_a_usual_line(paged: GraphedFlowDecoder) -> None:
    """Memory for a typical line suffices, because lines take pages only for the frames that they have."""
    of_a_second = paged._bytes_of(CacheKind.KEYS_VALUES, 25)
    paged.budget.total_bytes = 6 * of_a_second
    assert state_in_pages(paged.prepare_prompt(prompt()))
    paged.budget.total_bytes = 4 * of_a_second
    state = paged.prepare_prompt(prompt())
    assert isinstance(state, PromptState)
    assert state.caches is None or state.caches.estimator.kind is CacheKind.INPUTS
