"""Audio of takes for playback with their current edits, including edits made during playback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject

from studio.app.background import run_in_thread
from studio.app.playback.audio_player import AudioPlayer, NowPlaying
from studio.app.script.project_editor import ProjectEditor
from studio.audio.edits import AudioEdits
from studio.audio.player import StreamingAudio
from studio.project.project import Project

Run = Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]


async def read_take(project: Project, take_id: str) -> NowPlaying:
    """Return the audio of a take with its current edits. Raises ``TakeNotFound``."""
    take, edits = project.take(take_id), present_edits(project, take_id)
    samples = await run_in_thread(lambda: edits.apply(project.recording_of(take_id), take.sample_rate))
    return NowPlaying(take.line_id, take_id, StreamingAudio.of(samples, take.sample_rate), edits)


def present_edits(project: Project, take_id: str) -> AudioEdits:
    """Return the edits of a take; a take that is still being generated has none."""
    is_known = take_id in project.script.line_of_take
    return project.edits_of(project.take(take_id)) if is_known else AudioEdits()


class EditedPlayback(QObject):
    """Makes edits of volume, speed, trim and fades audible at once: playback continues at the same position."""

    def __init__(self, editor: ProjectEditor, player: AudioPlayer, run: Run, parent: QObject | None = None) -> None:
        """``run`` starts a coroutine (``WorkerBridge.run``)."""
        super().__init__(parent)
        self._editor = editor
        self._player = player
        self._run = run
        self._is_reading = False
        editor.script_changed.connect(self._on_script_changed)

    def _on_script_changed(self) -> None:
        if self._outdated is not None and not self._is_reading:
            self._run(self._renew())

    @property
    def _outdated(self) -> NowPlaying | None:
        """The take that is playing, unless it has the current edits."""
        playing, project = self._player.now_playing, self._editor.project
        if playing is None or not self._player.is_playing or not playing.audio.is_complete:
            return None
        is_known = playing.take_id in project.script.line_of_take
        return playing if is_known and playing.edits != present_edits(project, playing.take_id) else None

    async def _renew(self) -> None:
        self._is_reading = True
        try:
            while (playing := self._outdated) is not None:
                renewed = await read_take(self._editor.project, playing.take_id)
                if self._player.is_playing and self._player.now_playing is playing:
                    place = playing.edits.recorded_seconds(self._player.position_seconds)
                    self._player.play(renewed, start_seconds=renewed.edits.edited_seconds(place))
        finally:
            self._is_reading = False
