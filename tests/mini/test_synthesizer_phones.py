"""One inventory for all synthesizers, and every half-frame labelled by what sounds in it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from training.synthesizers.phones import LABELS, NUMBER_OF_LABEL, SILENCE, UnknownPhone, of_ipa, of_radio
from training.synthesizers.spoken import Segment, Spoken, labels_on_grid, segments_of, with_closures


def names(timed: tuple[tuple[int, float], ...]) -> list[str]:
    return [LABELS[number] for number, _ in timed]


def test_the_inventory_is_of_the_agreed_size() -> None:
    assert 45 <= len(LABELS) <= 50
    assert len(set(LABELS)) == len(LABELS)


@pytest.mark.parametrize(
    ("name", "accent", "labels"),
    [
        ("ˈaɪ", "en-us", "a ih"),
        ("tʃ", "en-us", "ch"),
        ("iː", "en-gb", "iy"),
        ("ɜː", "en-us", "er"),
        ("ɜː", "en-gb", "eu"),
        ("ɔː|ɹ", "en-us", "ao r"),
        ("ʌʉ", "en-gb-scotland", "ah ux"),
        ("r", "en-gb-scotland", "rr"),
        ("t̪", "en-029", "t"),
        ("ɑ̃", "en-us", "aa"),
        ("", "en-us", "sil"),
    ],
)
def test_names_of_espeak_become_labels(name: str, accent: str, labels: str) -> None:
    assert names(of_ipa(name, accent)) == labels.split()


@pytest.mark.parametrize(("name", "labels"), [("pau", "sil"), ("ay", "a ih"), ("axr", "er"), ("hh", "hh")])
def test_names_of_flite_become_labels(name: str, labels: str) -> None:
    assert names(of_radio(name)) == labels.split()


def test_the_parts_of_a_phone_make_the_whole() -> None:
    assert sum(share for _, share in of_ipa("aɪə", "en-gb")) == pytest.approx(1.0)


def test_a_name_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UnknownPhone, match="ʘ"):
        of_ipa("ʘ", "en-us")
    with pytest.raises(UnknownPhone, match="qqq"):
        of_radio("qqq")


def test_a_half_frame_has_the_label_of_its_middle() -> None:
    segments = (Segment(3, 0.0, 0.029), Segment(4, 0.029, 0.1))
    assert labels_on_grid(segments, 6, offset_seconds=0.0).tolist() == [3, 4, 4, 4, 4, SILENCE]
    assert labels_on_grid(segments, 6, offset_seconds=-0.04).tolist() == [0, 0, 3, 4, 4, 4]


def test_a_short_sound_between_two_middles_is_not_lost() -> None:
    segments = (Segment(3, 0.0, 0.053), Segment(4, 0.053, 0.065), Segment(5, 0.065, 0.2))
    assert labels_on_grid(segments, 5, offset_seconds=0.0).tolist() == [3, 3, 4, 5, 5]


def test_segments_follow_one_another_from_the_beginning_to_the_end() -> None:
    segments = segments_of([(of_ipa("aɪ", "en-us"), 0.1), (of_ipa("t", "en-us"), 0.4)], 0.5)
    assert [LABELS[segment.label] for segment in segments] == ["sil", "a", "ih", "t"]
    assert segments[0].start_seconds == 0.0
    assert segments[-1].end_seconds == 0.5
    for before, after in pairwise(segments):
        assert before.end_seconds == pytest.approx(after.start_seconds)


def test_the_silence_before_a_stop_is_its_closure() -> None:
    rate = 16_000
    tone = np.sin(2 * np.pi * 200 * np.arange(rate) / rate).astype(np.float32)
    tone[4800:6400] = 0.0  # 0.3 to 0.4 s
    vowel, stop, fricative = (NUMBER_OF_LABEL[label] for label in ("aa", "t", "s"))
    for label, border in ((stop, 0.3), (fricative, 0.4)):
        spoken = Spoken(tone, rate, (Segment(vowel, 0.0, 0.4), Segment(label, 0.4, 1.0)))
        assert with_closures(spoken).segments[0].end_seconds == pytest.approx(border, abs=0.006)
