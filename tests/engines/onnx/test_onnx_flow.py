"""The flow as graphs under ONNX Runtime equals the plain layers, streamed and whole (specification E1, E2, E3, E5)."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

import pytest
import torch
from flow_cases import (
    Golden,
    PlainFlow,
    flow_config,
    grid_cuts,
    random_prompt,
    random_tokens,
    relative_error,
    streamed_mel,
)
from graph_cases import flow_folder, graph_decoder

from studio.engines.onnx.flow_decoder import GraphFlowDecoder
from studio.engines.onnx.flow_runner import HIDDEN
from studio.engines.onnx.graph import FlowShapes
from studio.errors import DamagedModelFile, OffGridCut, SequenceTooLong

# Another library adds float32 numbers in another order; this is E1's limit for two runs of one library.
LIMIT = 1e-5
# Prompt and generated tokens: no cached block, one cached block, and a prompt that ends on the grid.
LENGTHS = [(3, 26), (28, 72), (75, 24)]


@cache
def decoder_of(reference: Path, family: str) -> GraphFlowDecoder:
    return graph_decoder(flow_folder(reference, family))


@cache
def plain_of(reference: Path, family: str) -> PlainFlow:
    return PlainFlow(reference, family)


@pytest.mark.slow
@pytest.mark.parametrize(("num_prompt_tokens", "num_tokens"), LENGTHS)
def test_stream_equals_one_plain_run(reference: Path, family: str, num_prompt_tokens: int, num_tokens: int) -> None:
    """The chunk schedule does not change the mel: every chunk, one call for all, and every second chunk."""
    config, decoder = flow_config(reference, family), decoder_of(reference, family)
    prompt, tokens = random_prompt(config, num_prompt_tokens), random_tokens(config, num_tokens)
    state = decoder.prepare_prompt(prompt)
    expected = plain_of(reference, family).mel(prompt, tokens)
    cuts = grid_cuts(num_prompt_tokens, num_tokens)
    for schedule in (cuts, [], cuts[1::2]):
        mel = streamed_mel(decoder, state, tokens, schedule)
        assert mel.shape == expected.shape
        assert mel.dtype is torch.float32
        assert relative_error(mel, expected) <= LIMIT


@pytest.mark.slow
@pytest.mark.parametrize(("num_prompt_tokens", "num_tokens"), LENGTHS)
def test_whole_utterance_equals_one_plain_run(
    reference: Path, family: str, num_prompt_tokens: int, num_tokens: int
) -> None:
    config = flow_config(reference, family)
    prompt, tokens = random_prompt(config, num_prompt_tokens), random_tokens(config, num_tokens)
    mel = decoder_of(reference, family).decode_whole(prompt, tokens)
    assert relative_error(mel, plain_of(reference, family).mel(prompt, tokens, is_streaming=False)) <= LIMIT


@pytest.mark.slow
@pytest.mark.reference
def test_graphs_equal_the_official_implementation(reference: Path, family: str) -> None:
    golden, decoder = Golden(reference, family), decoder_of(reference, family)
    cuts = grid_cuts(len(golden.prompt.speech_tokens), len(golden.tokens))
    mel = streamed_mel(decoder, decoder.prepare_prompt(golden.prompt), golden.tokens, cuts)
    assert relative_error(mel, golden["stream_final/mel"][0]) <= LIMIT


@pytest.mark.slow
def test_concurrent_streams_do_not_change_the_prompt_state(reference: Path, family: str) -> None:
    config, decoder = flow_config(reference, family), decoder_of(reference, family)
    state = decoder.prepare_prompt(random_prompt(config, 53))
    before = {name: tensor.clone() for name, tensor in state.tensors().items()}
    scripts = [random_tokens(config, 47, seed) for seed in (1, 2)]
    alone = [streamed_mel(decoder, state, tokens, grid_cuts(53, 47)) for tokens in scripts]
    together: dict[int, torch.Tensor] = {}

    def speak(index: int) -> None:
        together[index] = streamed_mel(decoder, state, scripts[index], grid_cuts(53, 47))

    threads = [threading.Thread(target=speak, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(together[index], alone[index]) for index in range(2))
    assert all(torch.equal(tensor, before[name]) for name, tensor in state.tensors().items())


def test_prompt_state_round_trip(reference: Path, family: str) -> None:
    config, decoder = flow_config(reference, family), decoder_of(reference, family)
    prompt, tokens = random_prompt(config, 53), random_tokens(config, 22)
    state = decoder.prepare_prompt(prompt)
    stored = {name: tensor.clone() for name, tensor in state.tensors().items()}
    assert sum(tensor.numel() * 4 for tensor in stored.values()) <= state.num_bytes
    restored = decoder.restore_prompt(prompt, stored)
    assert torch.equal(streamed_mel(decoder, restored, tokens, []), streamed_mel(decoder, state, tokens, []))


def test_mismatched_prompt_state_is_rejected(reference: Path, family: str) -> None:
    config, decoder = flow_config(reference, family), decoder_of(reference, family)
    prompt = random_prompt(config, 53)
    stored = dict(decoder.prepare_prompt(prompt).tensors())
    name = "step3.frames.keys.1"
    for wrong in (stored[name][:, 1:], stored[name].half(), stored[name][1:]):
        with pytest.raises(ValueError, match="stored"):
            decoder.restore_prompt(prompt, stored | {name: wrong})
    with pytest.raises(ValueError, match="missing"):
        decoder.restore_prompt(prompt, {key: tensor for key, tensor in stored.items() if key != name})
    with pytest.raises(ValueError, match="unknown to this model"):
        decoder.restore_prompt(prompt, stored | {"step3.frames.keys.99": stored[name]})
    with pytest.raises(ValueError, match="another length"):
        decoder.restore_prompt(random_prompt(config, 90), stored)


@pytest.mark.slow
def test_mel_is_the_same_without_memory_for_caches(reference: Path, family: str) -> None:
    """With an empty budget all calls recompute, with a small one the second call."""
    config = flow_config(reference, family)
    prompt, tokens = random_prompt(config, 28), random_tokens(config, 75)
    expected = plain_of(reference, family).mel(prompt, tokens)
    state_bytes = decoder_of(reference, family).prepare_prompt(prompt).num_bytes
    for budget_bytes in (0, 7 * state_bytes // 2):
        decoder = graph_decoder(flow_folder(reference, family), budget_bytes=budget_bytes)
        state = decoder.prepare_prompt(prompt)
        stream = decoder.open_stream(state)
        mels = [stream.decode(tokens[:22], tokens[22:25])]
        assert stream.is_recomputing == (budget_bytes == 0)
        mels.append(stream.decode(tokens[22:], []))
        assert stream.is_recomputing
        stream.close()
        assert relative_error(torch.cat(mels, dim=1), expected) <= LIMIT
        assert decoder.budget.free_bytes == decoder.budget.total_bytes


def test_chunk_end_off_the_grid_is_rejected(reference: Path, family: str) -> None:
    config, decoder = flow_config(reference, family), decoder_of(reference, family)
    stream = decoder.open_stream(decoder.prepare_prompt(random_prompt(config, 28)))
    tokens = random_tokens(config, 40)
    with pytest.raises(OffGridCut, match="2 tokens beyond the flow's grid of 25"):
        stream.decode(tokens[:24], tokens[24:27])
    with pytest.raises(ValueError, match="lookahead"):
        stream.decode(tokens[:22], tokens[22:24])


def test_length_limit_is_five_minutes(reference: Path, family: str) -> None:
    config, decoder = flow_config(reference, family), decoder_of(reference, family)
    with pytest.raises(SequenceTooLong, match="300"):
        decoder.decode_whole(random_prompt(config, 28), [0] * 7500)


def test_preparing_a_prompt_reports_progress_and_can_be_cancelled(reference: Path, family: str) -> None:
    config, decoder = flow_config(reference, family), decoder_of(reference, family)
    reported: list[float] = []
    decoder.prepare_prompt(random_prompt(config, 90), progress=reported.append)
    assert reported == pytest.approx([1 / 3, 2 / 3, 1.0, 1.0])

    def cancel(share: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        decoder.prepare_prompt(random_prompt(config, 90), progress=cancel)


def test_masked_scores_have_weight_zero() -> None:
    """The bias fits in float16, and its exponential beside any score is exactly zero."""
    assert torch.tensor(HIDDEN, dtype=torch.float16).isfinite()
    scores = torch.tensor([HIDDEN + 300.0, -300.0])
    assert scores.softmax(0)[0] == 0.0


def test_damaged_description_is_reported(reference: Path, tmp_path: Path) -> None:
    with pytest.raises(DamagedModelFile, match="no such file"):
        FlowShapes.read(tmp_path)
    whole = (flow_folder(reference, "cosyvoice3") / FlowShapes.FILE_NAME).read_text()
    for damaged in (whole[:-40], "{}", whole.replace("mel_bins", "bins"), "[]"):
        (tmp_path / FlowShapes.FILE_NAME).write_text(damaged)
        with pytest.raises(DamagedModelFile, match="cannot be read"):
            FlowShapes.read(tmp_path)
