"""A voice that took long to prepare is offered with a shorter clip."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from fake_checks import FakeChecks, good_check
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from window_bench import Bench

from studio import paths
from studio.audio.files import read_audio
from studio.voices.library import Voice

OFFER = "Add short voice"


@pytest.fixture
def bench(make_bench: Any) -> Bench:
    checks = FakeChecks(result=lambda request: replace(good_check(request), similarity=0.93))
    bench: Bench = make_bench(checks=checks)
    bench.open_window()
    return bench


@pytest.fixture
def long_voice(bench: Bench, tmp_path: Path) -> Voice:
    speech = read_audio(paths.resources() / "voices" / "Miles.wav")
    path = tmp_path / "long.wav"
    pause = np.zeros(speech.sample_rate // 2, np.float32)
    soundfile.write(path, np.concatenate([speech.samples, pause, speech.samples]), speech.sample_rate)
    return bench.session.library.add(path, "Long", "What Long says.").voice


def offers(bench: Bench) -> list[QPushButton]:
    assert bench.window is not None
    notices = bench.window.notices
    return [each for each in notices.findChildren(QPushButton) if each.text() == OFFER and each.isVisibleTo(notices)]


def prepared(bench: Bench, voice: Voice, seconds: float) -> None:
    assert bench.window is not None
    bench.window.voices.preparation.prepared.emit(voice, seconds)


def test_the_short_voice_is_added_on_request_and_can_be_undone(bench: Bench, long_voice: Voice, qtbot: QtBot) -> None:
    assert bench.window is not None
    prepared(bench, long_voice, 45.0)
    assert "Preparing Long took 45 s." in bench.window.notices.words
    assert "would take 19 s" in bench.window.notices.words
    (button,) = offers(bench)
    button.click()
    names = lambda: [voice.name for voice in bench.session.library.voices()]  # noqa: E731
    qtbot.waitUntil(lambda: "Long 3 s" in names() and "0.93" in bench.window.notices.words)
    assert not offers(bench)
    bench.session.editor.undo_stack.undo()
    qtbot.waitUntil(lambda: "Long 3 s" not in names())


def test_voices_that_are_soon_ready_or_short_are_not_offered(bench: Bench, long_voice: Voice) -> None:
    prepared(bench, long_voice, 5.0)
    prepared(bench, replace(long_voice, clip_seconds=4.0), 45.0)
    assert not offers(bench)
