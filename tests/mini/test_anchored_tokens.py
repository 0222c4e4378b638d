"""A token says which sounds are heard within its 40 ms, and how."""

from __future__ import annotations

import numpy as np
import pytest

from training.corpus.phones import LABELS, NUMBER_OF_LABEL, SILENCE
from training.corpus.tokens import (
    NUM_PAIRS,
    Colour,
    PairTable,
    colours_of,
    encode,
    labels_of,
    pairs_and_colours,
    phones_of,
    shipped_pairs,
)
from training.corpus.utterance import CorpusFailed


def numbers(labels: str) -> np.ndarray:
    return np.array([NUMBER_OF_LABEL[label] for label in labels.split()], np.uint8)


def test_the_shipped_table_holds_every_sound_with_itself() -> None:
    table = shipped_pairs()
    assert len(np.unique(table.pairs, axis=0)) == NUM_PAIRS
    every = np.arange(len(LABELS))
    np.testing.assert_array_equal(table.pairs[table.class_of[every, every]], np.stack([every, every], axis=1))


def test_a_token_gives_back_its_labels_and_its_colour() -> None:
    table = shipped_pairs()
    labels = table.pairs.astype(np.uint8).reshape(-1)
    colours = np.arange(NUM_PAIRS, dtype=np.int32) % 9
    tokens = encode(labels, colours, table)
    np.testing.assert_array_equal(labels_of(tokens, table), labels)
    pairs, read = pairs_and_colours(tokens)
    np.testing.assert_array_equal(pairs, np.arange(NUM_PAIRS))
    np.testing.assert_array_equal(read, colours)


def test_a_rare_pair_lasts_as_the_sound_that_is_heard() -> None:
    counts = np.ones((len(LABELS), len(LABELS)), np.int64)
    first, rare = NUMBER_OF_LABEL["zh"], NUMBER_OF_LABEL["q"]
    counts[first, first] = 1000
    counts[rare, :] = counts[:, rare] = 0
    table = PairTable.of_counts(counts)
    assert labels_of(encode(numbers("zh q q sil"), np.zeros(2, np.int32), table), table).tolist() == [
        first,
        first,
        rare,
        rare,
    ]


def test_the_most_frequent_pairs_are_kept() -> None:
    counts = np.random.default_rng(0).integers(1, 1000, (len(LABELS), len(LABELS)))
    table = PairTable.of_counts(counts)
    moving = counts[~np.eye(len(LABELS), dtype=bool)]
    kept = [counts[a, b] for a, b in table.pairs if a != b]
    assert sorted(kept) == sorted(moving)[-len(kept) :]


def test_a_table_that_lacks_a_sound_is_refused() -> None:
    pairs = shipped_pairs().pairs.copy()
    pairs[(pairs[:, 0] == 5) & (pairs[:, 1] == 5)] = [5, SILENCE]
    with pytest.raises(CorpusFailed, match="each phone with itself"):
        PairTable.of_pairs(pairs)


def test_phones_are_read_without_lengths_and_silence() -> None:
    table = shipped_pairs()
    tokens = encode(numbers("sil sil s s s s iy iy iy iy sil sil s s"), np.zeros(7, np.int32), table)
    assert phones_of(tokens, table) == ["s", "iy", "s"]


def test_pitch_is_told_relative_to_the_speaker() -> None:
    f0 = np.repeat(np.float32([160.0, 0.0, 200.0, 0.0, 250.0]), 40)
    colours = colours_of(f0, median_f0_hz=200.0, style="normal")
    assert colours[[5, 50, 95]].tolist() == [Colour.MODAL_LOW, Colour.MODAL_MID, Colour.MODAL_HIGH]
    assert colours_of(f0, median_f0_hz=250.0, style="normal")[95] == Colour.MODAL_MID


def test_what_is_not_voiced_is_as_high_as_its_neighbour() -> None:
    f0 = np.zeros(200, np.float32)
    f0[:40] = 100.0
    f0[160:] = 300.0
    colours = colours_of(f0, median_f0_hz=200.0, style="loud")
    assert colours[:45].tolist() == [Colour.LOUD_LOW] * 45
    assert colours[55:].tolist() == [Colour.LOUD_HIGH] * 45


def test_a_whisper_has_one_colour_and_softness_two() -> None:
    f0 = np.repeat(np.float32([100.0, 300.0]), 60)
    assert set(colours_of(f0, median_f0_hz=200.0, style="whisper")) == {Colour.WHISPER}
    assert set(colours_of(f0, median_f0_hz=200.0, style="soft")) == {Colour.SOFT_LOW, Colour.SOFT_HIGH}


def test_an_utterance_without_any_voice_is_of_middle_height() -> None:
    assert set(colours_of(np.zeros(20, np.float32), median_f0_hz=200.0, style="fast")) == {Colour.MODAL_MID}
