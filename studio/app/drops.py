"""What becomes of files that are dropped on the window: scripts are opened, texts read, sounds made voices of."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from studio.app.documents import PROJECT_SUFFIX, Documents
from studio.app.voices.new_voices import NewVoices
from studio.app.widgets.drop_overlay import DropOverlay
from studio.project.importing.script_file import SCRIPT_SUFFIXES


class Drops(QObject):
    def __init__(self, documents: Documents, new_voices: NewVoices, window: QWidget) -> None:
        super().__init__(window)
        self._documents = documents
        self._new_voices = new_voices
        self.overlay = DropOverlay(window, self._describe)
        self.overlay.paths_dropped.connect(self._take)

    def _describe(self, paths: list[Path]) -> str | None:
        suffixes = {path.suffix.lower() for path in paths}
        if PROJECT_SUFFIX in suffixes:
            return self.tr("Drop it to open the script")
        if suffixes & set(SCRIPT_SUFFIXES):
            return self.tr("Drop it to add its lines to the script")
        return self._new_voices.describe_drop(paths)

    def _take(self, paths: list[Path]) -> None:
        texts = [path for path in paths if path.suffix.lower() in (*SCRIPT_SUFFIXES, PROJECT_SUFFIX)]
        for path in texts:
            self._documents.begin_with(path)
        if others := [path for path in paths if path not in texts]:
            self._new_voices.take(others)
