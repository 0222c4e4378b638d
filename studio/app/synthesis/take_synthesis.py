"""Synthesis of one take, from a line to a take in the project.

Audio passes from the worker's reader thread directly to the recorder and to the player; both get the same samples.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from studio.app.background import run_in_thread
from studio.app.bridge import WorkerBridge
from studio.app.script.project_editor import ProjectEditor
from studio.audio.player import StreamingAudio
from studio.errors import NothingToSpeak, StudioError, VoiceNotFound, WorkerDied
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
)
from studio.project.changes import AddTake
from studio.project.dictionary import PronunciationDictionary
from studio.project.fingerprint import voice_key
from studio.project.lines import Line, LineState
from studio.project.project import Project
from studio.project.recording import TakeRecorder
from studio.project.requests import final_request, language_tag, require_reading, synthesis_request, take_parameters
from studio.project.takes import Take
from studio.text.language import USUAL_RULES, ReadingRules
from studio.voices.library import VoiceLibrary
from studio.voices.permission import require_permission

if TYPE_CHECKING:
    from studio.text.styles import Styles
    from studio.worker.request_handle import RequestHandle

# Assumed until the rate has been measured.
_LETTERS_PER_SECOND = 14.0
# Weight of earlier lines, so that one short or foreign line does not distort the estimate.
_DECAY = 0.9
# Assumed length of files, such as videos, whose length is unknown until they are decoded.
_TYPICAL_RECORDING_SECONDS = 10.0
_MAX_SHARE_BEFORE_END = 0.97


@dataclass(frozen=True, slots=True)
class ResolvedVoice:
    """Reference to a voice for the worker, and the data that a take records about the voice."""

    reference: VoiceReference
    sha256: str
    key: str
    has_consent: bool = False


FindVoice = Callable[[str], ResolvedVoice]


def find_voice(library: VoiceLibrary, name: str) -> ResolvedVoice:
    """Callable from any thread. Raises ``VoiceNotFound``, ``ConsentExpired`` and ``ConsentMissing``."""
    voice = library.get(name)
    require_permission(voice)
    reference = VoiceReference(voice.clip, voice.transcript, voice.name)
    return ResolvedVoice(reference, voice.sha256, voice_key(voice), has_consent=bool(voice.consent))


class SpeechRateEstimator:
    """Running estimate of the seconds of speech per letter, and of the work per second of speech."""

    def __init__(self) -> None:
        self._letters = self._audio_seconds = self._work_seconds = 0.0

    def add(self, text: str, report: SynthesisReport) -> None:
        if text and report.audio_seconds:
            self._letters = _DECAY * self._letters + len(text)
            self._audio_seconds = _DECAY * self._audio_seconds + report.audio_seconds
            self._work_seconds = _DECAY * self._work_seconds + report.total_seconds

    def audio_seconds(self, text: str) -> float:
        seconds_per_letter = self._audio_seconds / self._letters if self._letters else 1 / _LETTERS_PER_SECOND
        return max(0.5, len(text) * seconds_per_letter)

    def work_seconds(self, text: str) -> float | None:
        """Return the estimated seconds of work for ``text``; None before the first measurement."""
        if not self._audio_seconds:
            return None
        return self.audio_seconds(text) * self._work_seconds / self._audio_seconds


class TakeSynthesis(QObject):
    """Synthesis of one take.

    Emits its signals on the GUI thread, while ``audio`` grows on the worker's reader thread.
    """

    prepared = Signal()  # ``audio`` exists and is still empty
    audio_started = Signal()  # the first chunk has arrived
    progressed = Signal(str, float)  # stage ("load", "voice", "speech"), progress 0..1
    start_time_known = Signal(object)  # StartTime: replaces the previous one

    def __init__(
        self,
        line: Line,
        seed: int,
        rate_estimator: SpeechRateEstimator,
        parent: QObject | None = None,
        *,
        source: Path | None = None,
        in_batch: bool = False,
        keeps_leading_silence: bool = False,
        reading: ReadingRules = USUAL_RULES,
        snapshot_dictionary: PronunciationDictionary | None = None,
        retry_of: str | None = None,
        draft: Take | None = None,
    ) -> None:
        """If ``source`` is given, convert that recording to the voice of ``line`` instead of speaking its text.

        A take ``in_batch`` is not played while it is generated, and may be generated concurrently with others. With
        ``snapshot_dictionary``, the take is recorded even if ``line`` has been removed from the project. A take with
        ``retry_of`` is not chosen at once, because it has to be checked first. With ``draft``, that take is spoken
        exactly, with the same reading, and replaces it as the chosen one.
        """
        super().__init__(parent)
        self.line = line
        self.source = source
        self.seed = seed
        self.audio: StreamingAudio | None = None
        self.take_id: str | None = None
        self.number = 0
        self.report: SynthesisReport | None = None
        self.first_audio_seconds: float | None = None
        self.num_underruns: Callable[[], int | None] = lambda: None
        self._rate_estimator = rate_estimator
        self._in_batch = in_batch
        self._keeps_leading_silence = keeps_leading_silence
        self._reading = reading
        self._snapshot_dictionary = snapshot_dictionary
        self._retry_of = retry_of
        self._draft = draft
        self._recorder: TakeRecorder | None = None
        self._request: RequestHandle | None = None
        self._stopped = asyncio.Event()
        self._expected_seconds = rate_estimator.audio_seconds(line.text)
        self._began = 0.0
        self._loop = asyncio.get_event_loop()

    def stop(self) -> None:
        """Stop generating and keep the audio so far as an incomplete take."""
        self._stopped.set()
        if self._request is not None:
            self._request.cancel()

    def release_audio(self) -> None:
        """Drop the audio, which the project now has. A player keeps its own reference."""
        self.audio = self._recorder = None

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    @property
    def real_time_factor(self) -> float | None:
        """Seconds of work per second of speech generated so far."""
        if self.audio is None or not self.audio.num_samples:
            return None
        return (time.monotonic() - self._began) / self.audio.seconds

    async def run(self, bridge: WorkerBridge, editor: ProjectEditor, find_voice: FindVoice) -> Take | None:
        """Generate the take, add it to the project and return it, or return None if stopped before the first audio.

        Raises ``StudioError``.
        """
        from studio.worker.request_handle import Callbacks  # noqa: PLC0415 - after the first paint

        line = self.line
        if self.source is None and not line.text.strip():
            raise empty_line_error()
        if line.voice is None:
            raise VoiceNotFound(
                "This line has no voice.", remedy="Choose one, or drop a recording of a voice on the window."
            )
        self.progressed.emit("load", 0.0)
        description = await self._unless_stopped(bridge.load())
        voice_name = self._draft.parameters.voice_name if self._draft is not None else ""
        voice = await run_in_thread(find_voice, voice_name or line.voice)
        if description is None or self._stopped.is_set():
            return None
        project = editor.project
        dictionary = self._snapshot_dictionary or project.dictionary_in_force
        request = await self._make_request(project, dictionary, voice.reference, description)
        parameters = take_parameters(
            line,
            dictionary,
            request,
            voice_sha256=voice.sha256,
            voice_key=voice.key,
            engine=description,
            draft=self._draft,
        )
        recorder = project.begin_take(line.id, parameters, description.sample_rate)
        self.take_id, self.number = recorder.take_id, recorder.number
        self._recorder = recorder
        self.audio = StreamingAudio(description.sample_rate)
        self._began = time.monotonic()
        self.prepared.emit()
        hooks = Callbacks(self._on_audio, self.progressed.emit, self.start_time_known.emit)
        failure: BaseException | None = None
        try:
            if isinstance(request, ConversionRequest):
                self._request = bridge.convert(request, hooks=hooks)
            else:
                self._request = bridge.synthesize(request, hooks=hooks, in_batch=self._in_batch)
            if self.is_stopped:  # ``stop`` was called while there was no request
                self._request.cancel()
            self.report = await self._request.finished()
        except BaseException as error:  # noqa: BLE001 - raised again after the audio is saved
            failure = error
            if isinstance(error, WorkerDied):
                bridge.worker_died()
        finally:
            self.audio.complete()
        take = await self._save_take(editor, recorder)
        if failure is not None:
            raise failure
        return take

    async def _make_request(
        self,
        project: Project,
        dictionary: PronunciationDictionary,
        voice: VoiceReference,
        description: EngineDescription,
    ) -> SynthesisRequest | ConversionRequest:
        line, quality = self.line, project.script.details.quality
        if self.source is not None:
            from studio.voices.clip_intake import clip_seconds  # noqa: PLC0415 - after the first paint

            self._expected_seconds = await run_in_thread(clip_seconds, self.source) or _TYPICAL_RECORDING_SECONDS
            return ConversionRequest(
                self.source, voice, speed=line.speed, seed=self.seed, quality=line.quality or quality
            )
        if self._draft is not None:
            evidence = await run_in_thread(project.evidence_of, self._draft.id)
            require_reading(self._draft, evidence, description)
            return final_request(self._draft, evidence, voice=voice, keeps_leading_silence=self._keeps_leading_silence)
        styles = None if line.style.is_plain else await run_in_thread(_styles_of, description)
        return synthesis_request(
            line,
            dictionary,
            voice=voice,
            generation=description.generation,
            seed=self.seed,
            is_played=not self._in_batch and not _has_odd_take(project, line),
            keeps_leading_silence=self._keeps_leading_silence,
            styles=styles,
            quality=quality,
            language=language_tag(line, project.script.language, self._reading),
        )

    async def _unless_stopped(self, loading: Coroutine[Any, Any, EngineDescription]) -> EngineDescription | None:
        """Return the result of ``loading``, or None if stopped. In that case loading continues for other requests."""
        loaded = asyncio.ensure_future(loading)
        stopped = asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait((loaded, stopped), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            loaded.cancel()
            raise
        finally:
            stopped.cancel()
            loaded.add_done_callback(_ignore_failure)
        return None if self.is_stopped else loaded.result()

    async def _save_take(self, editor: ProjectEditor, recorder: TakeRecorder) -> Take | None:
        """Save the audio as a take, complete or not, unless the line has been deleted."""
        is_removed = not editor.project.has_line(self.line.id)
        if is_removed and (self._snapshot_dictionary is None or self.report is None):
            await run_in_thread(recorder.discard)
            return None
        if self.report is not None:
            if self.source is None:
                self._rate_estimator.add(self.line.text, self.report)
            report = self.report
            take: Take | None = await run_in_thread(lambda: recorder.finish(report, num_underruns=self.num_underruns()))
        else:
            take = await run_in_thread(lambda: recorder.stop(num_underruns=self.num_underruns()))
        if take is None or not editor.project.has_line(self.line.id):
            return take if self._snapshot_dictionary is not None else None
        line = editor.project.line(self.line.id)
        is_current = self._snapshot_dictionary is None or editor.project.state_of(line.id) is not LineState.READY
        is_wanted = take.is_complete and is_current and self._retry_of is None
        take = replace(take, retry_of=self._retry_of)
        if self._draft is not None:
            is_wanted = take.is_complete and line.chosen_take == self._draft.id
            trims = self._draft.trim_start_seconds, self._draft.trim_end_seconds
            take = replace(take, trim_start_seconds=trims[0], trim_end_seconds=trims[1])
        has_better = line.chosen_take is not None and not is_wanted
        editor.apply(AddTake(take, is_chosen=not line.is_locked and not has_better))
        return take

    def _on_audio(self, chunk: AudioChunk) -> None:
        """Store a chunk. Runs on the worker's reader thread."""
        assert self.audio is not None and self._recorder is not None  # noqa: PT018
        is_first = not self.audio.num_samples
        self.audio.append(chunk.samples)
        self._recorder.append(chunk.samples)
        share = min(self.audio.seconds / self._expected_seconds, _MAX_SHARE_BEFORE_END)
        if chunk.num_sentences > 1:
            share = max(share, chunk.sentence_index / chunk.num_sentences)
        if is_first:
            self.first_audio_seconds = time.monotonic() - self._began
        self._loop.call_soon_threadsafe(self._emit_progress, is_first, share)

    def _emit_progress(self, is_first: bool, share: float) -> None:
        if is_first:
            self.audio_started.emit()
        self.progressed.emit("speech", share)


def empty_line_error() -> NothingToSpeak:
    return NothingToSpeak("This line is empty.", remedy="Write some text first.")


def _has_odd_take(project: Project, line: Line) -> bool:
    """Return whether the chosen take has an odd length, so that the new one is checked before it is played."""
    chosen = project.chosen_take(line.id) if project.has_line(line.id) else None
    return chosen is not None and chosen.parameters.odd_length is not None


def _styles_of(description: EngineDescription) -> Styles | None:
    """Return the styles of the loaded model. If they cannot be read, the worker reports it."""
    from studio.catalog.model_styles import styles_of_model  # noqa: PLC0415 - after the first paint

    try:
        return styles_of_model(description.generation, Path(description.folder))
    except StudioError:
        return None


def _ignore_failure(loaded: asyncio.Future[EngineDescription]) -> None:
    """Mark the error of a failed load as handled, because the bridge reports it."""
    if not loaded.cancelled():
        loaded.exception()
