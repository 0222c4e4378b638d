"""CosyVoice-300M's flow: official arrays, the approximate stream, loading and refusals."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from non_causal_flow_cases import (
    FAMILY,
    FULL_SIZE,
    NonCausalGolden,
    non_causal_config,
    non_causal_decoder,
    non_causal_network,
    random_voice,
    table_draw,
)

from studio.errors import DamagedModelFile, SequenceTooLong, UnsupportedPrecision, WrongTensors
from studio.model.config import Precision
from studio.model.flow import NonCausalFlowDecoder
from studio.model.flow.layers import Conditions, FullContext
from studio.model.flow.non_causal_decoder import NonCausalFlowModel, faded
from studio.model.flow.non_causal_network import SlicedContext, build_non_causal_network
from studio.model.mel_distance import mel_distance_db
from studio.model.weights import meta_init

HAS_BFLOAT16 = torch.ops.mkldnn._is_mkldnn_bf16_supported()


@pytest.fixture
def model(reference: Path) -> NonCausalFlowModel:
    return non_causal_decoder(reference)._model


@pytest.mark.slow
@pytest.mark.reference
def test_whole_utterances_equal_the_official_ones(reference: Path, model: NonCausalFlowModel) -> None:
    golden, draw = NonCausalGolden(reference), table_draw(reference)
    voice = model.voice(golden.prompt)
    for name, num_tokens in (("full", len(golden.tokens)), ("short", 30)):
        mel = model.decode(voice, golden.tokens[:num_tokens], draw).mel.t()
        assert mel.shape == golden[f"{name}/mel"][0].shape
        assert (mel - golden[f"{name}/mel"][0]).abs().max() <= golden.tolerance


@pytest.mark.slow
@pytest.mark.reference
def test_chunk_that_continues_another_equals_the_official_one(reference: Path, model: NonCausalFlowModel) -> None:
    golden, draw = NonCausalGolden(reference), table_draw(reference)
    voice = model.voice(golden.prompt)
    first = model.decode(voice, golden.tokens, draw)
    second = model.decode(voice, golden.tokens[20:], draw, first)
    assert (second.mel.t() - golden["cached/mel"][0]).abs().max() <= golden.tolerance
    for kept, column in ((second.noise, 0), (second.mean, 1)):
        cached = golden["cached/flow_cache"][0, :, :, column]
        assert (kept.t()[:, : voice.num_frames] - cached[:, : voice.num_frames]).abs().max() <= golden.tolerance


@pytest.mark.reference
def test_parts_of_the_network_equal_the_official_ones(reference: Path) -> None:
    golden, network = NonCausalGolden(reference), non_causal_network(reference)
    ids = torch.tensor([[*golden.prompt.speech_tokens, *golden.tokens]])
    num_prompt = len(golden.prompt.speech_tokens)
    with torch.inference_mode():
        encoded = network.encoder(network.embed(ids))
        mean = network.mean(ids, num_prompt, len(golden.prompt.mel))
        speaker = network.speaker(golden["flow_embedding"])
        inputs = golden["estimator/x"], golden["estimator/mu"], golden["estimator/cond"]
        x, mu, cond = (part.transpose(1, 2) for part in inputs)
        conditions = Conditions(mu, cond, golden["estimator/spks"])
        velocities = {
            name: network.estimator(x, torch.full((2,), float(found[1])), conditions, FullContext()).transpose(1, 2)
            for name in golden.arrays
            if (found := re.fullmatch(r"estimator/out_t([\d.]+)_full", name))
        }
    assert (encoded - golden["full/encoder"]).abs().max() <= golden.tolerance
    assert (mean.transpose(1, 2) - golden["full/mu"]).abs().max() <= golden.tolerance
    assert (speaker - golden["full/spks"]).abs().max() <= golden.tolerance
    assert len(velocities) >= 3
    for name, velocity in velocities.items():
        assert (velocity - golden[name]).abs().max() <= golden.tolerance, name


@pytest.mark.reference
def test_full_size_network_has_the_official_tensors(reference: Path) -> None:
    path = reference / "state-dicts" / "cosyvoice1.flow.json"
    if not path.is_file():
        pytest.skip("this reference folder has no list of full-size tensors")
    official = json.loads(path.read_text("utf-8"))["state_dict"]
    network = meta_init(lambda: build_non_causal_network(FULL_SIZE))
    wanted = {name: list(entry["shape"] if isinstance(entry, dict) else entry[0]) for name, entry in official.items()}
    assert {name: list(tensor.shape) for name, tensor in network.state_dict().items()} == wanted


@pytest.mark.slow
def test_a_voice_without_a_clip_is_decoded(reference: Path) -> None:
    config, decoder = non_causal_config(reference), non_causal_decoder(reference)
    prompt = replace(random_voice(config, 1, 1), speech_tokens=(), mel=np.zeros((0, config.mel_bins), np.float32))
    mel = decoder.decode_whole(prompt, list(range(60)))
    assert mel.shape == (80, decoder.frames_of_tokens(60)) == (80, 103)
    assert mel.isfinite().all()


@pytest.mark.slow
def test_every_frame_depends_on_the_whole_utterance(reference: Path) -> None:
    """The reason for whole sentences: the first frame changes with the last token."""
    config, decoder = non_causal_config(reference), non_causal_decoder(reference, torch.float64)
    prompt = random_voice(config, 60, 103)
    tokens = list(range(100))
    changed = [*tokens[:-1], 300]
    before, after = decoder.decode_whole(prompt, tokens), decoder.decode_whole(prompt, changed)
    assert (before[:, 0] - after[:, 0]).abs().max() > 1e-6


@pytest.mark.slow
def test_stream_of_one_chunk_equals_the_whole_utterance(reference: Path) -> None:
    config, decoder = non_causal_config(reference), non_causal_decoder(reference)
    prompt = random_voice(config, 60, 103)
    tokens = list(range(50))
    stream = decoder.open_stream(decoder.prepare_prompt(prompt))
    assert torch.equal(stream.decode(tokens, ()), decoder.decode_whole(prompt, tokens))
    with pytest.raises(AssertionError):
        stream.decode(tokens, ())


@pytest.mark.slow
def test_chunks_overlap_by_the_frames_of_the_look_ahead(reference: Path) -> None:
    """The official lengths (H1): 172 frames for each hop of 100 tokens, and the overlap is faded."""
    config, decoder = non_causal_config(reference), non_causal_decoder(reference)
    hop, ahead = decoder.chunk_tokens, decoder.lookahead_tokens
    prompt, tokens = random_voice(config, 60, 103), [index % 500 for index in range(230)]
    state, model = decoder.prepare_prompt(prompt), decoder._model
    stream = decoder.open_stream(state)
    mels = [
        stream.decode(tokens[:hop], tokens[hop : hop + ahead]),
        stream.decode(tokens[hop : 2 * hop], tokens[2 * hop : 2 * hop + ahead]),
        stream.decode(tokens[2 * hop :], ()),
    ]
    assert (hop, ahead) == (100, 20)
    assert [mel.shape[1] for mel in mels] == [172, 172, decoder.frames_of_tokens(30)]
    voice = model.voice(prompt)
    first = model.decode(voice, tokens[: hop + ahead], model.draw_noise())
    second = model.decode(voice, tokens[hop : 2 * hop + ahead], model.draw_noise(103, 172), first)
    wanted = torch.cat((faded(first.mel[-34:], second.mel[:34]), second.mel[34:-34])).t()
    assert torch.equal(mels[1], wanted)


@pytest.mark.slow
def test_a_chunk_starts_from_the_noise_of_the_whole_sentence(reference: Path) -> None:
    """Otherwise a stream differs from the whole sentence as much as two readings do."""
    model = non_causal_decoder(reference)._model
    whole = model.draw_noise()(103 + 500)
    assert torch.equal(model.draw_noise(103, 172)(103 + 206), torch.cat((whole[:103], whole[103 + 172 : 103 + 378])))


@pytest.mark.slow
def test_a_stream_is_closer_to_the_whole_sentence_than_another_reading(reference: Path) -> None:
    config, decoder = non_causal_config(reference), non_causal_decoder(reference)
    prompt, tokens, model = random_voice(config, 60, 103), [index % 500 for index in range(150)], decoder._model
    stream = decoder.open_stream(decoder.prepare_prompt(prompt))
    streamed = torch.cat((stream.decode(tokens[:100], tokens[100:120]), stream.decode(tokens[100:], ())), dim=1)
    whole = decoder.decode_whole(prompt, tokens)
    generator = torch.Generator().manual_seed(9)
    other = model.decode(model.voice(prompt), tokens, lambda num: torch.randn(num, 80, generator=generator)).mel.t()
    assert streamed.shape == whole.shape
    distances = [mel_distance_db(whole.numpy(), mel.numpy()) for mel in (streamed, other)]
    assert distances[0] < 0.7 * distances[1]


def test_weights_of_the_fade_add_up_to_one() -> None:
    """The official halves add up to 1.08, which makes the overlap quieter by 3 dB: mels are negative logarithms (J2)."""
    same = torch.full((34, 80), -5.0)
    assert (faded(same, same) - same).abs().max() < 1e-6
    mixed = faded(torch.zeros(34, 1), torch.ones(34, 1))[:, 0]
    assert 0 < mixed[0] < 0.1
    assert 0.9 < mixed[-1] < 1
    assert (mixed.diff() > 0).all()


@pytest.mark.slow
def test_equal_requests_have_equal_mels(reference: Path) -> None:
    config, decoder = non_causal_config(reference), non_causal_decoder(reference)
    prompt = random_voice(config, 40, 70)
    assert torch.equal(decoder.decode_whole(prompt, [1, 2, 3]), decoder.decode_whole(prompt, [1, 2, 3]))


def test_sliced_attention_equals_full_attention(reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = non_causal_network(reference, torch.float64)
    attention = network.encoder.encoders[0].self_attn  # type: ignore[union-attr]
    x = torch.randn(1, 90, 64, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    wanted = FullContext().attend(attention, x)  # type: ignore[arg-type]
    monkeypatch.setattr("studio.model.flow.non_causal_network._QUERIES_AT_ONCE", 25)
    assert (SlicedContext().attend(attention, x) - wanted).abs().max() < 1e-12  # type: ignore[arg-type]


@pytest.mark.slow
def test_prompt_state_is_empty_and_restored(reference: Path) -> None:
    decoder = non_causal_decoder(reference)
    prompt = random_voice(non_causal_config(reference), 40, 70)
    state = decoder.prepare_prompt(prompt)
    assert (state.num_bytes, dict(state.tensors())) == (0, {})
    restored = decoder.open_stream(decoder.restore_prompt(prompt, {})).decode([1] * 30, ())
    assert torch.equal(restored, decoder.open_stream(state).decode([1] * 30, ()))
    with pytest.raises(ValueError, match="no prompt state"):
        decoder.restore_prompt(prompt, {"tokens.keys": torch.zeros(1)})


@pytest.mark.slow
def test_wrong_prompts_are_refused(reference: Path) -> None:
    config, decoder = non_causal_config(reference), non_causal_decoder(reference)
    prompt = random_voice(config, 40, 70)
    for mel in (np.zeros((0, 80), np.float32), np.zeros((70, 81), np.float32)):
        with pytest.raises(ValueError, match="prompt mel"):
            decoder.decode_whole(replace(prompt, mel=mel), [1])


def test_sequence_longer_than_the_limit_is_refused(reference: Path) -> None:
    decoder = non_causal_decoder(reference)
    with pytest.raises(SequenceTooLong, match="300"):
        decoder.decode_whole(random_voice(non_causal_config(reference), 40, 70), [1] * 15_000)


@pytest.mark.skipif(not HAS_BFLOAT16, reason="this processor does not multiply in bfloat16")
def test_bfloat16_stays_within_its_limit(reference: Path) -> None:
    config = non_causal_config(reference)
    prompt, tokens = random_voice(config, 60, 103), list(range(120))
    wanted = non_causal_decoder(reference).decode_whole(prompt, tokens)
    mel = non_causal_decoder(reference, precision=Precision.BFLOAT16).decode_whole(prompt, tokens)
    assert 1e-5 < (mel - wanted).norm() / wanted.norm() < 3e-2


@pytest.mark.slow
def test_hostile_files_get_a_sentence(reference: Path, tmp_path: Path) -> None:
    config = non_causal_config(reference)
    official = torch.load(reference / FAMILY / "checkpoint" / "flow.pt", weights_only=True)
    path = tmp_path / "flow.pt"

    def load() -> None:
        NonCausalFlowDecoder.load(path, config, Precision.FLOAT32, "cpu")

    torch.save({name: tensor for name, tensor in official.items() if "length_regulator" not in name}, path)
    with pytest.raises(WrongTensors, match="missing: length_regulator"):
        load()
    torch.save(official | {"encoder_proj.weight": torch.zeros(80, 63)}, path)
    with pytest.raises(WrongTensors, match="encoder_proj"):
        load()
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(DamagedModelFile):
        load()
    with pytest.raises(UnsupportedPrecision):
        NonCausalFlowDecoder.load(reference / FAMILY / "checkpoint" / "flow.pt", config, Precision.INT4, "cpu")
