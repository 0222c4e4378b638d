"""Menu of recent files."""

from __future__ import annotations

from pathlib import Path

import pytest
from window_bench import Bench

from studio.settings import RECENT_FILES


def test_opened_and_saved_files_are_listed_and_missing_ones_disabled(bench: Bench, tmp_path: Path) -> None:
    window = bench.open_window()
    text, script = tmp_path / "a&b.txt", tmp_path / "saved.timbre"
    text.write_text("Some words.")
    window.documents.open_files(text)
    bench.until(lambda: bench.texts == ["Some words."])
    bench.run(window.documents._save(script))
    recent = window.recent_files
    assert recent.paths == (script, text)
    assert [action.text() for action in recent.menu.actions()][:2] == ["&1 saved.timbre", "&2 a&&b.txt"]
    text.unlink()
    recent.menu.aboutToShow.emit()
    bench.until(lambda: not recent.menu.actions()[1].isEnabled())
    assert recent.menu.actions()[0].isEnabled()


def test_a_recent_script_is_opened(bench: Bench, tmp_path: Path) -> None:
    window = bench.open_window()
    bench.run(window.documents._save(tmp_path / "first.timbre"))
    bench.run(window.documents._new())
    assert window.documents.name == "Untitled"
    bench.loop.call_soon(window.recent_files.menu.actions()[0].trigger)
    bench.until(lambda: window.documents.name == "first")


@pytest.mark.slow
def test_only_the_newest_ten_are_kept(bench: Bench, tmp_path: Path) -> None:
    recent = bench.open_window().recent_files
    for number in range(12):
        recent.add(tmp_path / f"{number}.txt")
    assert [path.name for path in recent.paths] == [f"{number}.txt" for number in range(11, 1, -1)]
    recent.menu.actions()[-1].trigger()
    assert bench.settings[RECENT_FILES] == ()
    assert not recent.menu.isEnabled()
