"""Export of a single take to a file, and dragging it into another program."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject, QStandardPaths, Qt, QUrl, Signal
from PySide6.QtGui import QDrag
from PySide6.QtWidgets import QApplication, QWidget

from studio.app.background import run_in_background
from studio.app.script.project_editor import ProjectEditor
from studio.app.widgets.dialogs import choose_target, default_folder
from studio.audio.files import AudioWriter
from studio.export.names import sanitize_filename
from studio.project.takes import Take
from studio.provenance.mark import chosen_marker
from studio.settings_store import Settings

_TEXT_LETTERS = 40
_SUFFIXES = (".wav", ".flac", ".mp3", ".ogg")


class TakeFiles(QObject):
    """Writes takes with their edits, as they are played, and with the mark if files are marked.

    Dragged files are in a temporary folder that exists until the program ends, because the other program may read them
    later.
    """

    status_message = Signal(str)
    failed = Signal(object)  # StudioError

    def __init__(self, editor: ProjectEditor, window: QWidget) -> None:
        super().__init__(window)
        self._editor = editor
        self._window = window
        self._folder: Path | None = None

    def choose_file(self, take: Take) -> None:
        """Ask for a file, and write the take to it."""
        patterns = " ".join(f"*{suffix}" for suffix in _SUFFIXES)
        choose_target(
            self._window,
            self.tr("Export take"),
            lambda path: self.export(take, path),
            name=self.file_name(take),
            kind=self.tr("Audio files ({patterns})").format(patterns=patterns),
            folder=default_folder(QStandardPaths.StandardLocation.MusicLocation),
        )

    def export(self, take: Take, path: Path) -> None:
        """Write ``take`` to ``path`` in the background. The suffix determines the format."""
        run_in_background(
            self,
            partial(self._write, take, path),
            done=lambda _: self.status_message.emit(self.tr("Saved {path}").format(path=path)),
            failed=self.failed.emit,
        )

    def start_drag(self, take: Take, source: QWidget) -> None:
        """Write the take to a temporary WAV file, then drag the file unless the mouse button was released."""
        path = self._temporary_folder() / self.file_name(take)
        run_in_background(
            self,
            partial(self._write, take, path),
            done=lambda _: self._drag(path, source),
            failed=self.failed.emit,
        )

    def file_name(self, take: Take) -> str:
        """Return a file name made of line number, text and take number."""
        script = self._editor.script
        line, number = script.line(take.line_id), script.index_of[take.line_id] + 1
        text = " ".join(line.text.split())[:_TEXT_LETTERS]
        return sanitize_filename(f"{number:03} {text} - {take.number}") + ".wav"

    def _write(self, take: Take, path: Path) -> None:
        samples = self._editor.project.samples_of(take.id)
        with AudioWriter(path, take.sample_rate, process=chosen_marker(Settings(), take.sample_rate)) as writer:
            writer.write(samples)

    def _drag(self, path: Path, source: QWidget) -> None:
        if QApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            mime = QMimeData()
            mime.setUrls([QUrl.fromLocalFile(str(path))])
            drag = QDrag(source)
            drag.setMimeData(mime)
            drag.exec(Qt.DropAction.CopyAction)

    def _temporary_folder(self) -> Path:
        """Return an empty folder for one file, so that equal file names do not collide."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="timbre-takes-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)  # deleted at exit at the latest
        return Path(tempfile.mkdtemp(dir=self._folder))
