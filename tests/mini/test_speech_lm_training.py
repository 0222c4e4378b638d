"""The speech language model learns exactly what the program will ask of it, and what is trained is what ships."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from fakes import SCHEME, fake_corpus, fake_table
from mini_speech_lm_cases import INSTRUCTIONS, PHONEMES, small_speech_lm, small_vocabulary

from studio.model.speech_lm.interleave import generate_from_pieces
from studio.model.speech_lm.torch_lm import TorchSpeechLM
from studio.model.stages import SpeechTokenRequest
from studio.text.pinyin import syllable_tokens
from studio.text.tokenizer import COSYVOICE3_TEXT, TextTokenizer
from training.corpus.lines import Reading
from training.corpus.store import Corpus, write_readings
from training.corpus.tokens import NUM_TOKENS, Register
from training.corpus.voices import Split, VoiceRecipe
from training.shipping.respellings import VOCABULARY_FOLDER, write_respellings
from training.trainers import speech_lm
from training.trainers.factored import FactoredTable
from training.trainers.options import READINGS_FOLDER, TrainingFailed, TrainingOptions
from training.trainers.renderings import Renderer
from training.trainers.speech_lm_lines import SpokenLine, read_lines
from training.trainers.speech_lm_sequences import (
    END,
    FILL,
    NOTHING,
    SequenceMaker,
    SequenceSettings,
    TrainingSequence,
    batches_of_like_length,
    collate,
)
from training.trainers.speech_lm_validation import Speaking, edit_distance, zero_shot_trials

CLEAN = SequenceSettings(
    zero_shot_share=1.0, interleaved_share=0.0, corrupted_prompt=0.0, corrupted_speech=0.0, tagged_share=0.0
)
ONLY_INSTRUCT = replace(CLEAN, zero_shot_share=0.0, cross_lingual_share=0.0)
INTERLEAVED = replace(CLEAN, interleaved_share=1.0)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return fake_corpus(tmp_path_factory.mktemp("corpus"), utterances_per_speaker=12)


@pytest.fixture(scope="module")
def lines(corpus: Corpus) -> list[SpokenLine]:
    return read_lines(corpus)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> TextTokenizer:
    return small_vocabulary(tmp_path_factory.mktemp("vocabulary"))


def maker_of(
    lines: list[SpokenLine], tokenizer: TextTokenizer, settings: SequenceSettings, seed: int = 0
) -> SequenceMaker:
    random = np.random.default_rng(seed)
    return SequenceMaker(lines, SCHEME, tokenizer, INSTRUCTIONS, settings=settings, random=random)


def rows_of(sequence: TrainingSequence, tokenizer: TextTokenizer) -> tuple[list[int], list[int], list[str]]:
    """Its text ids, its speech tokens as inputs, and the kind of each input."""
    text: list[int] = []
    speech: list[int] = []
    kinds: list[str] = []
    for row, pitch in zip(sequence.inputs, sequence.pitches, strict=True):
        if row < tokenizer.num_tokens:
            text.append(row)
            kinds.append("text")
        elif row < tokenizer.num_tokens + 2:
            kinds.append("start" if row == tokenizer.num_tokens else "task")
        else:
            speech.append(row - tokenizer.num_tokens - 2 + SCHEME.sounds * pitch)
            kinds.append("speech")
    return text, speech, kinds


def wanted_of(sequence: TrainingSequence) -> list[int]:
    return [target for target in sequence.targets if target >= 0]


def test_a_table_in_parts_is_multiplied_out() -> None:
    table = FactoredTable(fake_table(), 6, deviation=0.5)
    rows = table.rows(torch.ones(6)).detach()
    assert rows.shape == (NUM_TOKENS, 6)
    assert torch.allclose(rows[5 * SCHEME.sounds + 70], table.pairs()[70] + table.pitch[5])
    assert (rows[SCHEME.sounds * SCHEME.pitches :] == 1.0).all()


@pytest.mark.slow
@pytest.mark.parametrize("settings", [CLEAN, INTERLEAVED], ids=["whole", "interleaved"])
def test_losses_are_those_of_the_programs_network(
    lines: list[SpokenLine], tokenizer: TextTokenizer, settings: SequenceSettings
) -> None:
    """Losses in parts equal the cross-entropy of the shipped head over all 6761 rows, at every position."""
    network = small_speech_lm(tokenizer)
    for table in (network.tokens_in, network.tokens_out):
        torch.nn.init.normal_(table.pair, std=0.3)
        torch.nn.init.normal_(table.pitch, std=0.3)
    shipped, layout = network.shipped(), network.config.layout
    maker = maker_of(lines, tokenizer, settings)
    sequences = [maker.draw() for _ in range(3)]
    batch = collate(sequences, SCHEME)
    marks = {END: layout.end_id, FILL: layout.fill_id}
    with torch.no_grad():
        losses, _, _ = network.losses(network.hidden(batch), batch)
        expected = []
        for sequence in sequences:
            embedded = [
                shipped.backbone.embed_tokens.weight[row]
                if row < tokenizer.num_tokens
                else shipped.speech_embedding.weight[
                    {0: layout.sos_row, 1: layout.task_row}.get(
                        row - tokenizer.num_tokens, row - tokenizer.num_tokens - 2 + SCHEME.sounds * pitch
                    )
                ]
                for row, pitch in zip(sequence.inputs, sequence.pitches, strict=True)
            ]
            logits = shipped.logits(shipped(torch.stack(embedded)[None])[0])
            wanted = [marks.get(target, target) for target in sequence.targets]
            for place, target in enumerate(wanted):
                if target != NOTHING:
                    expected.append(F.cross_entropy(logits[place], torch.tensor(target)))
    assert torch.allclose(losses, torch.stack(expected), atol=1e-4)


def test_zero_shot_has_preamble_transcript_text_and_both_speeches_of_one_speaker(
    lines: list[SpokenLine], tokenizer: TextTokenizer
) -> None:
    maker = maker_of(lines, tokenizer, CLEAN)
    preamble = COSYVOICE3_TEXT.cross_lingual(tokenizer)
    by_tokens = {tuple(line.tokens.tolist()): line for line in lines}
    by_heard = {tuple(line.heard.tolist()): line for line in lines}
    seen = 0
    for _ in range(40):
        sequence = maker.draw()
        text, speech, kinds = rows_of(sequence, tokenizer)
        assert tuple(text[: len(preamble)]) == preamble
        assert kinds == ["start", *["text"] * len(text), "task", *["speech"] * len(speech)]
        assert wanted_of(sequence)[0] == sequence.targets[len(text) + 1]
        assert sequence.targets[-1] == END
        for heard, first in by_heard.items():
            second = by_tokens.get(tuple(speech[len(heard) :]))
            if tuple(speech[: len(heard)]) == heard and second:
                assert (first.speaker, first.style) == (second.speaker, second.style)
                seen += 1
    assert seen > 3


def test_interleaved_speech_never_overtakes_its_text(lines: list[SpokenLine], tokenizer: TextTokenizer) -> None:
    maker = maker_of(lines, tokenizer, INTERLEAVED)
    num_fills = 0
    for _ in range(20):
        sequence = maker.draw()
        text, speech, kinds = rows_of(sequence, tokenizer)
        assert kinds.count("task") == 1
        assert len(wanted_of(sequence)) == len(speech) > 0
        num_fills += sequence.targets.count(FILL)
        run = 0
        for place, (kind, target) in enumerate(zip(kinds, sequence.targets, strict=True)):
            run = run + 1 if kind == "speech" else 0
            assert run <= 15 or "task" in kinds[:place]
            if target >= 0:
                assert kinds[sequence.reading[place]] == "text"
                assert sequence.reading[place] <= place
            if target == FILL:
                assert kinds[place + 1] in ("text", "task")
        assert len(text) >= 5
    assert num_fills > 10


def test_the_program_asks_for_interleaved_speech_in_the_trained_order(
    lines: list[SpokenLine], tokenizer: TextTokenizer
) -> None:
    """A model that always answers with the trained target is given exactly the trained inputs."""
    maker = maker_of(lines, tokenizer, INTERLEAVED)
    preamble = COSYVOICE3_TEXT.cross_lingual(tokenizer)
    chosen = [line for line in lines if line.speaker.name == "train-0" and line.style == "normal"][:2]
    sequence = maker.sequence(preamble, chosen[:1], chosen[1:], is_interleaved=True)
    network = small_speech_lm(tokenizer).shipped()
    layout = network.config.layout
    assert layout.fill_id is not None
    marks = {END: layout.end_id, FILL: layout.fill_id}
    targets = [marks.get(target, target) for target in sequence.targets]
    answers = [target for target in targets if target != NOTHING]
    given: list[torch.Tensor] = []
    model = _Recording(network, given, targets)
    words, speech, _ = rows_of(sequence, tokenizer)
    text = words[len(preamble) :]
    num_prompt_text = len(maker.sequence(preamble, (), chosen[:1]).inputs) - 2 - len(preamble) - len(chosen[0].tokens)
    request = SpeechTokenRequest(
        text_tokens=(),
        prompt_text_tokens=(*preamble, *text[:num_prompt_text]),
        prompt_speech_tokens=tuple(chosen[0].heard.tolist()),
        min_tokens=0,
    )
    made = list(
        generate_from_pieces(
            model,  # type: ignore[arg-type]
            request,
            text[num_prompt_text:],
            lambda logits, history, forbid: int(logits.argmax()),  # type: ignore[arg-type]
            num_instruction_tokens=len(preamble),
        )
    )
    assert made == speech[len(chosen[0].heard) :]
    assert answers[-1] == layout.end_id


class _Recording(TorchSpeechLM):
    """Answers each position with the trained target that follows as many inputs."""

    def __init__(self, network: torch.nn.Module, given: list[torch.Tensor], targets: list[int]) -> None:
        from studio.model.speech_lm import build_speech_lm

        self.__dict__.update(build_speech_lm(network).__dict__)  # type: ignore[arg-type]
        self._given, self._targets = given, targets

    def advance(self, embeddings: torch.Tensor, cache: object) -> torch.Tensor:
        self._given.append(embeddings)
        logits = torch.zeros(self.config.layout.num_rows)
        logits[self._targets[sum(map(len, self._given)) - 1]] = 1.0
        return logits


def test_the_instruction_decides_the_style(lines: list[SpokenLine], tokenizer: TextTokenizer) -> None:
    maker = maker_of(lines, tokenizer, ONLY_INSTRUCT)
    forms = {
        COSYVOICE3_TEXT.instruct(sentence, tokenizer): style
        for style, instruction in INSTRUCTIONS.items()
        for sentence in instruction.sentences
    }
    table, seen = fake_table(), set()
    for _ in range(150):
        sequence = maker.draw()
        text = rows_of(sequence, tokenizer)[0]
        style = forms[tuple(text[: text.index(tokenizer.special_ids["<|endofprompt|>"]) + 1])]
        registers = set(table.registers_of(np.array(wanted_of(sequence), np.int32)))
        assert registers == {Register.of_style(style)}
        seen.add(style)
    assert {"fast", "whisper", "happy", "accent:british"} <= seen


def test_inputs_are_corrupted_and_targets_are_not(lines: list[SpokenLine], tokenizer: TextTokenizer) -> None:
    maker = maker_of(lines, tokenizer, replace(CLEAN, corrupted_prompt=1.0))
    known = {tuple(line.tokens.tolist()) for line in lines}
    wrong = total = whole = 0
    for _ in range(20):
        sequence = maker.draw()
        inputs, wanted = np.array(rows_of(sequence, tokenizer)[1]), np.array(wanted_of(sequence))
        wrong += int((inputs % SCHEME.sounds != wanted % SCHEME.sounds).sum())
        total += len(wanted)
        whole += any(tuple(wanted[-len(tokens) :].tolist()) == tokens for tokens in known)
    assert 0.05 < wrong / total < 0.5
    assert whole == 20


def test_padding_does_not_change_a_sequence(lines: list[SpokenLine], tokenizer: TextTokenizer) -> None:
    network = small_speech_lm(tokenizer)
    maker = maker_of(lines, tokenizer, CLEAN)
    sequences = sorted((maker.draw() for _ in range(4)), key=len)
    together, alone = collate(sequences, SCHEME), collate(sequences[:1], SCHEME)
    with torch.no_grad():
        of_all, _, _ = network.losses(network.hidden(together), together)
        of_one, _, _ = network.losses(network.hidden(alone), alone)
    assert torch.allclose(of_all[: len(of_one)], of_one, atol=1e-5)


def test_batches_have_every_sequence_once_and_are_not_too_large(
    lines: list[SpokenLine], tokenizer: TextTokenizer
) -> None:
    maker = maker_of(lines, tokenizer, SequenceSettings())
    pool = [maker.draw() for _ in range(50)]
    batches = batches_of_like_length(pool, 1000, np.random.default_rng(0))
    assert sorted(id(sequence) for batch in batches for sequence in batch) == sorted(map(id, pool))
    assert all(len(batch) == 1 or len(batch) * max(map(len, batch)) <= 1000 for batch in batches)


def test_text_is_rendered_as_by_the_program(lines: list[SpokenLine], tokenizer: TextTokenizer) -> None:
    renderer = Renderer(tokenizer, 0.0, 0.0, np.random.default_rng(0))
    for line in lines:
        ids, places = renderer.render(line, "")
        assert ids == tokenizer.encode_speech(line.spoken)
        assert len(places) == len(line.tokens)
        assert (np.diff(places) >= 0).all()


def test_tokens_in_two_parts_are_the_same_text_at_the_same_places(
    lines: list[SpokenLine], tokenizer: TextTokenizer
) -> None:
    renderer = Renderer(tokenizer, 0.0, 0.0, np.random.default_rng(0), divided_share=1.0)
    num_divided = 0
    for line in (each for each in lines if each.language == "en"):
        ids, places = renderer.render(line, "")
        whole, whole_places = Renderer(tokenizer, 0.0, 0.0, np.random.default_rng(0)).render(line, "")
        assert tokenizer.decode(ids) == tokenizer.decode(whole)
        num_divided += len(ids) > len(whole)
        letters, whole_letters = (
            np.cumsum([len(tokenizer.decode((token,))) for token in each]) for each in (ids, whole)
        )
        # Every speech token still speaks a letter of the token that it spoke before.
        assert (letters[places] <= whole_letters[whole_places]).all()
    assert num_divided > 0


def test_spoken_syllables_replace_those_of_the_front_end(lines: list[SpokenLine], tokenizer: TextTokenizer) -> None:
    line = replace(next(line for line in lines if line.language == "zh"), spoken="一人。", syllables=("yi4", "ren5"))
    ids, _ = Renderer(tokenizer, 0.0, 1.0, np.random.default_rng(0)).render(line, "")
    special = [*syllable_tokens("yi4"), *syllable_tokens("ren5")]
    assert list(ids[: len(special)]) == [tokenizer.special_ids[token] for token in special]


def test_english_words_can_be_in_phones(lines: list[SpokenLine], tokenizer: TextTokenizer) -> None:
    line = replace(lines[0], spoken="River, one.", language="en", syllables=())
    ids, _ = Renderer(tokenizer, 1.0, 0.0, np.random.default_rng(0)).render(line, "")
    names = {number: name for name, number in tokenizer.special_ids.items()}
    phones = "".join(names.get(number, "") for number in ids)
    assert phones == "[R][IH1][V][ER0][W][AH1][N]"


def test_readings_beside_the_corpus_are_learned_too(tmp_path: Path) -> None:
    corpus = fake_corpus(tmp_path / "corpus", work=tmp_path / "work")
    options = TrainingOptions(tmp_path / "corpus", tmp_path / "work")
    before = speech_lm.read_all_lines(options)
    index = int(corpus.indices(split="train", speaker_split="train", style="normal")[0])
    line = replace(corpus.entry(index).line, spoken="This is only read.")
    reading = Reading(line, *corpus.labels(index), corpus.f0_hz(index))
    voice = VoiceRecipe(line.voice, "f", "us", Split.TRAIN, {}, {}, {}, pitch=1.0, rate=1.0)
    write_readings(tmp_path / READINGS_FOLDER, "shard-00000", [reading], {line.voice: voice})
    (*same, read) = speech_lm.read_all_lines(options)
    assert [each.spoken for each in same] == [each.spoken for each in before]
    assert read.spoken == "This is only read."
    np.testing.assert_array_equal(read.tokens % SCHEME.sounds, corpus.tokens(index) % SCHEME.sounds)


def test_strangers_are_never_learned(corpus: Corpus, lines: list[SpokenLine]) -> None:
    assert all(line.speaker.split != "stranger" for line in lines)
    assert len(lines) < len(corpus)


def test_edit_distance_counts_the_fewest_changes() -> None:
    assert edit_distance("abcd", "abcd") == 0
    assert edit_distance("abxd", "abcd") == 1
    assert edit_distance("", "abc") == 3
    assert edit_distance("kitten", "sitting") == 3


def test_validation_asks_as_the_program_does_and_counts_what_ran_on(
    corpus: Corpus, lines: list[SpokenLine], tokenizer: TextTokenizer
) -> None:
    trials = zero_shot_trials(lines, tokenizer, 2, np.random.default_rng(0))
    assert len(trials) == 2
    network = small_speech_lm(tokenizer, corpus.table)
    with torch.no_grad():
        network.end_out.copy_(-50.0 * network.backbone.norm.weight)
    speaking = Speaking(network.shipped(), corpus.table)
    values = speaking.measure(trials)
    assert set(values) == {"phone_error_rate", "duration_ratio", "duration_in_range", "ended"}
    assert values["duration_ratio"] > 0
    assert speaking.measure_arriving(trials) > 0


@pytest.mark.slow
def test_a_short_run_leaves_a_model_the_program_can_open(tmp_path: Path) -> None:
    fake_corpus(tmp_path / "corpus", utterances_per_speaker=41, work=tmp_path / "work")
    small = {
        "hidden_size": "32", "num_layers": "2", "num_heads": "2", "num_kv_heads": "1", "intermediate_size": "48",
        "first_positions": "600",
        "positions": "600", "num_trials": "2", "short_steps": "3",
    }  # fmt: skip
    options = TrainingOptions(tmp_path / "corpus", tmp_path / "work", minutes=0.03, settings=small)
    with pytest.raises(TrainingFailed, match=r"train\.py words"):
        speech_lm.train(options)
    write_respellings(tmp_path / "work" / VOCABULARY_FOLDER, PHONEMES, "of a test")
    values = speech_lm.train(options)
    assert 0 < values["loss"] < 20
    assert "en_phone_error_rate" in values
    config, tensors = speech_lm.official_speech_lm(tmp_path / "work" / "speech_lm.pt")
    assert config.backbone.hidden_size == 32
    assert tensors["speech_embedding.weight"].shape == (6761, 32)
    again = speech_lm.train(replace(options, minutes=0.06))
    assert np.isfinite(again["loss"])
