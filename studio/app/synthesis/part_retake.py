"""Speaking part of a take again. A new take contains the new speech in place of the old."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from studio.app.background import run_in_thread
from studio.app.bridge import WorkerBridge
from studio.app.script.project_editor import ProjectEditor
from studio.app.synthesis.take_synthesis import FindVoice
from studio.audio.joining import quiet_place, replace_part
from studio.audio.resampling import Samples, resample_steeply
from studio.errors import VoiceNotFound
from studio.pipeline.request import AudioChunk
from studio.project.changes import AddTake
from studio.project.requests import synthesis_request
from studio.project.takes import Take
from studio.worker.request_handle import Callbacks

if TYPE_CHECKING:
    from studio.worker.request_handle import RequestHandle

_MAX_SEED = 2**31


@dataclass(frozen=True, slots=True)
class RetakeResult:
    """A take with a new part, and the position of the part in its recording."""

    take: Take
    start_seconds: float
    end_seconds: float


class PartRetake:
    """Speaks ``text`` again for the span of ``take`` from ``start_seconds`` to ``end_seconds`` of its recording."""

    def __init__(self, take: Take, text: str, *, start_seconds: float, end_seconds: float) -> None:
        self._take = take
        self._text = text
        self._start_seconds = start_seconds
        self._end_seconds = end_seconds
        self._request: RequestHandle | None = None
        self._is_cancelled = False

    def cancel(self) -> None:
        self._is_cancelled = True
        if self._request is not None:
            self._request.cancel()

    async def run(
        self, bridge: WorkerBridge, editor: ProjectEditor, find_voice: FindVoice, *, title: str
    ) -> RetakeResult | None:
        """Return the new take, or None if cancelled. Undo removes the take. Raises ``StudioError``."""
        take, project = self._take, editor.project
        line = project.line(take.line_id)
        if line.voice is None:
            raise VoiceNotFound(
                "This line has no voice.", remedy="Choose one, or drop a recording of a voice on the window."
            )
        description = await bridge.load()
        voice = await run_in_thread(find_voice, line.voice)
        seed = secrets.randbelow(_MAX_SEED) if line.seed is None else line.seed + take.number
        request = synthesis_request(
            replace(line, text=self._text, speed=take.parameters.speed, seed=seed, quality=None),
            project.dictionary_in_force,
            voice=voice.reference,
            generation=description.generation,
            seed=seed,
            is_played=False,
            quality=take.parameters.quality,
            language=take.parameters.language,
        )
        chunks: list[Samples] = []
        if self._is_cancelled:
            return None
        self._request = bridge.synthesize(request, hooks=_hooks(chunks))
        await self._request.finished()
        if self._is_cancelled or not chunks or not project.has_line(line.id):
            return None
        part = resample_steeply(np.concatenate(chunks), description.sample_rate, take.sample_rate)
        recording = await run_in_thread(project.recording_of, take.id)
        start, end = self._joins(recording)
        samples = await run_in_thread(
            lambda: replace_part(recording, part, take.sample_rate, start_seconds=start, end_seconds=end)
        )
        recorder = project.begin_take(line.id, replace(take.parameters, seed=seed, odd_length=None), take.sample_rate)
        recorder.append(samples)
        made = await run_in_thread(recorder.finish)
        if not project.has_line(line.id):
            return None
        made = replace(made, trim_start_seconds=take.trim_start_seconds, trim_end_seconds=take.trim_end_seconds)
        editor.push(AddTake(made), title)
        return RetakeResult(made, start, end + (len(samples) - len(recording)) / take.sample_rate)

    def _joins(self, recording: Samples) -> tuple[float, float]:
        """Return the quiet places for the joins. The ends of the recording need none."""
        rate = self._take.sample_rate
        total = len(recording) / rate
        start = quiet_place(recording, rate, self._start_seconds) if self._start_seconds > 0 else 0.0
        end = quiet_place(recording, rate, self._end_seconds) if self._end_seconds < total else total
        return min(start, end), max(start, end)


def _hooks(chunks: list[Samples]) -> Callbacks:
    def keep(chunk: AudioChunk) -> None:
        chunks.append(np.array(chunk.samples, np.float32))

    return Callbacks(keep, lambda _stage, _share: None, lambda _start: None)
