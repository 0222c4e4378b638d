"""Solvers with fewer steps, whose streams equal the whole run with as many steps."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
import torch
from flow_cases import (
    PlainFlow,
    flow_config,
    flow_decoder,
    flow_network,
    grid_cuts,
    random_prompt,
    random_tokens,
    relative_error,
    streamed_mel,
)
from non_causal_flow_cases import non_causal_config, non_causal_decoder, random_voice

from studio.model.config import REDUCED_STEPS
from studio.model.flow import CachedFlowDecoder
from studio.model.flow.caches import CacheKind
from studio.model.flow.model import FlowModel
from studio.model.generations import GENERATIONS
from studio.model.official_yaml import Document

REDUCED = [REDUCED_STEPS[0], REDUCED_STEPS[2]]


def _with_steps(decoder: CachedFlowDecoder, num_steps: int) -> CachedFlowDecoder:
    found = decoder.with_steps(num_steps)
    assert isinstance(found, CachedFlowDecoder)
    return found


def _whole_run(reference: Path, family: str, num_steps: int) -> PlainFlow:
    plain = PlainFlow(reference, family)
    model = FlowModel(flow_network(reference, family), flow_config(reference, family)).with_steps(num_steps)
    assert model is not None
    plain.model = model
    return plain


@cache
def _exact_mel(reference: Path, family: str, num_prompt_tokens: int, num_tokens: int) -> torch.Tensor:
    config = flow_config(reference, family)
    return PlainFlow(reference, family).mel(random_prompt(config, num_prompt_tokens), random_tokens(config, num_tokens))


def test_exact_flow_is_the_one_without_other_solvers(reference: Path, family: str) -> None:
    """Bit-identical, although the other solvers are prepared with it."""
    config, decoder = flow_config(reference, family), flow_decoder(reference, family)
    prompt, tokens = random_prompt(config, 28), random_tokens(config, 30)
    released = flow_decoder(reference, family, num_steps=config.solver.num_steps)
    assert torch.equal(decoder.decode_whole(prompt, tokens), released.decode_whole(prompt, tokens))
    assert decoder.prompt_key() == released.prompt_key()
    assert decoder.with_steps(config.solver.num_steps) is None
    assert released.with_steps(REDUCED_STEPS[0]) is None


@pytest.mark.slow
@pytest.mark.parametrize("num_steps", REDUCED)
@pytest.mark.parametrize(("num_prompt_tokens", "num_tokens"), [(3, 26), (53, 60), (75, 1)])
def test_stream_equals_the_whole_run_of_its_steps(
    reference: Path, family: str, num_steps: int, num_prompt_tokens: int, num_tokens: int
) -> None:
    config = flow_config(reference, family)
    prompt, tokens = random_prompt(config, num_prompt_tokens), random_tokens(config, num_tokens)
    exact = flow_decoder(reference, family)
    decoder = _with_steps(exact, num_steps)
    mel = streamed_mel(decoder, decoder.prepare_prompt(prompt), tokens, grid_cuts(num_prompt_tokens, num_tokens))
    assert relative_error(mel, _whole_run(reference, family, num_steps).mel(prompt, tokens)) <= 1e-5
    exact_mel = _exact_mel(reference, family, num_prompt_tokens, num_tokens)
    assert relative_error(mel, exact_mel) > 1e-3
    again = streamed_mel(exact, exact.prepare_prompt(prompt), tokens, grid_cuts(num_prompt_tokens, num_tokens))
    assert relative_error(again, exact_mel) <= 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("num_steps", REDUCED)
def test_small_caches_and_recomputed_streams_equal_the_whole_run(reference: Path, family: str, num_steps: int) -> None:
    config = flow_config(reference, family)
    prompt, tokens = random_prompt(config, 53), random_tokens(config, 60)
    expected = _whole_run(reference, family, num_steps).mel(prompt, tokens)
    full = _with_steps(flow_decoder(reference, family), num_steps)
    enough = full._planned_bytes(CacheKind.INPUTS, 50)
    for budget_bytes, kind in ((enough, CacheKind.INPUTS), (0, None)):
        decoder = _with_steps(flow_decoder(reference, family, cache_budget_bytes=budget_bytes), num_steps)
        state = decoder.prepare_prompt(prompt)
        caches = state.caches  # type: ignore[attr-defined]
        assert (None if caches is None else caches.estimator.kind) is kind
        mel = streamed_mel(decoder, state, tokens, grid_cuts(53, 60))
        assert relative_error(mel, expected) <= 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("num_steps", REDUCED)
def test_prompt_state_belongs_to_its_steps(reference: Path, family: str, num_steps: int) -> None:
    """It is smaller, has another key, and a stored one is restored only by the same number of steps."""
    config, exact = flow_config(reference, family), flow_decoder(reference, family)
    prompt, tokens = random_prompt(config, 63), random_tokens(config, 30)
    decoder = _with_steps(exact, num_steps)
    state, exact_state = decoder.prepare_prompt(prompt), exact.prepare_prompt(prompt)

    def estimator_values(tensors: object) -> int:
        return sum(t.numel() for name, t in tensors.items() if name.endswith(("keys", "values")) and "estim" in name)  # type: ignore[attr-defined]

    assert estimator_values(state.tensors()) * 10 == estimator_values(exact_state.tensors()) * num_steps
    assert len({decoder.prompt_key(), exact.prompt_key()}) == 2
    restored = decoder.restore_prompt(prompt, state.tensors())
    assert torch.equal(streamed_mel(decoder, restored, tokens, [12]), streamed_mel(decoder, state, tokens, [12]))
    with pytest.raises(ValueError, match="stored prompt state"):
        decoder.restore_prompt(prompt, exact_state.tensors())


@pytest.mark.slow
@pytest.mark.parametrize("num_steps", REDUCED)
def test_first_generation_has_the_same_solvers(reference: Path, num_steps: int) -> None:
    """Its stream is approximate; a sentence of one chunk is the whole run."""
    config, exact = non_causal_config(reference), non_causal_decoder(reference)
    prompt, tokens = random_voice(config, 20, 34), random_tokens(config, 30)
    before = exact.decode_whole(prompt, tokens)
    decoder = exact.with_steps(num_steps)
    assert decoder is not None
    whole = decoder.decode_whole(prompt, tokens)
    stream = decoder.open_stream(decoder.prepare_prompt(prompt))
    assert torch.equal(stream.decode(tokens, ()), whole)
    assert whole.shape == before.shape
    assert relative_error(whole, before) > 1e-3
    assert torch.equal(exact.decode_whole(prompt, tokens), before)


def test_a_distilled_flow_names_its_steps_in_the_yaml(reference: Path, family: str, tmp_path: Path) -> None:
    """Its stream is that of the same weights with as many steps, and it can only be run with fewer."""
    generation = next(each for each in GENERATIONS if each.name == family)
    released = (reference / family / "checkpoint" / generation.yaml_name).read_text("utf-8")
    settings = tmp_path / generation.yaml_name
    settings.write_text(re.sub(r"(?m)^( *)(inference_cfg_rate:.*)$", r"\1\2\n\1n_timesteps: 4", released), "utf-8")
    config = generation.read_flow(Document(settings).root)
    assert (config.solver.num_steps, config.solver.counts) == (4, (4, 3))
    assert flow_config(reference, family).solver.num_steps == 10
    prompt, tokens = random_prompt(config, 28), random_tokens(config, 30)
    distilled = CachedFlowDecoder(flow_network(reference, family), config)
    expected = _with_steps(flow_decoder(reference, family), 4).decode_whole(prompt, tokens)
    assert torch.equal(distilled.decode_whole(prompt, tokens), expected)
    assert [distilled.with_steps(count) is not None for count in (3, 4, 5)] == [True, False, False]
