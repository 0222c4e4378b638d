"""Sounds and tones of what the teacher read."""

from __future__ import annotations

import numpy as np
import pytest

from training.corpus.phones import LABELS, NUMBER_OF_LABEL, SILENCE, phones_of, silent_halves, timed_labels
from training.corpus.store import Line


def line(symbols: str, language: str, frames: tuple[int, ...] | None = None) -> Line:
    """Return a line whose symbols last two frames each."""
    return Line(
        text="",
        spoken="",
        language=language,
        kind="sentence",
        voice="train-000",
        style="normal",
        split="train",
        symbols=symbols,
        frames=frames or (2,) * (len(symbols) + 2),
        syllables=(),
    )


def said(symbols: str, language: str) -> str:
    return " ".join(
        phone.label + (str(phone.tone) if phone.tone else "") for phone in phones_of(line(symbols, language))
    )


@pytest.mark.parametrize(
    ("symbols", "language", "expected"),
    [
        ("ɐ kˈæt, ˈOpᵊn!", "en", "ə k æ t o ʊ p ə n"),
        ("hˈaʊs wˈɔːtə", "en", "h a ʊ s w ɔ t ə"),
        ("bˈɪɡ ʤˈAl", "en", "b ɪ ɡ ʤ e ɪ l"),
        ("ni↗xau↓.", "zh", "n i2 x a3 u3"),
        ("tʰjɛ→n ʨʰi↘", "zh", "t j ɛ1 n1 ʨʰ i4"),
        ("pei↓ʨi→ŋ", "zh", "b e3 i3 ʨ i1 ŋ1"),
        ("kʰa↘nnikʰa↘n", "zh", "k a4 n4 n i5 k a4 n4"),
        ("na→nɤ", "zh", "n a1 n ɤ5"),
        ("ʂɨ↘ ˈimˌAl. pa", "zh", "ʂ ɨ4 i m e ɪ l b a5"),
    ],
)
def test_symbols_are_sounds_with_tones(symbols: str, language: str, expected: str) -> None:
    assert said(symbols, language) == expected


def test_every_sound_has_a_label_and_labels_are_few() -> None:
    assert len(set(LABELS)) == len(LABELS) <= 64


def test_a_mark_lasts_as_part_of_its_sound() -> None:
    phones = phones_of(line("ˈæ t", "en", (3, 2, 4, 1, 5, 2)))
    assert [(phone.label, phone.start, phone.end) for phone in phones] == [("æ", 3, 9), ("t", 10, 15)]


def test_a_diphthong_is_its_first_and_last_vowel() -> None:
    phones = phones_of(line("ˈI", "en", (1, 2, 8, 1)))
    assert [(phone.label, round(phone.start, 2), round(phone.end, 2)) for phone in phones] == [
        ("a", 1, 6.5),
        ("ɪ", 6.5, 11),
    ]


def test_gaps_are_silent_only_where_nothing_sounds() -> None:
    spoken = line("a s", "en", (8, 8, 4, 8, 8))  # 36 frames of 25 ms: 45 of 20 ms
    sounding, silent = np.full(45 * 480, 0.1, np.float32), np.full(45 * 480, 0.1, np.float32)
    for samples in (sounding, silent):
        samples[: 10 * 480] = samples[35 * 480 :] = 0.0
    silent[20 * 480 : 25 * 480] = 0.0
    a, s = NUMBER_OF_LABEL["a"], NUMBER_OF_LABEL["s"]
    labels, _ = timed_labels(spoken, silent_halves(sounding))
    assert labels.tolist() == [SILENCE] * 10 + [a] * 12 + [s] * 13 + [SILENCE] * 10
    labels, _ = timed_labels(spoken, silent_halves(silent))
    assert labels.tolist() == [SILENCE] * 10 + [a] * 10 + [SILENCE] * 5 + [s] * 10 + [SILENCE] * 10


def test_a_pause_that_belongs_to_a_sound_is_silence() -> None:
    spoken = line("a", "en", (4, 32, 4))
    samples = np.full(50 * 480, 0.1, np.float32)
    samples[: 5 * 480] = samples[25 * 480 :] = 0.0
    labels, tones = timed_labels(spoken, silent_halves(samples))
    assert labels.tolist() == [SILENCE] * 5 + [NUMBER_OF_LABEL["a"]] * 20 + [SILENCE] * 25
    assert not tones.any()
