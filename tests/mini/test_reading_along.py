"""The place in a text of each speech token."""

from __future__ import annotations

import numpy as np

from training.corpus.lines import Line
from training.trainers.reading import read_along


def line(spoken: str, symbols: str, syllables: tuple[str, ...] = (), *, language: str = "en") -> Line:
    """Each symbol lasts four frames of 25 ms, with eight frames of silence around."""
    frames = (8, *([4] * len(symbols)), 8)
    return Line(spoken, spoken, language, "sentence", "train-0", "normal", "train", symbols, frames, syllables)


def test_words_have_the_times_of_their_symbols() -> None:
    spoken, symbols = "Through a door.", "θɹˈu ə dˈɔɹ."
    places = read_along(line(spoken, symbols), 38)
    assert (np.diff(places) >= 0).all()
    starts = {word: spoken.index(word) for word in ("Through", "a d", "door")}
    # Eight frames of silence and the symbols before the word, in tokens of 1.6 frames.
    for word, symbol in (("Through", 0), ("a d", 5), ("door", 7)):
        token = int((8 + 4 * symbol + 1) / 1.6)
        assert starts[word] <= places[token] < starts[word] + len(word)
    assert places[-1] == len(spoken)


def test_syllables_with_a_tone_have_their_times_even_beside_neutral_ones() -> None:
    text, symbols = "我的水。", "wo↓tɤ ʂwei↓."
    places = read_along(line(text, symbols, ("wo3", "de5", "shui3"), language="zh"), 38)
    for character, mark in ((0, 2), (2, 10)):
        assert int(places[int((8 + 4 * mark + 1) / 1.6)]) == character


def test_other_words_than_those_of_the_text_are_spread_evenly() -> None:
    places = read_along(line("It is one.", "wˈʌn."), 22)
    assert places[0] == 0.0
    assert places[-1] == 10.0
    assert (np.diff(places) >= 0).all()
