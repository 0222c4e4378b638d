"""Single-line label that elides text that is too long, and shows the full text as a tool tip."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.app.widgets.painting_guard import paints_safely


@paints_safely
class ElidedLabel(QWidget):
    """Label with one line of text. ``Qt.TextElideMode.ElideMiddle`` is the best mode for paths."""

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        *,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__(parent)
        self._mode = mode
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setText(text)

    def text(self) -> str:
        return self._text

    def setText(self, text: str) -> None:  # noqa: N802 - the name in QLabel
        self._text = text
        self.setAccessibleName(text)
        self._update_tool_tip()
        self.updateGeometry()
        self.update()

    @property
    def shown_text(self) -> str:
        return self.fontMetrics().elidedText(self._text, self._mode, self.width())

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._text) + 2, metrics.height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(self.fontMetrics().horizontalAdvance("…"), self.fontMetrics().height())

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.FontChange):
            self._update_tool_tip()
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        alignment = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(self.rect(), alignment, self.shown_text)

    def _update_tool_tip(self) -> None:
        self.setToolTip(self._text if self.shown_text != self._text else "")
