"""The dialog that shows where audio files come from."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from speech_files import write_speech

from studio.app.inspection_dialog import InspectionDialog
from studio.pipeline.request import SynthesisRequest, VoiceReference
from studio.provenance import inspection
from studio.provenance.signing import FileSigner, Signing
from studio.provenance.statement import Statement, spoken_line


@pytest.fixture
def dialog(qtbot) -> InspectionDialog:  # type: ignore[no-untyped-def]
    dialog = InspectionDialog()
    qtbot.addWidget(dialog)
    return dialog


def drop(dialog: InspectionDialog, *files: Path) -> None:
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    dialog.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, dropped, left, none))


def test_the_manifest_of_a_dropped_file_is_shown(  # type: ignore[no-untyped-def]
    dialog: InspectionDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot
) -> None:
    pytest.importorskip("c2pa")
    monkeypatch.setenv("TIMBRE_DATA", str(tmp_path / "data"))
    path, plain = write_speech(tmp_path / "signed.wav", "wav16"), write_speech(tmp_path / "plain.wav", "wav16")
    voice = VoiceReference(tmp_path / "missing.wav", None, "<b>Jane</b>")
    FileSigner(Signing()).sign(path, Statement("mini", lines=(spoken_line(SynthesisRequest("Hello.", voice, seed=7)),)))
    drop(dialog, path, plain)
    qtbot.waitUntil(lambda: "plain.wav" in dialog.page.toPlainText())
    shown = dialog.page.toPlainText()
    assert "Valid. The file has not changed since it was signed." in shown
    assert "voice <b>Jane</b>, seed 7, consent: not recorded" in shown
    assert "None. The file does not say where it comes from, and may be synthetic." in shown


def test_a_file_that_cannot_be_inspected_has_a_reason(  # type: ignore[no-untyped-def]
    dialog: InspectionDialog, tmp_path: Path, qtbot
) -> None:
    dialog.show_files([tmp_path / "missing.wav"])
    qtbot.waitUntil(lambda: not dialog.problem.isHidden())
    assert not dialog.page.toPlainText()


def test_without_the_library_the_mark_is_shown(  # type: ignore[no-untyped-def]
    dialog: InspectionDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot
) -> None:
    monkeypatch.setattr(inspection, "can_sign", lambda: False)
    path = write_speech(tmp_path / "signed.wav", "wav16")
    with path.open("ab") as file:
        file.write(inspection.MANIFEST_TYPE)
    dialog.show_files([path])
    qtbot.waitUntil(lambda: "signed.wav" in dialog.page.toPlainText())
    shown = dialog.page.toPlainText()
    assert "The library c2pa-python, which verifies it, is not installed." in shown
    assert "Mark" in shown
    assert dialog.problem.isHidden()


def test_files_can_be_dropped_on_the_page(dialog: InspectionDialog, tmp_path: Path, qtbot) -> None:  # type: ignore[no-untyped-def]
    """The page, which fills the dialog, leaves drops to the dialog."""
    dialog.show()
    path = write_speech(tmp_path / "plain.wav", "wav16")
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile(str(path))])
    none, left, copy = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton, Qt.DropAction.CopyAction
    page = dialog.page.viewport()
    for event in (
        QDragEnterEvent(QPoint(5, 5), copy, dropped, left, none),
        QDropEvent(QPointF(5, 5), copy, dropped, left, none),
    ):
        QApplication.sendEvent(page, event)
        assert event.isAccepted()
    qtbot.waitUntil(lambda: "plain.wav" in dialog.page.toPlainText())
