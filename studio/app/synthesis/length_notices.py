"""Notices about takes whose length does not fit their text, with an offer to speak the line again."""

from __future__ import annotations

from PySide6.QtCore import QObject

from studio.app.notifications import NotificationBar
from studio.app.script.line_statuses import odd_length_warning
from studio.app.session import Session
from studio.app.synthesis.queue import SynthesisJob


class LengthNotices(QObject):
    """Shows notices for takes the user has just heard; the script table marks the others."""

    def __init__(self, session: Session, notices: NotificationBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._notices = notices
        session.queue.job_finished.connect(self._on_job_finished)

    def _on_job_finished(self, job: SynthesisJob) -> None:
        if job.take is None or not job.is_urgent:
            return
        words = odd_length_warning(job.take)
        if words:
            line_id = job.line_id
            self._notices.show_hint(words, offer=self.tr("Speak again"), call=lambda: self._speak(line_id))

    def _speak(self, line_id: str) -> None:
        if self._session.editor.project.has_line(line_id):
            self._session.speak([line_id])
