"""Question before an export replaces files of another script or program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMessageBox, QWidget

_MAX_NAMES = 5


class ReplaceQuestion(QMessageBox):
    """Emits ``confirmed`` or ``cancelled``, then deletes itself."""

    confirmed = Signal()
    cancelled = Signal()

    def __init__(self, folder: Path, files: Sequence[PurePosixPath], parent: QWidget) -> None:
        super().__init__(parent)
        self.setIcon(QMessageBox.Icon.Warning)
        self.setWindowTitle(self.tr("Replace files"))
        self.setText(self.tr("Replace %n file(s)?", "", len(files)))
        names = "\n".join(str(file) for file in files[:_MAX_NAMES])
        more = self.tr("and %n more", "", len(files) - _MAX_NAMES) if len(files) > _MAX_NAMES else ""
        reason = self.tr(
            "These files in {folder} belong to another script or other lines, or were changed after the export:"
        )
        self.setInformativeText("\n".join(filter(None, (reason.format(folder=folder), names, more))))
        self._replace = self.addButton(self.tr("Replace"), QMessageBox.ButtonRole.DestructiveRole)
        self.setDefaultButton(self.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole))
        self.finished.connect(self._on_finished)

    def _on_finished(self, _: int) -> None:
        self.deleteLater()
        (self.confirmed if self.clickedButton() is self._replace else self.cancelled).emit()
