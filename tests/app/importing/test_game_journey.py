"""The job of a game writer in the window: a table is dropped, cast with a few keys, and exported with its folders."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from window_bench import Bench

from studio import settings as declared
from studio.app.export_dialog.dialog import ExportDialog
from studio.app.export_dialog.export_task import ExportState
from studio.app.importing.cast_dialog import CastDialog
from studio.app.importing.import_page import ImportPage
from studio.app.widgets.drop_overlay import DraggedFiles

CHARACTERS = ("Mira", "Tom", "Bandit", "Old Captain", "anna", "Ghost")
NUM_LINES = 62


def rows_of_game() -> list[list[str]]:
    rows = [["ID", "File", "Character", "Line", "Emotion", "Director"]]
    for number in range(NUM_LINES):
        name = CHARACTERS[number % len(CHARACTERS)]
        path = f"vo/{name.lower().replace(' ', '_')}/d{number:04}.wav"
        rows.append([f"d{number:04}", path, name, f"Line {number}.", ("happy", "", "Disgusted")[number % 3], "Jo"])
    return rows


def write_table(path: Path) -> list[list[str]]:
    rows = rows_of_game()
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
    else:
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(path)
    return rows[1:]


def press(bench: Bench, kind: type[Any], *keys: Qt.Key) -> None:
    """Press ``keys`` in the dialog as soon as it is shown."""
    window = bench.window
    bench.until(lambda: any(found.isVisible() for found in window.findChildren(kind)))
    dialog = next(found for found in window.findChildren(kind) if found.isVisible())
    for key in keys:
        bench.loop.call_soon(lambda key=key: QTest.keyClick(dialog.focusWidget() or dialog, key))
        bench.live(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_table_is_cast_with_a_few_keys_and_exported_with_its_folders(
    bench: Bench, tmp_path: Path, suffix: str
) -> None:
    for name in ("Anna", "Bert", "Carl"):
        bench.add_voice(name)
    window = bench.open_window()
    bench.until(lambda: bench.session.model_selection.styles.styles)
    rows = write_table(tmp_path / f"game{suffix}")
    bench.parts.drops._take(DraggedFiles((tmp_path / f"game{suffix}",)))
    press(bench, ImportPage, Qt.Key.Key_Return)
    press(bench, CastDialog, Qt.Key.Key_Down, Qt.Key.Key_Return)
    assert len(bench.lines) == NUM_LINES
    voices = {line.character: line.voice for line in bench.lines}
    assert voices["Mira"] == "Carl"
    assert voices["anna"] == "Anna"
    assert all(voices.values())
    bench.settings.change({declared.EXPORT_FOLDER: str(tmp_path / "target"), declared.EXPORT_HAS_MANIFEST: True})
    bench.trigger("file.export")
    bench.until(lambda: window.findChild(ExportDialog))
    dialog = window.findChild(ExportDialog)
    bench.until(dialog.export_button.isEnabled)
    bench.loop.call_soon(dialog.export_button.click)
    bench.until(lambda: bench.session.parts.exports.current is not None)
    task = bench.session.parts.exports.current
    bench.until(lambda: task.state.is_over, seconds=240.0)
    assert task.state is ExportState.DONE, task.error
    target = tmp_path / "target"
    assert sorted(str(path.relative_to(target)) for path in target.rglob("*.wav")) == sorted(row[1] for row in rows)
    with next(target.glob("*.csv")).open(encoding="utf-8-sig", newline="") as file:
        found = list(csv.DictReader(file))
    assert [(row["ID"], row["file"], row["Director"]) for row in found] == [(row[0], row[1], "Jo") for row in rows]
    takes = [bench.session.editor.project.chosen_take(line.id) for line in bench.lines]
    num_plain = sum(take.parameters.omitted_style is not None for take in takes)
    assert num_plain == sum(row[4] == "Disgusted" for row in rows), "spoken without style, not failed"
