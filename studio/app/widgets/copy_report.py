"""Button that copies a report of the error next to it to the clipboard."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from studio.app.background import run_in_background
from studio.errors import StudioError


class CopyReportButton(QPushButton):
    """Button that is hidden while there is no error.

    The report contains no file names, voices or texts of the user.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._error: StudioError | None = None
        self._requested: StudioError | None = None
        self.setToolTip(self.tr("For a bug report; contains no texts, voices or personal data"))
        self.setAutoDefault(False)
        self.clicked.connect(self._begin)
        self.offer_for(None)

    def offer_for(self, error: StudioError | None) -> None:
        """Offer a report of ``error``, or hide the button if it is None."""
        if error is not None and self._error is not None and _is_same(error, self._error):  # found by another check
            return
        self._error = error
        self.setText(self.tr("Copy report"))
        self.setEnabled(True)
        self.setVisible(error is not None)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Accept Return as well, because the space bar controls playback in some dialogs."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def join(self, box: QMessageBox, error: StudioError) -> None:
        """Add the button to the message box ``box``, which shows ``error``."""
        box.addButton(self, QMessageBox.ButtonRole.ActionRole)
        # A message box connects its buttons to close itself.
        self.clicked.disconnect()
        self.clicked.connect(self._begin)
        self.offer_for(error)

    def _begin(self) -> None:
        from studio.health.error_report import error_report  # noqa: PLC0415

        error = self._error
        if error is None:
            return
        self._requested = error
        self.setText(self.tr("Copying…"))
        self.setEnabled(False)
        run_in_background(
            self,
            lambda: error_report(error),
            done=lambda report: self._finish(error, report),
            # If the facts about the computer cannot be read, at least the error code is copied.
            failed=lambda _: self._finish(error, f"error: {error.code}"),
        )

    def _finish(self, error: StudioError, report: str) -> None:
        if error is self._requested:  # otherwise, a later report has been requested
            QGuiApplication.clipboard().setText(report)
        if error is self._error:  # otherwise, another error is shown now
            self.setText(self.tr("Copied"))
            self.setEnabled(True)


def _is_same(one: StudioError, other: StudioError) -> bool:
    return (one.code, str(one)) == (other.code, str(other))
