"""Tells of a take that was just heard and whose length does not fit its text, and offers to speak the line again."""

from __future__ import annotations

from PySide6.QtCore import QObject

from studio.app.notices import NoticeBar
from studio.app.script.odd_length_words import odd_length_words
from studio.app.session import Session
from studio.app.speaking.queue import Order


class LengthNotices(QObject):
    """Only of lines that were spoken to be heard at once; the list of lines shows the others."""

    def __init__(self, session: Session, notices: NoticeBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._notices = notices
        session.queue.order_ended.connect(self._on_order_ended)

    def _on_order_ended(self, order: Order) -> None:
        if order.take is None or not order.is_urgent:
            return
        words = odd_length_words(order.take)
        if words:
            line_id = order.line_id
            self._notices.show_hint(words, offer=self.tr("Speak again"), call=lambda: self._speak(line_id))

    def _speak(self, line_id: str) -> None:
        if self._session.editor.project.has_line(line_id):
            self._session.speak([line_id])
