"""One take being made: from what the line says to a take in the project. Lasts as long as the request.

Sound goes from the worker's reading thread straight into the recorder and to whoever plays or draws it:
both are given the very same samples.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from studio.app.bridge import WorkerBridge
from studio.app.script.project_editor import ProjectEditor
from studio.audio.streaming_audio import StreamingAudio
from studio.errors import NothingToSpeak, VoiceNotFound, WorkerDied
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
)
from studio.project.changes import AddTake
from studio.project.lines import Line
from studio.project.project import Project
from studio.project.recording import TakeRecorder
from studio.project.requests import synthesis_request, take_parameters
from studio.project.takes import Take

if TYPE_CHECKING:
    from studio.worker.request_handle import RequestHandle, StartTime

# Speech of so many letters takes about a second; only for the first line, then it is measured.
_LETTERS_A_SECOND = 14.0
# With each further line: one short or foreign line must not turn minutes into seconds.
_REMEMBERED = 0.9
# Of a film, say, whose length is known only once it has been read.
_USUAL_RECORDING_SECONDS = 10.0
_NEVER_DONE_BEFORE_THE_END = 0.97


@dataclass(frozen=True, slots=True)
class ResolvedVoice:
    """A voice as the worker is told of it, and what a take remembers of it."""

    reference: VoiceReference
    sha256: str
    key: str


FindVoice = Callable[[str], ResolvedVoice]


class SpeechRateEstimator:
    """How much speech a letter makes and how long that takes, as seen in this session: of late more than before."""

    def __init__(self) -> None:
        self._letters = self._audio_seconds = self._work_seconds = 0.0

    def saw(self, text: str, report: SynthesisReport) -> None:
        if text and report.audio_seconds:
            self._letters = _REMEMBERED * self._letters + len(text)
            self._audio_seconds = _REMEMBERED * self._audio_seconds + report.audio_seconds
            self._work_seconds = _REMEMBERED * self._work_seconds + report.total_seconds

    def audio_seconds(self, text: str) -> float:
        seconds_a_letter = self._audio_seconds / self._letters if self._letters else 1 / _LETTERS_A_SECOND
        return max(0.5, len(text) * seconds_a_letter)

    def work_seconds(self, text: str) -> float | None:
        """None while nothing has been measured."""
        if not self._audio_seconds:
            return None
        return self.audio_seconds(text) * self._work_seconds / self._audio_seconds


class TakeSynthesis(QObject):
    """Signals come on the window's thread; ``sound`` grows on the worker's reading thread."""

    prepared = Signal()  # ``sound`` is there, still empty: speech is about to be made
    audio_started = Signal()  # the first sound is there
    progressed = Signal(str, float)  # stage ("load", "voice", "speech"), share 0..1
    start_time_known = Signal(object)  # StartTime: later ones take the place of earlier ones

    def __init__(
        self,
        line: Line,
        seed: int,
        pace: SpeechRateEstimator,
        parent: QObject | None = None,
        *,
        source: Path | None = None,
        in_batch: bool = False,
        keeps_leading_silence: bool = False,
    ) -> None:
        """``source``: a recording to be said in the voice of ``line``, instead of its text.

        ``in_batch``: nobody waits to hear it, and others may be made at the same time.
        """
        super().__init__(parent)
        self.line = line
        self.source = source
        self.seed = seed
        self.sound: StreamingAudio | None = None
        self.take_id: str | None = None
        self.number = 0
        self.report: SynthesisReport | None = None
        self.first_audio_seconds: float | None = None
        self.num_underruns: Callable[[], int | None] = lambda: None
        self._pace = pace
        self._in_batch = in_batch
        self._keeps_leading_silence = keeps_leading_silence
        self._recorder: TakeRecorder | None = None
        self._request: RequestHandle | None = None
        self._stopped = asyncio.Event()
        self._expected_seconds = pace.audio_seconds(line.text)
        self._began = 0.0
        self._loop = asyncio.get_event_loop()

    def stop(self) -> None:
        """No more is made; what there is stays as a take."""
        self._stopped.set()
        if self._request is not None:
            self._request.cancel()

    def forget_sound(self) -> None:
        """It is in the project now; who is still hearing it holds on to it."""
        self.sound = self._recorder = None

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    @property
    def pace_so_far(self) -> float | None:
        """Seconds of work for a second of speech, while it is being made."""
        if self.sound is None or not self.sound.num_samples:
            return None
        return (time.monotonic() - self._began) / self.sound.seconds

    async def run(self, bridge: WorkerBridge, editor: ProjectEditor, find_voice: FindVoice) -> Take | None:
        """The take, which is then in the project; None if it was stopped before it said anything. Raises StudioError."""
        from studio.worker.request_handle import Callbacks  # noqa: PLC0415 - after the first paint

        line = self.line
        if self.source is None and not line.text.strip():
            raise NothingToSpeak("This line is empty.", remedy="Write what is to be spoken.")
        if line.voice is None:
            raise VoiceNotFound(
                "This line has no voice.", remedy="Choose one, or drop a recording of a voice on the window."
            )
        self.progressed.emit("load", 0.0)
        description = await self._unless_stopped(bridge.ready())
        voice = await asyncio.to_thread(find_voice, line.voice)
        if description is None or self._stopped.is_set():
            return None
        project = editor.project
        request: SynthesisRequest | ConversionRequest
        if self.source is not None:
            request = ConversionRequest(self.source, voice.reference, speed=line.speed, seed=self.seed)
            from studio.voices.clip_intake import clip_seconds  # noqa: PLC0415 - after the first paint

            self._expected_seconds = await asyncio.to_thread(clip_seconds, self.source) or _USUAL_RECORDING_SECONDS
        else:
            request = synthesis_request(
                line,
                project.dictionary_in_force,
                voice=voice.reference,
                generation=description.generation,
                seed=self.seed,
                is_played=not self._in_batch and not _has_odd_take(project, line),
                keeps_leading_silence=self._keeps_leading_silence,
            )
        recipe = take_parameters(
            line,
            project.dictionary_in_force,
            request,
            voice_sha256=voice.sha256,
            voice_key=voice.key,
            engine=description,
        )
        recorder = project.begin_take(line.id, recipe, description.sample_rate)
        self.take_id, self.number = recorder.take_id, recorder.number
        self._recorder = recorder
        self.sound = StreamingAudio(description.sample_rate)
        self._began = time.monotonic()
        self.prepared.emit()
        hooks = Callbacks(self._on_audio, self.progressed.emit, self.start_time_known.emit)
        failure: BaseException | None = None
        try:
            if isinstance(request, ConversionRequest):
                self._request = bridge.convert(request, hooks)
            else:
                self._request = bridge.speak(request, hooks, in_batch=self._in_batch)
            if self.is_stopped:  # meanwhile
                self._request.cancel()
            self.report = await self._request.finished()
        except BaseException as error:  # noqa: BLE001 - raised again, once what was made is safe
            failure = error
            if isinstance(error, WorkerDied):
                bridge.worker_died()
        finally:
            self.sound.complete()
        take = await self._keep(editor, recorder)
        if failure is not None:
            raise failure
        return take

    async def _unless_stopped(self, loading: Coroutine[Any, Any, EngineDescription]) -> EngineDescription | None:
        """Loading may take a minute, and goes on for others when this is stopped: then None."""
        loaded = asyncio.ensure_future(loading)
        stopped = asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait((loaded, stopped), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            loaded.cancel()
            raise
        finally:
            stopped.cancel()
            loaded.add_done_callback(_hear_failure)
        return None if self.is_stopped else loaded.result()

    async def _keep(self, editor: ProjectEditor, recorder: TakeRecorder) -> Take | None:
        """What was made is kept, however it ended; a line that is gone takes its takes with it."""
        if not editor.project.has_line(self.line.id):
            await asyncio.to_thread(recorder.discard)
            return None
        if self.report is not None:
            if self.source is None:
                self._pace.saw(self.line.text, self.report)
            report = self.report
            take: Take | None = await asyncio.to_thread(
                lambda: recorder.finish(report, num_underruns=self.num_underruns())
            )
        else:
            take = await asyncio.to_thread(lambda: recorder.stop(num_underruns=self.num_underruns()))
        if take is None or not editor.project.has_line(self.line.id):
            return None
        line = editor.project.line(self.line.id)
        has_better = not take.is_complete and line.chosen_take is not None
        editor.apply(AddTake(take, is_chosen=not line.is_locked and not has_better))
        return take

    def _on_audio(self, chunk: AudioChunk) -> None:
        """On the worker's reading thread."""
        assert self.sound is not None and self._recorder is not None  # noqa: PT018
        is_first = not self.sound.num_samples
        self.sound.append(chunk.samples)
        self._recorder.append(chunk.samples)
        share = min(self.sound.seconds / self._expected_seconds, _NEVER_DONE_BEFORE_THE_END)
        if chunk.num_sentences > 1:
            share = max(share, chunk.sentence_index / chunk.num_sentences)
        if is_first:
            self.first_audio_seconds = time.monotonic() - self._began
        self._loop.call_soon_threadsafe(self._tell, is_first, share)

    def _tell(self, is_first: bool, share: float) -> None:
        if is_first:
            self.audio_started.emit()
        self.progressed.emit("speech", share)


def _has_odd_take(project: Project, line: Line) -> bool:
    """The chosen take is too short or too long for its text: this time the length is judged before it is heard."""
    chosen = project.chosen_take(line.id) if project.has_line(line.id) else None
    return chosen is not None and chosen.recipe.odd_length is not None


def _hear_failure(loaded: asyncio.Future[EngineDescription]) -> None:
    """Where nobody waits for it any more, the bridge tells of it."""
    if not loaded.cancelled():
        loaded.exception()


def start_in_seconds(start: StartTime) -> float:
    """From now until play may begin."""
    return max(0.0, start.loop_time - asyncio.get_event_loop().time())
