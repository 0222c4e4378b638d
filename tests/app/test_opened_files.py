"""Files that are double-clicked or named on the command line at the start."""

from __future__ import annotations

from pathlib import Path

import pytest
from window_bench import Bench, clip_of_noise

from studio.app.voices.clip_editor_dialog import ClipEditorDialog
from studio.app.window import MainWindow
from studio.voices.library import VoiceLibrary


def start_with(bench: Bench, path: Path) -> MainWindow:
    window = bench.open_window()
    bench.manager.start_working(path)
    return window


def names(window: MainWindow) -> list[str]:
    return [voice.name for voice in window.voices.voices]


def test_a_voice_file_adds_its_voice(bench: Bench, tmp_path: Path) -> None:
    elsewhere = VoiceLibrary(tmp_path / "elsewhere", built_in=tmp_path / "none")
    elsewhere.add(clip_of_noise(tmp_path / "clip.wav"), "Bertha", "What Bertha says.")
    elsewhere.export("Bertha", tmp_path / "from a friend.VOICE")
    window = start_with(bench, tmp_path / "from a friend.VOICE")
    bench.until(lambda: names(window) == ["Bertha"])


def test_a_recording_is_checked_before_it_becomes_a_voice(bench: Bench, tmp_path: Path) -> None:
    window = start_with(bench, clip_of_noise(tmp_path / "Bert.wav"))
    bench.until(lambda: window.findChildren(ClipEditorDialog))
    (dialog,) = window.findChildren(ClipEditorDialog)
    dialog.reject()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lines.txt", "lines.md"])
def test_a_text_becomes_lines(bench: Bench, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("The first line.\n\nThe second line.\n")
    start_with(bench, path)
    bench.until(lambda: "The second line." in bench.texts)


def test_a_script_is_opened(bench: Bench, tmp_path: Path) -> None:
    from studio.app.documents import new_project

    other = new_project(tmp_path / "drafts of another", bench.settings)
    other.save(tmp_path / "other.timbre")
    other.close()
    window = start_with(bench, tmp_path / "other.timbre")
    bench.until(lambda: window.documents.name == "other")
