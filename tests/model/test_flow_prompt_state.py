"""A voice state is computed once, shared, stored and restored."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from flow_cases import FEW_STEPS, flow_config, flow_decoder, flow_network, random_prompt, random_tokens, streamed_mel
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from studio.model.flow import CachedFlowDecoder


def _digest(tensors: Mapping[str, torch.Tensor]) -> str:
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize(("num_tokens", "cached_frames"), [(3, 0), (27, 0), (28, 50), (53, 100), (77, 100), (78, 150)])
def test_whole_blocks_of_the_prompt_are_cached(
    reference: Path, family: str, num_tokens: int, cached_frames: int
) -> None:
    """All of the prompt but its end, whose look-ahead or block extends into the utterance."""
    state = flow_decoder(reference, family, num_steps=FEW_STEPS).prepare_prompt(
        random_prompt(flow_config(reference, family), num_tokens)
    )
    tensors = state.tensors()
    if cached_frames:
        assert tensors["estimator.keys"].shape[-2] == tensors["estimator.values"].shape[-2] == cached_frames
        assert state.num_bytes == sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    else:
        assert not tensors


@pytest.mark.slow
def test_a_prompt_with_progress_has_the_same_state(reference: Path, family: str) -> None:
    prompt = random_prompt(flow_config(reference, family), 128)
    decoder = flow_decoder(reference, family, num_steps=FEW_STEPS)
    shares: list[float] = []
    shown = decoder.prepare_prompt(prompt, progress=shares.append).tensors()
    assert _digest(shown) == _digest(decoder.prepare_prompt(prompt).tensors())


@pytest.mark.slow
def test_streams_do_not_change_the_prompt_state(reference: Path, family: str) -> None:
    """The state is shared by all streams of a voice."""
    config, decoder = flow_config(reference, family), flow_decoder(reference, family, num_steps=FEW_STEPS)
    state = decoder.prepare_prompt(random_prompt(config, 63))
    before = _digest(state.tensors())
    for seed in (1, 2):
        streamed_mel(decoder, state, random_tokens(config, 50, seed), [12, 37])
    assert _digest(state.tensors()) == before


@pytest.mark.slow
def test_state_from_a_mapped_file_equals_a_fresh_one(reference: Path, family: str, tmp_path: Path) -> None:
    config, decoder = flow_config(reference, family), flow_decoder(reference, family, num_steps=FEW_STEPS)
    prompt, tokens = random_prompt(config, 63), random_tokens(config, 30)
    fresh = decoder.prepare_prompt(prompt)
    path = tmp_path / "voice.safetensors"
    assert all(tensor.is_contiguous() for tensor in fresh.tensors().values())
    save_file(dict(fresh.tensors()), path)
    before = path.read_bytes()
    mapped = load_file(path)
    restored = flow_decoder(reference, family, num_steps=FEW_STEPS).restore_prompt(prompt, mapped)
    assert restored.tensors()["estimator.keys"].data_ptr() == mapped["estimator.keys"].data_ptr()  # not copied
    assert torch.equal(streamed_mel(decoder, fresh, tokens, [12]), streamed_mel(decoder, restored, tokens, [12]))
    del restored, mapped
    assert path.read_bytes() == before


@pytest.mark.slow
def test_state_without_caches_is_restored(reference: Path, family: str) -> None:
    config, decoder = flow_config(reference, family), flow_decoder(reference, family, num_steps=FEW_STEPS)
    prompt, tokens = random_prompt(config, 20), random_tokens(config, 30)
    restored = decoder.restore_prompt(prompt, decoder.prepare_prompt(prompt).tensors())
    fresh = streamed_mel(decoder, decoder.prepare_prompt(prompt), tokens, [5])
    assert torch.equal(streamed_mel(decoder, restored, tokens, [5]), fresh)


def test_unsuitable_tensors_are_refused_by_name(reference: Path, family: str) -> None:
    config, decoder = flow_config(reference, family), flow_decoder(reference, family, num_steps=FEW_STEPS)
    prompt = random_prompt(config, 63)
    good = dict(decoder.prepare_prompt(prompt).tensors())
    without = {name: tensor for name, tensor in good.items() if name != "tokens.tail.0"}
    wrong = {
        "tokens.tail.0 .* missing": without,
        "estimator.keys .* is torch.float16": good | {"estimator.keys": good["estimator.keys"].half()},
        "estimator.values .* is torch.float32": good | {"estimator.values": good["estimator.values"][:-1]},
        r"contains estimator\.more": good | {"estimator.more": torch.zeros(1)},
    }
    for complaint, tensors in wrong.items():
        with pytest.raises(ValueError, match=complaint):
            decoder.restore_prompt(prompt, tensors)
    with pytest.raises(ValueError, match="stored prompt state"):
        decoder.restore_prompt(random_prompt(config, 90), good)


@pytest.mark.slow
def test_progress_counts_solver_steps_and_may_cancel(reference: Path, family: str) -> None:
    decoder = flow_decoder(reference, family, num_steps=FEW_STEPS)
    prompt = random_prompt(flow_config(reference, family), 90)
    shares: list[float] = []
    decoder.prepare_prompt(prompt, progress=shares.append)
    assert shares == pytest.approx([0.0, 1 / FEW_STEPS, 2 / FEW_STEPS, 1.0, 1.0]), (
        "the three blocks are computed at once"
    )
    shares.clear()
    decoder.prepare_prompt(random_prompt(flow_config(reference, family), 128), progress=shares.append)
    assert shares == sorted(shares)
    assert len(shares) == 2 * (FEW_STEPS + 1) + 1, "five blocks are computed in two runs"

    def cancel(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        decoder.prepare_prompt(prompt, progress=cancel)


@pytest.mark.slow
def test_prompt_key_covers_everything_the_state_depends_on(reference: Path, family: str) -> None:
    key = flow_decoder(reference, family).prompt_key()
    assert key == flow_decoder(reference, family, cache_budget_bytes=1 << 20).prompt_key()
    others = [
        flow_decoder(reference, family, num_steps=5),
        flow_decoder(reference, family, cache_dtype=torch.bfloat16),
        flow_decoder(reference, family, torch.float64),
        flow_decoder(reference, "cosyvoice2" if family == "cosyvoice3" else "cosyvoice3"),
    ]
    assert len({key, *(other.prompt_key() for other in others)}) == 5


@pytest.mark.slow
def test_prompt_key_depends_on_the_weights(reference: Path, family: str) -> None:
    network = flow_network(reference, family)
    with torch.no_grad():
        network.spk_embed_affine_layer.bias = torch.nn.Parameter(network.spk_embed_affine_layer.bias + 1e-3)
    changed = CachedFlowDecoder(network, flow_config(reference, family))
    assert changed.prompt_key() != flow_decoder(reference, family).prompt_key()


def test_file_names_are_stable(reference: Path, tmp_path: Path) -> None:
    """The key of a stored state must be stable."""
    state = flow_decoder(reference, "cosyvoice3").prepare_prompt(
        random_prompt(flow_config(reference, "cosyvoice3"), 28)
    )
    save_file(dict(state.tensors()), tmp_path / "voice.safetensors")
    with safe_open(tmp_path / "voice.safetensors", "pt") as file:
        shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    assert shapes == {
        "tokens.tail.0": (1, 1, 2, 96),
        "estimator.keys": (10, 3, 2, 4, 50, 20),
        "estimator.values": (10, 3, 2, 4, 50, 20),
        "estimator.tail.0": (10, 2, 30, 80),
        "estimator.tail.1": (10, 2, 30, 80),
    }
