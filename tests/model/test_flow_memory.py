"""Caches of the flow: their budget, their kinds, and their release."""

from __future__ import annotations

import gc
import itertools
from pathlib import Path

import psutil
import pytest
import torch
from flow_cases import (
    PlainFlow,
    flow_config,
    flow_decoder,
    grid_cuts,
    random_prompt,
    random_tokens,
    relative_error,
    streamed_mel,
)

from studio.model.config import UNetConfig
from studio.model.flow import CachedFlowDecoder
from studio.model.flow.caches import (
    CacheBudget,
    CacheKind,
    CacheLayout,
    FlowCaches,
    StageCache,
    default_budget_bytes,
    max_concurrent_streams,
)
from studio.model.flow.layers import SelfAttention
from studio.model.flow.unet import CausalUNet

_AMPLE = 1 << 32
# Besides the prompt, 20 s of speech are expected: 1050 frames, or 1000 without a prompt.
_EXPECTED_FRAMES = 1000
# All solver steps use the same memory, so three are enough for the test.
_NUM_STEPS = 3


def _decoder(reference: Path, family: str, **options: object) -> CachedFlowDecoder:
    return flow_decoder(reference, family, num_steps=_NUM_STEPS, **options)


def _bytes_per_frame(reference: Path, family: str, kind: CacheKind) -> float:
    decoder = _decoder(reference, family)
    return decoder._layouts.num_bytes(kind, 50, 100, torch.float32) / 100


def _budget_for(reference: Path, family: str, kind: CacheKind | None) -> int:
    """Return a budget that is just large enough for ``kind``."""
    if kind is None:
        return 1000
    return int(_bytes_per_frame(reference, family, kind) * (_EXPECTED_FRAMES + 100)) + 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*CacheKind, None])
def test_each_cache_kind_is_chosen_by_budget_and_exact(reference: Path, family: str, kind: CacheKind | None) -> None:
    config = flow_config(reference, family)
    prompt, tokens = random_prompt(config, 63), random_tokens(config, 41)
    decoder = _decoder(reference, family, cache_budget_bytes=_budget_for(reference, family, kind))
    state = decoder.prepare_prompt(prompt)
    names = set(state.tensors())
    assert ("estimator.keys" in names) == (kind is CacheKind.KEYS_VALUES)
    assert ("estimator.inputs" in names) == (kind is CacheKind.INPUTS)
    assert bool(names) == (kind is not None)
    mel = streamed_mel(decoder, state, tokens, grid_cuts(63, 41))
    assert relative_error(mel, PlainFlow(reference, family, num_steps=_NUM_STEPS).mel(prompt, tokens)) <= 1e-5
    restored = decoder.restore_prompt(prompt, state.tensors())
    assert torch.equal(streamed_mel(decoder, restored, tokens, grid_cuts(63, 41)), mel)


@pytest.mark.slow
def test_inputs_take_the_stated_share(reference: Path) -> None:
    for family, share in (("cosyvoice3", 0.5), ("cosyvoice2", 0.25)):
        layout = _decoder(reference, family)._layouts.estimator
        inputs, keys_values = (layout.block_bytes(kind, 100, torch.float32) for kind in reversed(CacheKind))
        assert inputs / keys_values == share


@pytest.mark.slow
def test_stream_that_exceeds_the_budget_recomputes_from_its_start(reference: Path, family: str) -> None:
    config = flow_config(reference, family)
    prompt, tokens = random_prompt(config, 28), random_tokens(config, 150)
    ample = _decoder(reference, family, cache_budget_bytes=_AMPLE)
    state = ample.prepare_prompt(prompt)
    # Enough for the first block of 200 frames only.
    tight = _decoder(
        reference,
        family,
        cache_budget_bytes=int(250 * _bytes_per_frame(reference, family, CacheKind.KEYS_VALUES)),
    )
    stream = tight.open_stream(tight.restore_prompt(prompt, state.tensors()))
    mels, was_recomputing = [], []
    edges = [0, *grid_cuts(28, 150), 150]
    for start, stop in itertools.pairwise(edges):
        mels.append(stream.decode(tokens[start:stop], tokens[stop : stop + 3]))
        was_recomputing.append(stream.is_recomputing)
    assert was_recomputing == [False, False, False, False, True, True, True]
    assert tight.budget.free_bytes == tight.budget.total_bytes
    assert (
        relative_error(torch.cat(mels, dim=1), PlainFlow(reference, family, num_steps=_NUM_STEPS).mel(prompt, tokens))
        <= 1e-5
    )


def test_failed_allocation_has_the_effect_of_an_exceeded_budget(
    reference: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = flow_config(reference, "cosyvoice3")
    prompt, tokens = random_prompt(config, 53), random_tokens(config, 30)
    decoder = _decoder(reference, "cosyvoice3", cache_budget_bytes=_AMPLE)
    state = decoder.prepare_prompt(prompt)
    free = decoder.budget.free_bytes
    stream = decoder.open_stream(state)

    def no_memory(*args: object, **kwargs: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    with monkeypatch.context() as patched:
        patched.setattr("studio.model.flow.caches.torch.empty", no_memory)
        assert not stream._caches.estimator.add_block(50, decoder.budget, torch.device("cpu"))  # type: ignore[union-attr]
    assert decoder.budget.free_bytes == free
    assert stream.decode(tokens, ()).shape == (80, 60)


@pytest.mark.slow
def test_closing_a_stream_releases_its_budget(reference: Path, family: str) -> None:
    config, decoder = flow_config(reference, family), _decoder(reference, family, cache_budget_bytes=_AMPLE)
    state = decoder.prepare_prompt(random_prompt(config, 53))
    tokens = random_tokens(config, 60)
    stream = decoder.open_stream(state)
    stream.decode(tokens[:22], tokens[22:25])
    used_bytes = decoder.budget.total_bytes - decoder.budget.free_bytes
    assert used_bytes == decoder._layouts.num_bytes(CacheKind.KEYS_VALUES, 100, 200, torch.float32)
    stream.close()
    assert decoder.budget.free_bytes == decoder.budget.total_bytes
    with pytest.raises(AssertionError, match="ended"):
        stream.decode(tokens[22:], ())


@pytest.mark.slow
def test_closing_streams_frees_process_memory(reference: Path) -> None:
    """200 streams take no more memory than two."""
    config, decoder = flow_config(reference, "cosyvoice3"), _decoder(reference, "cosyvoice3")
    state, tokens = decoder.prepare_prompt(random_prompt(config, 53)), random_tokens(config, 1)
    stream = decoder.open_stream(state)
    process = psutil.Process()

    def use_streams(count: int) -> int:
        for _ in range(count):
            stream = decoder.open_stream(state)
            stream.decode(tokens, ())
            stream.close()
        gc.collect()
        return int(process.memory_info().rss)

    before = use_streams(3)
    after = use_streams(30)
    block_bytes = decoder._layouts.estimator.block_bytes(CacheKind.KEYS_VALUES, 200, torch.float32)
    assert after - before < 5 * block_bytes
    stream.close()


def test_deleted_stream_releases_its_budget(reference: Path) -> None:
    config, decoder = flow_config(reference, "cosyvoice3"), _decoder(reference, "cosyvoice3")
    stream = decoder.open_stream(decoder.prepare_prompt(random_prompt(config, 3)))
    stream.decode(random_tokens(config, 5), ())
    assert decoder.budget.free_bytes < decoder.budget.total_bytes
    del stream
    assert decoder.budget.free_bytes == decoder.budget.total_bytes


def test_caches_grow_by_blocks_without_copying() -> None:
    estimator = CausalUNet(UNetConfig(8, 2, 4, 1, 1), mel_bins=4)
    layout = CacheLayout.of((estimator,), num_steps=2, num_rows=2, block_frames=50)
    cache = StageCache.empty(layout, CacheKind.KEYS_VALUES, torch.zeros(1), torch.float32)
    budget, places, sizes = CacheBudget(_AMPLE), [], []
    for _ in range(60):
        assert cache.make_room(50, budget, torch.device("cpu"))
        cache.advance(50)
        assert [block.tensors["keys"].data_ptr() for block in cache.blocks][: len(places)] == places
        places = [block.tensors["keys"].data_ptr() for block in cache.blocks]
        sizes = [block.capacity for block in cache.blocks]
    assert sizes == [200, 200, *[400] * 7]
    assert [block.start for block in cache.blocks] == [0, 200, *range(400, 3200, 400)]


@pytest.mark.slow
def test_half_precision_caches_change_the_mel_little(reference: Path, family: str) -> None:
    """An optional approximation."""
    config = flow_config(reference, family)
    prompt, tokens = random_prompt(config, 53), random_tokens(config, 97)
    expected = PlainFlow(reference, family, num_steps=_NUM_STEPS).mel(prompt, tokens)
    decoder = _decoder(reference, family, cache_dtype=torch.float16)
    state = decoder.prepare_prompt(prompt)
    full = _decoder(reference, family).prepare_prompt(prompt)
    assert state.tensors()["estimator.keys"].dtype is torch.float16
    assert state.num_bytes < 0.7 * full.num_bytes
    assert 1e-6 < relative_error(streamed_mel(decoder, state, tokens, grid_cuts(53, 97)), expected) < 1e-2


def test_default_budget_is_a_share_of_free_memory() -> None:
    available = psutil.virtual_memory().available
    assert default_budget_bytes(torch.device("cpu")) == pytest.approx(available / 2, rel=0.2)


def test_layers_of_a_part_are_numbered(reference: Path, family: str) -> None:
    layouts = _decoder(reference, family)._layouts
    for layout in (layouts.tokens, layouts.frames, layouts.estimator):
        assert [attention.layer for attention in layout.attentions] == list(range(len(layout.attentions)))
        assert all(isinstance(attention, SelfAttention) for attention in layout.attentions)


@pytest.mark.parametrize(
    ("device", "budget_bytes", "lines"),
    [("cuda", 100, 1), ("cuda", 1000, 1), ("cuda", 1500, 2), ("cuda", 10**6, 8), ("cpu", 10**6, 1)],
)
def test_number_of_concurrent_lines_depends_on_device_and_budget(device: str, budget_bytes: int, lines: int) -> None:
    assert max_concurrent_streams(torch.device(device), CacheBudget(budget_bytes), line_bytes=450) == lines


def test_planned_size_of_a_line_equals_the_size_of_its_caches(reference: Path, family: str) -> None:
    decoder = _decoder(reference, family)
    config, model = flow_config(reference, family), decoder._model
    caches = FlowCaches.empty(decoder._layouts, CacheKind.KEYS_VALUES, model.noise, torch.float32)
    num_tokens = _EXPECTED_FRAMES // config.frames_per_token
    assert caches.make_prompt_room(num_tokens, model)
    blocks = [block for part in caches.parts().values() for block in part.blocks]
    taken = sum(tensor.nbytes for block in blocks for tensor in block.tensors.values())
    assert decoder._planned_bytes(CacheKind.KEYS_VALUES) == taken
