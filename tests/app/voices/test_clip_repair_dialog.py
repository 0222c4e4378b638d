"""A noisy voice is compared with its cleaned clip from the menu of the list, and the better one is added."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import soundfile
from fake_checks import FakeChecks, good_check
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QCheckBox, QMenu, QPushButton, QRadioButton, QToolButton
from window_bench import Bench

from studio import paths
from studio.app.voices.clip_repair_dialog import ClipRepairDialog
from studio.audio.files import read_audio
from studio.take_checks.clip_repair import TEST_SENTENCES
from studio.take_checks.records import TakeCheck
from studio.take_checks.requests import CheckRequest

NUM_SENTENCES = len(TEST_SENTENCES["en"])


def add_voice(bench: Bench, *, is_noisy: bool) -> None:
    clip = read_audio(paths.resources() / "voices" / "Max.wav")
    noise = np.random.default_rng(0).standard_normal(len(clip.samples)) * np.sqrt(np.mean(clip.samples**2.0))
    path = bench.folder / "clip.wav"
    soundfile.write(path, clip.samples + (0.3 * noise if is_noisy else 0.0), clip.sample_rate)
    bench.library.add(path, "Anna", "What Anna says.")
    bench.refresh_voices()


def opened(bench: Bench) -> ClipRepairDialog:
    """Choose the entry of the menu, and return the dialog."""
    assert bench.window is not None
    assert bench.window.voices.select("Anna")
    voices = bench.window.voices._list
    voices.open_menu(QPoint(), [])
    (menu,) = (each for each in voices.findChildren(QMenu) if each.isVisible())
    (repair,) = (each for each in menu.actions() if each.text() == "Repair recording…")
    assert repair.isEnabled()
    repair.trigger()
    menu.close()
    (dialog,) = bench.window.findChildren(ClipRepairDialog)
    return dialog


@pytest.fixture
def bench(make_bench: Any) -> Bench:
    num_checked = 0

    def check(request: CheckRequest) -> TakeCheck:
        nonlocal num_checked
        num_checked += 1
        return replace(good_check(request), similarity=0.6 if num_checked <= NUM_SENTENCES else 0.75)

    bench: Bench = make_bench(checks=FakeChecks(result=check))
    bench.open_window()
    return bench


def test_the_better_clip_is_added_and_can_be_undone(bench: Bench) -> None:
    add_voice(bench, is_noisy=True)
    dialog = opened(bench)
    choices = lambda: [each for each in dialog.findChildren(QRadioButton) if each.isVisible()]  # noqa: E731
    bench.until(lambda: len(choices()) == 2)
    assert [each.text() for each in choices()] == ["As it is", "Cleaned: noise"]
    assert choices()[1].isChecked()
    plays = [each.accessibleName() for each in dialog.findChildren(QToolButton)]
    assert "Play sentence 2 of Cleaned: noise" in plays
    (add,) = (each for each in dialog.findChildren(QPushButton) if each.text() == "Add repaired voice")
    choices()[0].click()
    assert not add.isEnabled()
    choices()[1].click()
    add.click()
    names = lambda: [voice.name for voice in bench.library.voices()]  # noqa: E731
    bench.until(lambda: names() == ["Anna", "Anna repaired"])
    bench.until(lambda: bench.window is not None and "Anna repaired was added." in bench.window.notices.words)
    bench.session.editor.undo_stack.undo()
    bench.until(lambda: names() == ["Anna"])


def test_names_and_scores_can_be_hidden(bench: Bench) -> None:
    add_voice(bench, is_noisy=True)
    dialog = opened(bench)
    bench.until(lambda: len(dialog.findChildren(QRadioButton)) == 2)
    (hide,) = dialog.findChildren(QCheckBox)
    hide.click()
    bench.until(lambda: len(dialog.findChildren(QRadioButton)) == 2)
    choices = dialog.findChildren(QRadioButton)
    assert {each.text() for each in choices} == {"Candidate A", "Candidate B"}
    assert not any(each.isChecked() for each in choices)
    dialog.reject()


def test_no_candidate_is_chosen_when_names_are_hidden(bench: Bench) -> None:
    add_voice(bench, is_noisy=True)
    dialog = opened(bench)
    bench.until(dialog._add.isEnabled)
    (hide,) = dialog.findChildren(QCheckBox)
    hide.click()
    assert not dialog._add.isEnabled()
    dialog.reject()


def test_a_clean_voice_is_left_alone(bench: Bench) -> None:
    add_voice(bench, is_noisy=False)
    dialog = opened(bench)
    bench.until(lambda: dialog._state.text() == "The recording has no fault that can be repaired.")
    assert not dialog._add.isEnabled()
    dialog.reject()
