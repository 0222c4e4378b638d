"""Commands that speak lines: several takes, changed lines, exact takes of drafts, and converted recordings.

Lines in a language that the loaded model has not learned are spoken only if the user confirms it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.app.bridge import Engine, WorkerBridge
from studio.app.playback.playback import Playback
from studio.app.script.line_statuses import LineStatus, LineStatusStore
from studio.app.script.project_editor import ProjectEditor
from studio.app.synthesis.queue import SynthesisQueue
from studio.app.synthesis.take_synthesis import empty_line_error
from studio.project.lines import LineState


class SynthesisCommands(QObject):
    """Queues the takes that the user asks for. Locked lines and notes are not spoken."""

    queued = Signal(list)  # ids of lines that will be spoken
    all_empty = Signal(object)  # StudioError, if no line to speak has a text

    def __init__(
        self,
        editor: ProjectEditor,
        queue: SynthesisQueue,
        playback: Playback,
        language_check: LanguageCheck,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._editor = editor
        self._queue = queue
        self._playback = playback
        self._language_check = language_check

    def speak(self, line_ids: list[str], *, num_takes: int = 1, plays: bool = True, varies_seed: bool = False) -> None:
        """Queue takes of lines; if ``plays``, play the first one while it is generated.

        Empty lines are left out. Lines in a language that the model has not learned are held back (``LanguageCheck``).
        """
        lines = map(self._editor.project.line, line_ids)
        unlocked = [line for line in lines if line.is_spoken and not line.is_locked]
        written = [line.id for line in unlocked if line.text.strip()]
        if unlocked and not written:
            self.all_empty.emit(empty_line_error())
        speakable = self._language_check.admit(written)
        if speakable:
            jobs = self._queue.speak(speakable, num_takes=num_takes, goes_first=plays, varies_seed=varies_seed)
            self.queued.emit(speakable)
            if plays:
                self._playback.play_generated(jobs[0])

    def speak_changed_lines(self, among: Container[str] | None = None) -> None:
        """Queue every line with text, or those in ``among``, without an up-to-date take of plausible length.

        Lines whose check found problems are left out, because the check has already had them spoken again.
        """
        editor = self._editor
        waiting = {job.line_id for job in self._queue.jobs if not job.state.is_over}
        ids = [
            line.id
            for line in editor.project.lines
            if line.text.strip()
            and (among is None or line.id in among)
            and line.is_spoken
            and not line.is_locked
            and line.id not in waiting
            and self._is_due(line.id)
        ]
        self.speak(ids, plays=False)

    def _is_due(self, line_id: str) -> bool:
        state, take = self._editor.saved_state(line_id), self._editor.project.chosen_take(line_id)
        was_checked = take is not None and take.check is not None
        return state is not LineState.READY and not (state is LineState.CHECK and was_checked)

    def finish_drafts(self, line_ids: list[str]) -> int:
        """Queue the chosen takes that are drafts, to be spoken exactly. Return their number."""
        project = self._editor.project
        takes = [project.chosen_take(line_id) for line_id in line_ids if not project.line(line_id).is_locked]
        drafts = [take for take in takes if take is not None and take.can_be_final]
        return len(self._queue.finish_drafts(drafts))

    def convert_recording(self, line_id: str, recording: Path) -> None:
        """Queue a take that converts ``recording`` to the line's voice, and play it while it is generated."""
        self._playback.play_generated(self._queue.convert(line_id, recording))


@dataclass(frozen=True, slots=True)
class HeldLines:
    """Lines that were not spoken because of their language."""

    line_ids: tuple[str, ...]
    languages: frozenset[str]  # language codes of their texts
    model_name: str


class LanguageCheck(QObject):
    """Holds back lines that the model would speak unintelligibly, and marks them in the script."""

    held_back = Signal(object)  # HeldLines
    released = Signal()  # lines are no longer held back

    def __init__(
        self,
        editor: ProjectEditor,
        line_statuses: LineStatusStore,
        bridge: WorkerBridge,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._editor = editor
        self._line_statuses = line_statuses
        self._bridge = bridge
        self._model_name = bridge.engine.folder.name
        self._text_of_held: dict[str, str] = {}
        self._allowed: set[str] = set()
        self._allows_all = False
        editor.script_changed.connect(self._on_script_changed)
        editor.project_replaced.connect(self._on_project_replaced)
        bridge.engine_changed.connect(self._on_engine_changed)

    def admit(self, line_ids: Iterable[str]) -> list[str]:
        """Return the lines that may be spoken. Mark the others and report them with ``held_back``."""
        wanted = list(line_ids)
        languages = self.unlearned_languages(wanted)
        admitted = [line_id for line_id in wanted if line_id not in languages]
        self._release(admitted)
        if languages:
            from studio.catalog.language_check import language_error  # noqa: PLC0415 - after the first paint

            error = language_error(self._model_name)
            for line_id in languages:
                self._text_of_held[line_id] = self._editor.project.line(line_id).text
                self._line_statuses.set(line_id, LineStatus(LineState.CHECK, error=error))
            self.held_back.emit(HeldLines(tuple(languages), frozenset(languages.values()), self._model_name))
        return admitted

    def unlearned_languages(self, line_ids: Iterable[str]) -> dict[str, str]:
        """Return the language codes of the lines that the model has not learned and the user has not allowed."""
        if self._allows_all:
            return {}
        from studio.catalog.language_check import unlearned_languages  # noqa: PLC0415 - after the first paint

        project = self._editor.project
        lines = [project.line(line_id) for line_id in line_ids if line_id not in self._allowed]
        languages = unlearned_languages(self._model_name, [line.text for line in lines])
        return {line.id: language for line, language in zip(lines, languages, strict=True) if language is not None}

    def allow(self, line_ids: Iterable[str]) -> None:
        """Allow these lines to be spoken, until the program ends."""
        self._allowed.update(line_ids)
        self._release(line_ids)

    def allow_all(self) -> None:
        """Allow all lines to be spoken until the program ends."""
        self._allows_all = True
        self._release(list(self._text_of_held))

    def _release(self, line_ids: Iterable[str]) -> None:
        for line_id in line_ids:
            if self._text_of_held.pop(line_id, None) is None:
                continue
            status = self._line_statuses.of(line_id)
            if status is not None and status.state is LineState.CHECK:
                self._line_statuses.set(line_id, None)
            if not self._text_of_held:
                self.released.emit()

    def _on_script_changed(self) -> None:
        """Release lines that were edited, deleted or spoken by an export."""
        project = self._editor.project
        changed = [
            line_id
            for line_id, text in self._text_of_held.items()
            if not project.has_line(line_id)
            or project.line(line_id).text != text
            or project.state_of(line_id) in (LineState.READY, LineState.CHECK)
        ]
        self._release(changed)

    def _on_project_replaced(self) -> None:
        self._allowed.clear()
        self._release(list(self._text_of_held))

    def _on_engine_changed(self, engine: Engine) -> None:
        if engine.folder.name != self._model_name:
            self._model_name = engine.folder.name
            self._allowed.clear()
            self._release(list(self._text_of_held))
