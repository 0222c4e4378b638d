"""The speech language model learns exactly what the program will ask of it, and what is trained is what ships."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from fakes import fake_corpus
from mini_speech_lm_cases import INSTRUCTIONS, RESPELLED, lines_of, small_speech_lm, small_vocabulary

from studio.model.stages import SpeechTokenRequest
from studio.text.prompt_form import COSYVOICE3_TEXT
from studio.text.tokenizer import TextTokenizer
from training.corpus.store import Corpus
from training.corpus.tokens import NUM_TOKENS, Colour, asked_tokens, pairs_and_colours
from training.trainers import speech_lm
from training.trainers.factored import FactoredTable, pair_labels
from training.trainers.options import TrainingFailed, TrainingOptions
from training.trainers.speech_lm_lines import Line, read_lines, spoken_form
from training.trainers.speech_lm_sequences import (
    SequenceMaker,
    SequenceSettings,
    TrainingSequence,
    batches_of_like_length,
    collate,
)
from training.trainers.speech_lm_validation import Speaking, edit_distance, zero_shot_trials

ONLY_ZERO_SHOT = SequenceSettings(
    zero_shot_share=1.0, corrupted_prompt=0.0, corrupted_speech=0.0, written_share=0.0, tagged_share=0.0
)
ONLY_CROSS_LINGUAL = SequenceSettings(zero_shot_share=0.0, cross_lingual_share=1.0, corrupted_speech=0.0)
ONLY_INSTRUCT = SequenceSettings(zero_shot_share=0.0, cross_lingual_share=0.0, corrupted_speech=0.0)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return fake_corpus(tmp_path_factory.mktemp("corpus"), utterances_per_speaker=12)


@pytest.fixture(scope="module")
def lines(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    return lines_of(corpus, tmp_path_factory.mktemp("lines"))


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> TextTokenizer:
    return small_vocabulary(tmp_path_factory.mktemp("vocabulary"))


@pytest.fixture(autouse=True)
def _no_dictionary_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech_lm, "cmu_respellings", lambda: (RESPELLED, "of a test"))


def maker_of(lines: list[Line], tokenizer: TextTokenizer, settings: SequenceSettings, seed: int = 0) -> SequenceMaker:
    return SequenceMaker(lines, tokenizer, INSTRUCTIONS, settings, np.random.default_rng(seed))


def split_inputs(sequence: TrainingSequence, tokenizer: TextTokenizer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Its text ids and its prompt and speech tokens, from the rows of the input table."""
    text_end = sequence.first_prediction
    assert sequence.inputs[0] == tokenizer.num_tokens
    assert sequence.inputs[text_end] == tokenizer.num_tokens + 1
    pairs = sequence.inputs[text_end + 1 :] - tokenizer.num_tokens - 2
    speech = pairs + 729 * sequence.colours[text_end + 1 :]
    return tuple(sequence.inputs[1:text_end].tolist()), tuple(speech.tolist())


def test_a_table_in_parts_is_multiplied_out_and_taken_apart_without_loss() -> None:
    table = FactoredTable(pair_labels(), 6, deviation=0.5)
    rows = table.rows().detach()
    assert rows.shape == (NUM_TOKENS, 6)
    token = 5 * 729 + 700
    assert torch.allclose(rows[token], table.pairs()[700] + table.colour[5])
    other = FactoredTable(pair_labels(), 6)
    other.take_apart(rows)
    assert torch.allclose(other.rows(), rows, atol=1e-6)


@pytest.mark.slow
def test_what_is_trained_is_the_programs_network_in_the_programs_layout(
    lines: list[Line], tokenizer: TextTokenizer
) -> None:
    """Losses in parts equal the cross-entropy of the shipped head over all 6761 rows, sequence by sequence."""
    network = small_speech_lm(tokenizer)
    for table in (network.tokens_in, network.tokens_out):
        torch.nn.init.normal_(table.pair, std=0.3)
        torch.nn.init.normal_(table.colour, std=0.3)
    shipped = network.shipped()
    maker = maker_of(lines, tokenizer, replace(ONLY_ZERO_SHOT, prompt_weight=1.0))
    sequences = [maker.draw() for _ in range(3)]
    batch = collate(sequences, 1.0)
    with torch.no_grad():
        losses, _, _ = network.losses(network.hidden(batch), batch)
    start = 0
    for sequence in sequences:
        text, speech = split_inputs(sequence, tokenizer)
        request = SpeechTokenRequest(text_tokens=text, prompt_speech_tokens=speech[: sequence.num_prompt_tokens])
        inputs = shipped.inputs
        with torch.no_grad():
            embedded = torch.cat(
                (inputs.embed_request(request), inputs.embed_speech(speech[sequence.num_prompt_tokens :]))
            )
            logits = shipped.logits(shipped(embedded[None])[0, len(text) + 1 :])
        wanted = torch.tensor([*sequence.tokens.tolist(), network.config.layout.end_id])
        count = len(wanted)
        assert torch.allclose(
            losses[start : start + count], F.cross_entropy(logits, wanted, reduction="none"), atol=1e-4
        )
        start += count
    assert start == len(losses)


def test_learning_goes_on_from_what_has_shipped(lines: list[Line], tokenizer: TextTokenizer) -> None:
    network, again = small_speech_lm(tokenizer), small_speech_lm(tokenizer)
    again.continue_from(network.shipped())
    batch = collate([maker_of(lines, tokenizer, ONLY_ZERO_SHOT).draw()], 1.0)
    with torch.no_grad():
        before, _, _ = network.losses(network.hidden(batch), batch)
        after, _, _ = again.losses(again.hidden(batch), batch)
    assert torch.allclose(before, after, atol=1e-4)


def test_zero_shot_holds_preamble_transcript_text_and_both_speeches_of_one_speaker(
    lines: list[Line], tokenizer: TextTokenizer
) -> None:
    maker = maker_of(lines, tokenizer, ONLY_ZERO_SHOT)
    heard_by = {tuple(line.tokens.tolist()): line for line in lines}
    said_by = {tuple(asked_tokens(line.tokens, line.style).tolist()): line for line in lines}
    for _ in range(20):
        sequence = maker.draw()
        text, speech = split_inputs(sequence, tokenizer)
        preamble = COSYVOICE3_TEXT.cross_lingual(tokenizer)
        assert text[: len(preamble)] == preamble
        prompt, target = speech[: sequence.num_prompt_tokens], speech[sequence.num_prompt_tokens :]
        assert prompt
        assert target
        if prompt in heard_by and target in said_by:
            first, second = heard_by[prompt], said_by[target]
            assert (first.speaker, first.style) == (second.speaker, second.style)
            assert tokenizer.respellings is not None
            both = tokenizer.respellings.respelled(first.spoken + second.spoken)
            said = tokenizer.decode(text[len(preamble) :])
            assert said.replace(" ", "").replace(".", "") == both.replace(" ", "").replace(".", "")


def test_a_prompt_is_heard_moment_by_moment_and_speech_is_said_in_one_colour(
    lines: list[Line], tokenizer: TextTokenizer
) -> None:
    by_moments = [
        replace(line, tokens=line.tokens % 729 + 729 * (1 + np.arange(len(line.tokens)) % 3)) for line in lines
    ]
    maker = maker_of([line for line in by_moments if line.style in ("normal", "high")], tokenizer, ONLY_ZERO_SHOT)
    for _ in range(10):
        sequence = maker.draw()
        _, speech = split_inputs(sequence, tokenizer)
        _, heard = pairs_and_colours(np.array(speech))
        _, said = pairs_and_colours(sequence.tokens)
        assert set(heard[: sequence.num_prompt_tokens]) == {Colour.MODAL_LOW, Colour.MODAL_MID, Colour.MODAL_HIGH}
        assert set(heard[sequence.num_prompt_tokens :]) == set(said) == {Colour.MODAL_MID}


def test_what_is_asked_for_decides_the_colour(lines: list[Line], tokenizer: TextTokenizer) -> None:
    maker = maker_of(lines, tokenizer, ONLY_INSTRUCT)
    forms = {
        COSYVOICE3_TEXT.instruct(sentence, tokenizer): style
        for style, instruction in INSTRUCTIONS.items()
        for sentence in instruction.sentences
    }
    expected = {"high": Colour.MODAL_HIGH, "low": Colour.MODAL_LOW, "whisper": Colour.WHISPER, "fast": Colour.MODAL_MID}
    seen = set()
    for _ in range(150):
        sequence = maker.draw()
        text, _ = split_inputs(sequence, tokenizer)
        style = forms[text[: text.index(tokenizer.special_ids["<|endofprompt|>"]) + 1]]
        if style in expected:
            assert set(pairs_and_colours(sequence.tokens)[1]) == {expected[style]}
            seen.add(style)
    assert seen == set(expected)


def test_cross_lingual_has_no_prompt_and_the_neutral_voice(lines: list[Line], tokenizer: TextTokenizer) -> None:
    maker = maker_of(lines, tokenizer, ONLY_CROSS_LINGUAL)
    neutral = {
        tuple(asked_tokens(line.tokens, line.style).tolist())
        for line in lines
        if line.style == "normal" and line.speaker.engine == "flite"
    }
    for _ in range(10):
        sequence = maker.draw()
        text, speech = split_inputs(sequence, tokenizer)
        assert sequence.num_prompt_tokens == 0
        assert text[: len(COSYVOICE3_TEXT.cross_lingual(tokenizer))] == COSYVOICE3_TEXT.cross_lingual(tokenizer)
        assert any(speech[: len(tokens)] == tokens for tokens in neutral)


def test_an_instruction_comes_before_its_text_in_the_programs_form(lines: list[Line], tokenizer: TextTokenizer) -> None:
    maker = maker_of(lines, tokenizer, ONLY_INSTRUCT)
    style_of = {tuple(asked_tokens(line.tokens, line.style).tolist()): line.style for line in lines}
    forms = {
        COSYVOICE3_TEXT.instruct(sentence, tokenizer): style
        for style, instruction in INSTRUCTIONS.items()
        for sentence in instruction.sentences
    }
    seen = set()
    for _ in range(120):
        text, speech = split_inputs(maker.draw(), tokenizer)
        end = text.index(tokenizer.special_ids["<|endofprompt|>"]) + 1
        style = forms[text[:end]]
        if speech in style_of:
            assert style_of[speech] == style
            seen.add(style)
    assert {"fast", "whisper", "accent:scotland"} <= seen


def test_inputs_are_corrupted_and_targets_are_not(lines: list[Line], tokenizer: TextTokenizer) -> None:
    maker = maker_of(lines, tokenizer, replace(ONLY_ZERO_SHOT, corrupted_prompt=1.0, corrupted_speech=0.0))
    wrong = total = 0
    for _ in range(20):
        sequence = maker.draw()
        _, speech = split_inputs(sequence, tokenizer)
        differs = np.array(speech) % 729 != sequence.tokens % 729
        assert not differs[sequence.num_prompt_tokens :].any()
        wrong += int(differs.sum())
        total += sequence.num_prompt_tokens
    assert 0.1 < wrong / total < 0.7


def test_padding_does_not_change_a_sequence(lines: list[Line], tokenizer: TextTokenizer) -> None:
    network = small_speech_lm(tokenizer)
    maker = maker_of(lines, tokenizer, ONLY_ZERO_SHOT)
    sequences = sorted((maker.draw() for _ in range(4)), key=len)
    together, alone = collate(sequences, 0.5), collate(sequences[:1], 0.5)
    with torch.no_grad():
        of_all, _, _ = network.losses(network.hidden(together), together)
        of_one, _, _ = network.losses(network.hidden(alone), alone)
    assert torch.allclose(of_all[: len(of_one)], of_one, atol=1e-5)
    prompt = sequences[0].num_prompt_tokens
    assert alone.weights.tolist() == [0.5] * prompt + [8.0] * 4 + [1.0] * (len(of_one) - prompt - 4)


def test_batches_hold_every_sequence_once_and_are_not_too_large(lines: list[Line], tokenizer: TextTokenizer) -> None:
    maker = maker_of(lines, tokenizer, SequenceSettings())
    pool = [maker.draw() for _ in range(50)]
    batches = batches_of_like_length(pool, 1000, np.random.default_rng(0))
    assert sorted(id(sequence) for batch in batches for sequence in batch) == sorted(map(id, pool))
    assert all(len(batch) == 1 or len(batch) * max(map(len, batch)) <= 1000 for batch in batches)


def test_texts_are_learned_in_the_words_the_program_passes_on() -> None:
    assert spoken_form("It cost $5 in 1999") == "It cost five dollars in nineteen ninety nine."
    assert spoken_form("Really?") == "Really?"


def test_spoken_forms_are_remembered_for_these_texts_only(corpus: Corpus, tmp_path: Path) -> None:
    memory = tmp_path / "spoken.json"
    first = read_lines(corpus, memory)
    memory.write_text(memory.read_text("utf-8").replace("red", "scarlet"), "utf-8")
    again = read_lines(corpus, memory)
    assert any("red" in line.spoken for line in first)
    assert [line.spoken.replace("red", "scarlet") for line in first] == [line.spoken for line in again]
    assert all(line.speaker.split != "stranger" for line in first)


def test_edit_distance_counts_the_fewest_changes() -> None:
    assert edit_distance("abcd", "abcd") == 0
    assert edit_distance("abxd", "abcd") == 1
    assert edit_distance("", "abc") == 3
    assert edit_distance("kitten", "sitting") == 3


def test_validation_asks_as_the_program_does_and_counts_what_ran_on(
    lines: list[Line], tokenizer: TextTokenizer
) -> None:
    trials = zero_shot_trials(lines, tokenizer, 2, np.random.default_rng(0))
    assert len(trials) == 2
    network = small_speech_lm(tokenizer)
    with torch.no_grad():
        network.end_out.copy_(-50.0 * network.backbone.norm.weight)
    values = Speaking(network.shipped()).measure(trials)
    assert set(values) == {"phone_error_rate", "duration_ratio", "duration_in_range", "ended"}
    assert values["duration_ratio"] > 0


@pytest.mark.slow
def test_a_short_run_leaves_a_model_the_program_can_open(tmp_path: Path) -> None:
    fake_corpus(tmp_path / "corpus", utterances_per_speaker=41)
    small = {
        "hidden_size": "32", "num_layers": "2", "num_heads": "2", "num_kv_heads": "1", "intermediate_size": "48",
        "first_positions": "600",
        "positions": "600", "num_trials": "2", "short_steps": "3",
    }  # fmt: skip
    options = TrainingOptions(tmp_path / "corpus", tmp_path / "work", minutes=0.03, settings=small)
    values = speech_lm.train(options)
    assert 0 < values["loss"] < 20
    assert "flite_phone_error_rate" in values
    config, tensors = speech_lm.official_speech_lm(tmp_path / "work" / "speech_lm.pt")
    assert config.backbone.hidden_size == 32
    assert tensors["speech_embedding.weight"].shape == (6761, 32)
    again = speech_lm.train(options)
    assert np.isfinite(again["loss"])


@pytest.mark.slow
def test_a_corpus_without_training_lines_is_a_sentence(tmp_path: Path) -> None:
    fake_corpus(tmp_path / "corpus", utterances_per_speaker=12)
    for path in (tmp_path / "corpus").glob("*.json"):
        path.write_text(
            path.read_text("utf-8").replace('"split": "train", "num_tokens"', '"split": "test", "num_tokens"'), "utf-8"
        )
    with pytest.raises(TrainingFailed, match="no training lines"):
        speech_lm.train(TrainingOptions(tmp_path / "corpus", tmp_path / "work", minutes=0.01))


@pytest.mark.slow
def test_a_corpus_that_grows_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = tmp_path / "corpus"
    fake_corpus(corpus, utterances_per_speaker=12)
    num_lines: list[int] = []
    read = speech_lm.read_lines

    def read_and_grow(*arguments: object) -> list[Line]:
        lines = read(*arguments)  # type: ignore[arg-type]
        num_lines.append(len(lines))
        if len(num_lines) == 2:  # validation has its own, training has just begun
            for path in sorted(corpus.glob("shard-0001.*"), reverse=True):
                path.with_name(path.name.replace("0001", "0002")).write_bytes(path.read_bytes())
        return lines

    monkeypatch.setattr(speech_lm, "read_lines", read_and_grow)
    small = {"hidden_size": "32", "num_layers": "1", "num_heads": "2", "num_kv_heads": "1", "intermediate_size": "48"}
    settings = {**small, "first_positions": "20000", "positions": "20000", "num_trials": "0"}
    speech_lm.train(TrainingOptions(corpus, tmp_path / "work", minutes=0.05, settings=settings))
    assert num_lines[0] == num_lines[1] < num_lines[-1]
