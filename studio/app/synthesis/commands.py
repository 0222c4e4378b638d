"""Commands that speak lines: several takes, changed lines, exact takes of drafts, and converted recordings."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from PySide6.QtCore import QObject

from studio.app.playback.playback import Playback
from studio.app.script.project_editor import ProjectEditor
from studio.app.synthesis.language_check import LanguageCheck
from studio.app.synthesis.queue import SynthesisQueue
from studio.project.lines import LineState


class SynthesisCommands(QObject):
    """Queues the takes that the user asks for. Locked lines and notes are not spoken."""

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

        Lines in a language that the model has not learned are held back (``LanguageCheck``).
        """
        lines = map(self._editor.project.line, line_ids)
        unlocked = [line.id for line in lines if line.is_spoken and not line.is_locked]
        speakable = self._language_check.admit(unlocked)
        if speakable:
            jobs = self._queue.speak(speakable, num_takes=num_takes, goes_first=plays, varies_seed=varies_seed)
            if plays:
                self._playback.play_generated(jobs[0])

    def speak_changed_lines(self, among: Container[str] | None = None) -> None:
        """Queue every line with text, or those in ``among``, without an up-to-date take of plausible length."""
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
            and editor.saved_state(line.id) is not LineState.READY
        ]
        self.speak(ids, plays=False)

    def finish_drafts(self, line_ids: list[str]) -> int:
        """Queue the chosen takes that are drafts, to be spoken exactly. Return their number."""
        project = self._editor.project
        takes = [project.chosen_take(line_id) for line_id in line_ids if not project.line(line_id).is_locked]
        drafts = [take for take in takes if take is not None and take.can_be_final]
        return len(self._queue.finish_drafts(drafts))

    def convert_recording(self, line_id: str, recording: Path) -> None:
        """Queue a take that converts ``recording`` to the line's voice, and play it while it is generated."""
        self._playback.play_generated(self._queue.convert(line_id, recording))
