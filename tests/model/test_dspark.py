"""A speculator in the published layout: its network compared with whole sequences, its files, and unchanged tokens."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import noise_models
import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from small_speculator import BLOCK, FIRST, HEAD, HEADS, KV_HEADS, LAYERS, write_speculator
from speech_lm_cases import LINE

from studio.engines.candidate import Available, EngineTarget, Unusable
from studio.engines.machine import processor
from studio.engines.speculative_candidates import CANDIDATES, TrainedCandidate
from studio.errors import BadModelSettings, DamagedModelFile, MissingModelFile, StudioError, WrongTensors
from studio.model.checkpoint import open_checkpoint
from studio.model.config import Precision
from studio.model.speech_lm import RepetitionAwareSampler, TorchSpeechLM
from studio.model.speech_lm.dspark import DSparkSpeculator, load_dspark
from studio.model.speech_lm.network import rotary_tables, rotate
from studio.model.stages import SpeculationCount


@pytest.fixture
def speech_lm(reference: Path, family: str) -> TorchSpeechLM:
    checkpoint = open_checkpoint(reference / family / "checkpoint")
    lm = checkpoint.load_speech_lm(Precision.FLOAT32, "cpu")
    assert isinstance(lm, TorchSpeechLM)
    return lm


@pytest.fixture
def folder(speech_lm: TorchSpeechLM, tmp_path: Path) -> Path:
    return write_speculator(tmp_path / "speculator", speech_lm)


def opened(lm: TorchSpeechLM, folder: Path) -> DSparkSpeculator:
    return load_dspark(lm, folder, first_speech_id=FIRST, precision=Precision.FLOAT32)


def whole_sequence_scores(tensors: dict[str, torch.Tensor], taps: torch.Tensor, tokens: list[int]) -> torch.Tensor:
    """Return the scores (block, columns) after position ``len(taps)``, from the definition: nothing cached or packed.

    ``tokens`` are the ids in the block: the last token, then masks; the pair table sees the ids ``tokens`` proposes.
    """
    context = F.rms_norm(taps @ tensors["fc.weight"].T, (taps.shape[1] // 2,), tensors["hidden_norm.weight"], 1e-6)
    hidden = tensors["embed_tokens.weight"][tokens]
    num_context, num_block, width = len(context), len(tokens), hidden.shape[1]
    angles = type("Angles", (), {"head_size": HEAD, "rope_theta": 10_000.0})
    cosines, sines = rotary_tables(angles, num_context + num_block, torch.device("cpu"))  # type: ignore[arg-type]
    for index in range(LAYERS):
        own = {name.removeprefix(f"layers.{index}."): value for name, value in tensors.items()}
        normed = F.rms_norm(hidden, (width,), own["input_layernorm.weight"], 1e-6)
        both = torch.cat((context, normed))
        queries = (normed @ own["self_attn.q_proj.weight"].T).view(num_block, HEADS, HEAD)
        keys = (both @ own["self_attn.k_proj.weight"].T).view(-1, KV_HEADS, HEAD)
        values = (both @ own["self_attn.v_proj.weight"].T).view(-1, KV_HEADS, HEAD)
        queries = F.rms_norm(queries, (HEAD,), own["self_attn.q_norm.weight"], 1e-6).transpose(0, 1)[None]
        keys = F.rms_norm(keys, (HEAD,), own["self_attn.k_norm.weight"], 1e-6).transpose(0, 1)[None]
        queries = rotate(queries, cosines[num_context:], sines[num_context:])[0]
        keys = rotate(keys, cosines, sines)[0].repeat_interleave(HEADS // KV_HEADS, 0)
        weights = (queries @ keys.transpose(1, 2) / HEAD**0.5).softmax(dim=2)
        mixed = weights @ values.transpose(0, 1).repeat_interleave(HEADS // KV_HEADS, 0)
        hidden = hidden + mixed.transpose(0, 1).reshape(num_block, -1) @ own["self_attn.o_proj.weight"].T
        normed = F.rms_norm(hidden, (width,), own["post_attention_layernorm.weight"], 1e-6)
        gated = F.silu(normed @ own["mlp.gate_proj.weight"].T) * (normed @ own["mlp.up_proj.weight"].T)
        hidden = hidden + gated @ own["mlp.down_proj.weight"].T
    return F.rms_norm(hidden, (width,), tensors["norm.weight"], 1e-6) @ tensors["lm_head.weight"].T


def test_scores_equal_the_definition_after_every_step(
    speech_lm: TorchSpeechLM, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after proposals were dropped from the caches."""
    speculator = opened(speech_lm, folder)
    tensors = load_file(folder / "model.safetensors")
    found: list[tuple[int, int, torch.Tensor]] = []
    states = speculator.states

    def noted(token: torch.Tensor, context: Any, start: int) -> torch.Tensor:
        result = states(token, context, start)
        found.append((int(token), start, speculator.scores(result)))
        return result

    monkeypatch.setattr(speculator, "states", noted)
    speech_lm.speculator = speculator
    tokens = list(speech_lm.generate(LINE, RepetitionAwareSampler(speech_lm.sampling, 4)))
    embeddings = torch.cat((speech_lm.inputs.embed_request(LINE), speech_lm.embed_speech(tokens)))
    taps: list[torch.Tensor] = []
    cache = speech_lm.open_cache(200)
    cache.taps = type("Taps", (), {"record": staticmethod(lambda index, hidden: taps.append(hidden))})()
    speech_lm.decoder.advance(embeddings, cache)
    tapped = torch.cat(taps[1:3], dim=1)
    assert len(found) >= 29 / BLOCK
    for token, start, scores in found:
        block = [FIRST + token, *[3] * (BLOCK - 2)]
        wanted = whole_sequence_scores(tensors, tapped[:start], block)[:, 20:]
        assert (scores - wanted).abs().max() <= 1e-3 * wanted.abs().max()


def test_pair_table_adds_the_influence_of_the_token_before(speech_lm: TorchSpeechLM, folder: Path) -> None:
    speculator, tensors = opened(speech_lm, folder), load_file(folder / "model.safetensors")
    row = torch.zeros(280)
    scores = speculator.scores_after(row, torch.tensor([11]))
    pairs = tensors["markov_head.markov_w1.weight"][FIRST + 11] @ tensors["markov_head.markov_w2.weight"][20:].T
    assert torch.allclose(scores[:560:2], pairs, atol=1e-5)
    assert scores[1:560:2].isneginf().all(), "the head has no columns for these"
    assert scores[560:].isneginf().all()


def test_tokens_stay_the_same(speech_lm: TorchSpeechLM, folder: Path) -> None:
    for seed in range(4):
        speech_lm.speculator = None
        wanted = list(speech_lm.generate(LINE, RepetitionAwareSampler(speech_lm.sampling, seed)))
        speech_lm.speculator = opened(speech_lm, folder)
        count = SpeculationCount()
        request = replace(LINE, speculation=count)
        assert list(speech_lm.generate(request, RepetitionAwareSampler(speech_lm.sampling, seed))) == wanted
        assert count.num_proposed == (BLOCK - 1) * count.num_steps > 0


def test_a_copied_sampler_draws_what_the_sampler_will(speech_lm: TorchSpeechLM) -> None:
    """So a speculator with the distribution of the model is always right."""
    sampler = RepetitionAwareSampler(speech_lm.sampling, 5)
    guess = sampler.copy()
    scores = torch.randn(3, speech_lm.config.layout.num_rows)
    history: list[int] = []
    for row in scores:
        token = guess(row, history, forbid=None)
        assert sampler(row, history, forbid=None) == token
        history.append(token)


def test_damaged_folders_are_refused(speech_lm: TorchSpeechLM, folder: Path, tmp_path: Path) -> None:
    weights, settings = folder / "model.safetensors", folder / "config.json"
    tensors, text = load_file(weights), settings.read_text()

    def refused(kind: type[StudioError]) -> None:
        with pytest.raises(kind) as caught:
            opened(speech_lm, folder)
        assert caught.value.remedy

    for name in ("fc.weight", "layers.1.self_attn.k_norm.weight", "markov_head.markov_w1.weight"):
        save_file({key: value for key, value in tensors.items() if key != name}, weights)
        refused(WrongTensors)
    save_file(tensors | {"d2t": torch.zeros(7, dtype=torch.long)}, weights)
    refused(WrongTensors)
    weights.write_bytes(b"nothing")
    refused(DamagedModelFile)
    weights.unlink()
    refused(MissingModelFile)
    for changes in ({"markov_head_type": "rnn"}, {"speculators_model_type": "eagle3"}, {"block_size": 0}):
        settings.write_text(json.dumps(json.loads(text) | changes))
        refused(BadModelSettings)
    settings.write_text("{}")
    refused(BadModelSettings)
    settings.write_text("no JSON")
    refused(DamagedModelFile)


def test_an_installed_speculator_is_a_candidate(tmp_path: Path) -> None:
    """It is a folder in the folder of the model."""
    model = tmp_path / "model"
    model.mkdir()
    for path in noise_models.V3.iterdir():
        (model / path.name).symlink_to(path)
    target = EngineTarget(open_checkpoint(model), processor(1))
    candidate = next(each for each in CANDIDATES if isinstance(each, TrainedCandidate))
    assert isinstance(candidate.probe(target), Unusable)
    lm = target.checkpoint.load_speech_lm(Precision.FLOAT32, "cpu")
    assert isinstance(lm, TorchSpeechLM)
    write_speculator(model / "speculator", lm)
    assert isinstance(candidate.probe(target), Available)
    first = target.checkpoint.load_text_tokenizer().num_tokens
    assert first <= FIRST, "the small speculator has rows for all ids"
    engine: Any = candidate.open(None, target)
    count = SpeculationCount()
    list(engine.generate(replace(LINE, speculation=count), RepetitionAwareSampler(engine.sampling, 0)))
    assert count.num_steps > 0
    facts = candidate.key_facts(target)
    (model / "speculator" / "model.safetensors").write_bytes(b"other")
    assert candidate.key_facts(target) != facts
