"""Reports about synthesis: the current task for the status bar, and notices about takes of unusual length."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from studio.app.bridge import EngineState
from studio.app.error_text import format_error
from studio.app.notifications import NotificationBar
from studio.app.script.line_statuses import odd_length_warning
from studio.app.session import Session
from studio.app.synthesis.queue import SynthesisJob
from studio.app.translation import join_names, join_phrases, join_sentences
from studio.errors import StudioError

_MESSAGE_MILLISECONDS = 6_000
_COUNTDOWN_MILLISECONDS = 250


class TaskReporter(QObject):
    """Reports the most important task of the session."""

    task_changed = Signal(
        str, object, bool
    )  # text (may be empty), progress (0..1 or None), whether it can be cancelled
    message_changed = Signal(str)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._document_task: str | None = None
        self._message = QTimer(self, singleShot=True, interval=_MESSAGE_MILLISECONDS)
        self._message.timeout.connect(self.clear_message)
        self._countdown = QTimer(self, interval=_COUNTDOWN_MILLISECONDS)
        self._countdown.timeout.connect(self.show)
        self._update_timer = QTimer(self, singleShot=True)  # combines many changes into one update
        self._update_timer.timeout.connect(self.show)
        session.queue.job_changed.connect(self._on_job_changed)
        session.queue.became_idle.connect(self.show)
        session.playback.player.ended.connect(self.show)

    def _on_job_changed(self) -> None:
        self._update_timer.start()

    def show_message(self, words: str) -> None:
        """Show a temporary message, unless a task is running."""
        if not self._task():
            self.message_changed.emit(words)
            self._message.start()

    def clear_message(self) -> None:
        self._message.stop()
        self.message_changed.emit("")

    def show_document_task(self, words: str | None) -> None:
        self._document_task = words
        self.show()

    def show(self) -> None:
        task = self._task()
        if task:
            self._message.stop()
            self.task_changed.emit(*task)
        elif not self._message.isActive():
            self.task_changed.emit("", None, False)
        is_waiting = self._session.playback.player.starts_in_seconds is not None
        if is_waiting != self._countdown.isActive():
            self._countdown.start() if is_waiting else self._countdown.stop()

    def _task(self) -> tuple[str, float | None, bool] | None:
        job = self._session.queue.current
        if job is not None:
            return self._job_text(job), job.share or None, True
        if self._document_task is not None:
            return self._document_task, None, False
        if self._session.bridge.engine.state is EngineState.LOADING:
            return self.tr("Loading the model"), None, False
        return None

    def _job_text(self, job: SynthesisJob) -> str:
        row = self._session.editor.script.index_of.get(job.line_id)
        number = "" if row is None else str(row + 1)
        match job.stage:
            case "load" if self._session.bridge.engine.state is EngineState.LOADING:
                words = self.tr("Line {number}: loading the model")
            case "voice":
                words = self.tr("Line {number}: preparing the voice")
            case "quality":
                words = self.tr("Line {number}: measuring the quality")
            case "connect":
                words = self.tr("Line {number}: connecting again")
            case _:
                words = self.tr("Speaking line {number}")
        parts = [words.format(number=number)]
        seconds = self._session.playback.player.starts_in_seconds
        if seconds is not None and seconds > 0.5:  # shorter waits are not worth mentioning
            parts.append(self.tr("playback starts in {seconds:.0f} s").format(seconds=seconds))
        num_others = len(self._session.queue.running) - 1
        if num_others > 0:
            parts.append(self.tr("%n more in parallel", "", num_others))
        num_waiting = len(self._session.queue.clearable)
        if not num_waiting:
            return join_phrases(parts)
        parts.append(self.tr("%n queued", "", num_waiting))
        return join_sentences((join_phrases(parts), self.tr("(Esc twice clears the queue)")))


class LengthNotices(QObject):
    """Offers to speak a line again if the played take has an unusual length for its text.

    Takes that were not played, or that the model cannot speak well, are only marked in the script.
    """

    def __init__(self, session: Session, notices: NotificationBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._notices = notices
        session.queue.job_finished.connect(self._on_job_finished)

    def _on_job_finished(self, job: SynthesisJob) -> None:
        if job.take is None or not job.is_urgent:
            return
        from studio.catalog.language_check import unlearned_language  # noqa: PLC0415 - after the first paint

        if unlearned_language(job.take.parameters.model_name, job.take.parameters.text):
            return  # the user had the line spoken in spite of its language, so another take is no better
        words = odd_length_warning(job.take)
        if words:
            line_id = job.line_id
            call = partial(self._speak, line_id)
            self._notices.show_hint(words, offer=self.tr("Speak again"), call=call, is_about_script=True)

    def _speak(self, line_id: str) -> None:
        if self._session.editor.project.has_line(line_id):
            self._session.synthesis.speak([line_id])


class LineNotices(QObject):
    """Reports styles and sounds that the model does not have, and lines without a text.

    The number of takes without their style is reported when the queue is empty; tags of sounds, such as
    ``[laughter]``, before the first line with them is spoken.
    """

    def __init__(self, session: Session, notices: NotificationBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._notices = notices
        self._line_ids: set[str] = set()
        self._model = ""
        self._session = session
        self._known_sounds: set[tuple[str, str]] = set()  # models and tags that were reported
        session.synthesis.queued.connect(self._on_queued)
        session.synthesis.all_empty.connect(self._on_all_empty)
        session.queue.job_finished.connect(self._on_job_finished)
        session.queue.became_idle.connect(self._show)
        session.editor.project_replaced.connect(self._line_ids.clear)

    def _on_job_finished(self, job: SynthesisJob) -> None:
        if job.take is not None and job.take.parameters.omitted_style is not None:
            self._line_ids.add(job.line_id)
            self._model = job.take.parameters.model_name

    def _on_all_empty(self, error: StudioError) -> None:
        self._notices.show_hint(format_error(error))

    def _on_queued(self, line_ids: list[str]) -> None:
        model = self._session.bridge.engine.folder.name
        styles, project = self._session.model_selection.styles, self._session.editor.project
        texts = [project.line(line_id).text for line_id in line_ids]
        sounds = {tag for text in texts for tag in styles.unlearned_sounds(text)}
        if not {(model, tag) for tag in sounds} <= self._known_sounds:
            self._known_sounds |= {(model, tag) for tag in sounds}
            words = self.tr("{model} has not learned the sound {tags}. A line with nothing else may stay silent.")
            words = words.format(model=model, tags=join_names(sorted(sounds)))
            self._notices.show_hint(words, is_about_script=True)

    def _show(self) -> None:
        if self._line_ids:
            words = self.tr("%n line(s) spoken without style: {model} does not support it.", "", len(self._line_ids))
            self._line_ids.clear()
            self._notices.show_hint(words.format(model=self._model), is_about_script=True)
