"""A button beside an error: puts onto the clipboard what goes with a bug report about it."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from studio.errors import StudioError


class CopyReportButton(QPushButton):
    """Hidden until there is an error to report. The report names no files, voices or texts of a person's own."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._error: StudioError | None = None
        self.setToolTip(self.tr("For a bug report: it names no texts, no voices and not you"))
        self.setAutoDefault(False)
        self.clicked.connect(self._begin)
        self.offer_for(None)

    def offer_for(self, error: StudioError | None) -> None:
        self._error = error
        self.setText(self.tr("Copy report"))
        self.setEnabled(True)
        self.setVisible(error is not None)

    def _begin(self) -> None:
        from studio.app.voices.background import in_background  # noqa: PLC0415 - not for the first picture
        from studio.health.error_report import error_report  # noqa: PLC0415

        error = self._error
        if error is None:
            return
        self.setText(self.tr("Copying…"))
        self.setEnabled(False)
        in_background(
            self,
            lambda: error_report(error),
            done=lambda report: self._finish(error, report),
            # At least its name, should the computer not even tell what it is.
            failed=lambda _: self._finish(error, f"error: {error.code}"),
        )

    def _finish(self, error: StudioError, report: str) -> None:
        QGuiApplication.clipboard().setText(report)
        if error is self._error:  # else there is another by now
            self.setText(self.tr("Copied"))
            self.setEnabled(True)
