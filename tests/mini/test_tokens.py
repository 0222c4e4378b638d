"""Tokens of a sound pair and a relative pitch, and how much a network reads from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from teacher_fakes import fake_teacher_corpus

from training.corpus.phones import LABELS, SILENCE
from training.corpus.tokens import NUM_TOKENS, TokenScheme, TokenTable, relative_semitones
from training.corpus.utterance import CorpusFailed, FloatArray, LabelArray
from training.trainers import token_reader
from training.trainers.options import TrainingOptions

SCHEMES = [TokenScheme(328, 9, 1), TokenScheme(172, 9, 3), TokenScheme(364, 7, 1)]


def lines(number: int = 8) -> list[tuple[LabelArray, FloatArray]]:
    """Return labels in runs, and a pitch that moves slowly."""
    random = np.random.default_rng(0)
    made = []
    for _ in range(number):
        labels = np.repeat(random.integers(0, len(LABELS), 60), random.integers(2, 6, 60))
        labels = labels[: len(labels) // 2 * 2].astype(np.uint8)
        pitch = 3.0 * np.sin(np.arange(len(labels)) / 9.0 + random.uniform(0, 6)) + random.normal(0, 0.2, len(labels))
        made.append((labels, pitch.astype(np.float32)))
    return made


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_tokens_keep_lasting_sounds_and_the_pitch(scheme: TokenScheme) -> None:
    table = TokenTable.of_lines(scheme, lines())
    for labels, semitones in lines():
        tokens = table.encode(labels, semitones)
        assert 0 <= tokens.min() <= tokens.max() < NUM_TOKENS
        is_lasting = labels[0::2] == labels[1::2]
        kept = table.sounds_of(tokens).reshape(-1, 2)
        np.testing.assert_array_equal(kept[is_lasting, 0], labels[0::2][is_lasting])
        assert np.corrcoef(table.semitones_of(tokens), semitones)[0, 1] > 0.95


def test_finer_levels_keep_more_of_the_melody() -> None:
    def error(levels: int) -> float:
        table = TokenTable.of_lines(TokenScheme(81, levels, 1), lines())
        labels, semitones = lines()[0]
        return float(np.abs(table.semitones_of(table.encode(labels, semitones)) - semitones).mean())

    assert error(3) > error(9) > error(27)


def test_a_rare_pair_is_its_audible_sound() -> None:
    table = TokenTable.of_lines(TokenScheme(len(LABELS), 1, 1), lines())
    labels = np.array([SILENCE, 5, 5, SILENCE], np.uint8)
    assert table.sounds_of(table.encode(labels, np.zeros(4, np.float32))).tolist() == [5, 5, 5, 5]


def test_a_scheme_has_room_for_all_sounds_and_not_more_than_the_tokens() -> None:
    for sounds, levels, slopes in ((729, 10, 1), (40, 9, 9)):
        with pytest.raises(CorpusFailed, match="do not fit into 6561"):
            TokenScheme(sounds, levels, slopes)


def test_pitch_is_relative_and_has_no_gaps() -> None:
    f0_hz = np.array([0, 100, 100, 0, 0, 200, 200, 200, 0, 0], np.float32)
    semitones = relative_semitones(f0_hz, 100.0)
    assert semitones[0] == pytest.approx(0.0)
    assert semitones[-1] == pytest.approx(12.0)
    assert (np.diff(semitones) >= 0).all()
    assert not relative_semitones(np.zeros(6, np.float32), 100.0).any()


@pytest.mark.slow
def test_what_a_scheme_keeps_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_teacher_corpus(tmp_path / "corpus", monkeypatch)
    settings = {"sounds": "81", "levels": "3", "slopes": "1", "width": "32", "num_blocks": "1", "piece_tokens": "30"}
    options = TrainingOptions(tmp_path / "corpus", tmp_path / "work", minutes=0.08, settings=settings)
    values = token_reader.train(options)
    assert values["zh_tone_errors"] < 0.5
    assert values["en_sound_errors"] < 0.5
    assert values["sound_bits"] > 2
    assert values["pitch_bits"] == 0.0  # the fakes hum on one note
