"""The words below the waveform: which of them are shown, and where."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from studio.app.playback.word_strip import WordStrip
from studio.app.theme.fonts import TextSize, text_font
from studio.app.widgets.waveform_view import WaveformView
from studio.take_checks.records import WordTime

RATE, SECONDS, WIDTH = 8000, 4.0, 640


@pytest.fixture
def strip(qtbot: QtBot) -> WordStrip:
    view = WaveformView(is_compact=True)
    qtbot.addWidget(view)
    view.resize(WIDTH, 60)
    view.show_samples(np.zeros(round(SECONDS * RATE), np.float32), RATE)
    strip = WordStrip(view, view)
    strip.resize(WIDTH, strip.height())
    return strip


def width_of(text: str) -> float:
    return QFontMetricsF(text_font(TextSize.META)).horizontalAdvance(text)


def seconds(pixels: float) -> float:
    return pixels / WIDTH * SECONDS


def word(text: str, middle: float, width: float = 6.0) -> WordTime:
    """Return a word whose time is ``width`` pixels around ``middle``."""
    return WordTime(text, seconds(middle - width / 2), seconds(middle + width / 2), 0, len(text))


def places(strip: WordStrip) -> list[QRectF | None]:
    """Return where each word is shown, or None if there is no space for it."""
    found = {index: place for place, index in strip._lay_out()}
    return [found.get(index) for index in range(len(strip.words))]


def test_words_at_both_ends_are_shown_within_the_strip(strip: WordStrip) -> None:
    strip.show_words([word("The", 4), word("ship", 200), word("left", WIDTH - 4)])
    first, middle, last = places(strip)
    assert first is not None
    assert last is not None
    assert middle is not None
    assert first.left() == 0
    assert middle.center().x() == pytest.approx(200, abs=0.5)
    assert last.right() == pytest.approx(WIDTH)


def test_a_word_moves_aside_for_the_one_before_it_by_at_most_half_its_width(strip: WordStrip) -> None:
    close = 100 + (width_of("harbour") + width_of("the")) / 2 - width_of("harbour") / 4
    strip.show_words([word("the", 100), word("harbour", close), word("now", 400)])
    the, harbour, now = places(strip)
    assert the is not None
    assert harbour is not None
    assert now is not None
    assert the.center().x() == pytest.approx(100, abs=0.5)
    assert the.right() + 4 == pytest.approx(harbour.left())
    assert now.center().x() == pytest.approx(400, abs=0.5)
    strip.show_words([word("the", 100), word("harbour", 102), word("now", 400)])
    assert [place is not None for place in places(strip)] == [True, False, True]


def test_words_never_cover_each_other_or_the_spoken_one(strip: WordStrip) -> None:
    strip.show_words([word(text, 20 * index + 5) for index, text in enumerate(["one", "seven", "ten", "a"] * 8)])
    for position in (None, *np.linspace(0, SECONDS, 50)):
        strip.show_position(position)
        shown = sorted((place for place in places(strip) if place is not None), key=lambda place: place.left())
        assert len(shown) >= 12
        assert all(after.left() - before.right() >= 3.99 for before, after in pairwise(shown))
        spoken = strip.spoken_word
        assert spoken is None or places(strip)[strip.words.index(spoken)] is not None
