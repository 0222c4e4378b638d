"""Import of script files in the window: facts of the file, the project's name, and one Open for all files."""

from __future__ import annotations

from pathlib import Path

import pytest
import shiboken6
from book_samples import epub
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMessageBox, QPushButton
from window_bench import Bench

from studio.app.documents import PROJECT_SUFFIX
from studio.app.importing import importer as importer_module
from studio.app.importing.import_page import ImportPage
from studio.app.importing.importer import _ReadingDialog
from studio.app.widgets.drop_overlay import DraggedFiles
from studio.project.lines import Heading

BOOK = epub(
    {"one.xhtml": "<h1>One</h1><p>The harbour was quiet.</p>", "two.xhtml": "<h1>Two</h1><p>It rang.</p>"},
    title="The Harbour",
)


def choose(bench: Bench, path: Path) -> QFileDialog:
    """Choose ``path`` in the visible file dialog."""
    dialog = bench.dialog(QFileDialog)
    dialog.findChild(QLineEdit).setText(str(path))
    bench.loop.call_soon(dialog.accept)
    return dialog


def accept_page(bench: Bench) -> None:
    """Press Enter on the import page."""
    page = bench.dialog(ImportPage)
    bench.loop.call_soon(lambda: QTest.keyClick(page.focusWidget() or page, Qt.Key.Key_Return))
    bench.until(lambda: not shiboken6.isValid(page) or not page.isVisible())


def test_a_book_brings_its_title_and_chapters_in_one_undo_step(bench: Bench, tmp_path: Path) -> None:
    window = bench.open_window()
    (tmp_path / "harbour.epub").write_bytes(BOOK)
    bench.trigger("file.import")
    choose(bench, tmp_path / "harbour.epub")
    accept_page(bench)
    bench.until(lambda: len(bench.lines) == 4)
    assert [line.heading for line in bench.lines] == [Heading.CHAPTER, Heading.NONE] * 2
    project = bench.session.editor.project
    assert (project.script.details.title, project.script.details.author) == ("The Harbour", "Jane Writer")
    assert window.windowTitle().startswith("harbour")
    bench.trigger("edit.undo")
    assert bench.texts == [""]
    assert project.script.details.title == project.name == ""


def test_open_reads_a_text_as_a_script_of_its_own(bench: Bench, tmp_path: Path) -> None:
    window = bench.open_window()
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(f"The words of {name}.")
    bench.trigger("file.open")
    assert PROJECT_SUFFIX in choose(bench, tmp_path / "one.txt").nameFilters()[0]
    bench.until(lambda: bench.texts == ["The words of one."])
    bench.trigger("file.open")
    choose(bench, tmp_path / "two.txt")
    box = bench.dialog(QMessageBox)
    next(button for button in box.findChildren(QPushButton) if "Don't save" in button.text()).click()
    bench.until(lambda: bench.texts == ["The words of two."])
    assert window.documents.name == "two"
    bench.trigger("file.save")
    assert bench.dialog(QFileDialog).selectedFiles()[0].endswith("two.timbre")
    bench.dialog(QFileDialog).reject()


def test_a_dropped_text_joins_the_open_script(bench: Bench, tmp_path: Path) -> None:
    bench.open_window()
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(f"The words of {name}.")
    bench.parts.drops._take(DraggedFiles((tmp_path / "one.txt", tmp_path / "two.txt")))
    bench.until(lambda: bench.texts == ["The words of one.", "The words of two."])
    assert bench.window.documents.name == "one"


def test_a_long_reading_can_be_cancelled(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    window = bench.open_window()
    is_read = threading.Event()
    monkeypatch.setattr(importer_module, "read_file", lambda *_: is_read.wait(60))
    monkeypatch.setattr(importer_module, "_PATIENCE_MILLISECONDS", 1)
    window.documents.open_files(tmp_path / "endless.txt")
    bench.dialog(_ReadingDialog).reject()
    bench.run(window.documents.finished())
    is_read.set()
    assert bench.texts == [""]
    assert not window.notices.words


def test_columns_of_a_table_are_kept_and_named(bench: Bench, tmp_path: Path) -> None:
    window = bench.open_window()
    (tmp_path / "lines.csv").write_text("ID,Text,Quest\nd1,Hello there.,The Well\n")
    window.documents.open_files(tmp_path / "lines.csv")
    accept_page(bench)
    bench.until(lambda: bench.texts == ["Hello there."])
    assert bench.session.editor.script.details.columns == ("ID", "Text", "Quest")
    assert bench.lines[0].columns["Quest"] == "The Well"
    assert not window.notices.words, "the import page has shown what is not used"
