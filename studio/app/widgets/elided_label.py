"""Single-line label and buttons that elide text that is too long."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStyleOptionToolButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

from studio.app.widgets.painting_guard import paints_safely

_MIN_CHARACTERS = 7


@paints_safely
class ElidedLabel(QWidget):
    """Label with one line of text. If the text is elided, the tool tip shows all of it.

    ``Qt.TextElideMode.ElideMiddle`` is the best mode for paths.
    """

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


@paints_safely
class ElidedToolButton(QToolButton):
    """Tool button that is as wide as its text, or elides it if there is less room."""

    @property
    def shown_text(self) -> str:
        return _fitting_text(self)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return _smallest_size(self)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        option.text = self.shown_text
        QStylePainter(self).drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)


@paints_safely
class ElidedPushButton(QPushButton):
    """Push button that is as wide as its text, or elides it and shows it as a tool tip if there is less room."""

    @property
    def shown_text(self) -> str:
        return _fitting_text(self)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return _smallest_size(self)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.setToolTip(self.text() if self.shown_text != self.text() else "")

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.shown_text
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)


def _fitting_text(button: QAbstractButton) -> str:
    missing = button.sizeHint().width() - button.width()
    if missing <= 0:
        return button.text()
    room = button.fontMetrics().horizontalAdvance(button.text()) - missing
    return button.fontMetrics().elidedText(button.text(), Qt.TextElideMode.ElideRight, room)


def _smallest_size(button: QAbstractButton) -> QSize:
    metrics, hint = button.fontMetrics(), button.sizeHint()
    excess = metrics.horizontalAdvance(button.text()) - _MIN_CHARACTERS * metrics.averageCharWidth()
    return QSize(hint.width() - max(0, excess), hint.height())
