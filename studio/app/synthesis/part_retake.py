"""Speaking words of a take again. A new take contains the new words in place of the old ones."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from studio.app.background import run_in_thread
from studio.app.bridge import WorkerBridge
from studio.app.script.project_editor import ProjectEditor
from studio.app.synthesis.take_synthesis import FindVoice
from studio.audio.resampling import Samples
from studio.errors import VoiceNotFound
from studio.pipeline.request import AudioChunk
from studio.project.changes import AddTake
from studio.project.requests import request_text, require_reading
from studio.project.take_repair import TimeSpan, WordRepairPlan, plan_repair, repaired_parameters
from studio.project.takes import Take
from studio.voices.permission import consent_missing
from studio.worker.request_handle import Callbacks

if TYPE_CHECKING:
    from studio.worker.request_handle import RequestHandle

_MAX_SEED = 2**31


@dataclass(frozen=True, slots=True)
class RetakeResult:
    """A take with new words, and the position of the first of them in its recording."""

    take: Take
    start_seconds: float
    end_seconds: float


class PartRetake:
    """Speaks the words of ``take`` in ``span`` again, or those that differ from the current text of its line."""

    def __init__(self, take: Take, span: TimeSpan | None) -> None:
        self._take = take
        self._span = span
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
        engine = await bridge.load()
        voice = await run_in_thread(find_voice, take.parameters.voice_name or line.voice)
        if take.is_recording and not voice.has_consent:
            raise consent_missing(voice.reference.name)
        new_text = None if self._span else request_text(line, project.dictionary_in_force, engine.generation)

        def plan() -> WordRepairPlan:
            recording, evidence = project.recording_of(take.id), project.evidence_of(take.id)
            require_reading(take, evidence, engine)
            return plan_repair(take, recording, evidence, span=self._span, new_text=new_text)

        repair = await run_in_thread(plan)
        chunks: list[Samples] = []
        if self._is_cancelled:
            return None
        seed = secrets.randbelow(_MAX_SEED) if line.seed is None else line.seed + take.number
        request = repair.request(voice.reference, seed)
        self._request = bridge.synthesize(request, hooks=_hooks(chunks))
        report = await self._request.finished()
        if self._is_cancelled or report is None or not project.has_line(line.id):
            return None
        spoken = np.concatenate([np.zeros(0, np.float32), *chunks])
        repaired, report = await run_in_thread(repair.join, spoken, report)
        parameters = repaired_parameters(project, take, request)
        recorder = project.begin_take(line.id, parameters, take.sample_rate)
        recorder.append(repaired.samples)
        made = await run_in_thread(recorder.finish, report)
        if not project.has_line(line.id):
            return None
        made = replace(made, trim_start_seconds=take.trim_start_seconds, trim_end_seconds=take.trim_end_seconds)
        editor.push(AddTake(made), title)
        return RetakeResult(made, *repaired.spans[0])


def _hooks(chunks: list[Samples]) -> Callbacks:
    def keep(chunk: AudioChunk) -> None:
        chunks.append(np.array(chunk.samples, np.float32))

    return Callbacks(keep, lambda _stage, _share: None, lambda _start: None)
