"""Application state that outlives the window: project, queue, worker, playback, voices and settings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from studio import paths
from studio.app.background import in_background
from studio.app.bridge import Engine, EngineState, WorkerBridge
from studio.app.checking.policy import policy_of
from studio.app.inspector.thumbnails import WaveformThumbnails
from studio.app.playback.audio_player import AudioPlayer, PlaybackStats
from studio.app.playback.script_player import ScriptPlayer
from studio.app.playback.take_audio import EditedPlayback, present_edits, read_take
from studio.app.script.line_statuses import LineStatusStore
from studio.app.script.project_editor import ProjectEditor, RemovedTakes
from studio.app.script.style_list import StyleList
from studio.app.synthesis.language_check import LanguageCheck
from studio.app.synthesis.queue import SynthesisJob, SynthesisQueue
from studio.app.synthesis.take_synthesis import ResolvedVoice, TakeSynthesis
from studio.app.voices.voice_edits import VoiceEdits
from studio.audio.output_device import AudioOutputs, PortAudioOutputs
from studio.audio.portaudio import device_names
from studio.audio.streaming_audio import Samples, StreamingAudio
from studio.audio.waveform import Waveform
from studio.catalog.built_in_speakers import open_voice_library
from studio.catalog.installed import DEFAULT_MODEL, installed_models
from studio.errors import ModelNotFound
from studio.pipeline.request import EngineOptions, VoiceReference
from studio.project.fingerprint import voice_key
from studio.project.lines import LineState
from studio.project.project import Project
from studio.project.takes import Take
from studio.remote.address import ServerAddress, descriptions_folder, server_token_file
from studio.settings import (
    DEVICE,
    ENGINES,
    EXPORT_WAITS_FOR_CHECKS,
    FIT_FASTEST,
    FIT_SLOWEST,
    FLOW_PRECISION,
    MODEL,
    NUM_THREADS,
    OTHER_SERVER_MODEL,
    OTHER_SERVER_VOICE,
    OTHER_SERVER_VOICES,
    OUTPUT_DEVICE,
    PREFERS_RL,
    SERVER_MODEL,
    SERVER_URL,
    SPEECH_LM_PRECISION,
    STREAMS_APPROXIMATELY,
    USES_SERVER,
)
from studio.settings_store import Settings
from studio.take_checks.policy import CheckMode, CheckPolicy
from studio.voices.library import VoiceLibrary

if TYPE_CHECKING:
    from studio.app.checking.automatic_retries import AutomaticRetries
    from studio.app.checking.take_check_queue import TakeCheckQueue
    from studio.app.dictionary.global_words import GlobalWords
    from studio.app.export_dialog.export_manager import ExportManager
    from studio.app.models.model_tasks import ModelTasks
    from studio.app.serving.serving_controller import ServingController
    from studio.app.voices.voice_importer import VoiceImportServices
    from studio.health.checks import Check
    from studio.health.report import HealthReport
    from studio.project.dubbing import FitOptions
    from studio.take_checks.service import TakeCheckService
    from studio.worker.process import Worker

_METER_MILLISECONDS = 200
_DOCTOR_RATE = 24_000
_DOCTOR_BUFFER_SECONDS = 0.2
# Changing one of these reloads the model.
_ENGINE_SETTINGS = (
    SPEECH_LM_PRECISION, FLOW_PRECISION, NUM_THREADS, PREFERS_RL, DEVICE, ENGINES, STREAMS_APPROXIMATELY,
)  # fmt: skip


def _start_process() -> Worker:
    from studio.worker.process import WorkerProcess  # noqa: PLC0415 - after the first paint

    return WorkerProcess()


def _open_checks() -> TakeCheckService:
    from studio.take_checks.service import TakeCheckService  # noqa: PLC0415 - after the first paint

    return TakeCheckService()


@dataclass(frozen=True, slots=True)
class Services:
    """External services of a session, replaced in tests."""

    start_worker: Callable[[], Worker] = _start_process
    outputs: AudioOutputs = field(default_factory=PortAudioOutputs)
    open_library: Callable[[], VoiceLibrary] = open_voice_library
    find_models: Callable[[], dict[str, Path]] = installed_models
    drafts: Path = field(default_factory=lambda: paths.data_folder() / "drafts")  # folder of unsaved projects
    open_checks: Callable[[], TakeCheckService] | None = _open_checks  # opens the process that checks takes


class Session(QObject):
    """The long-lived parts of the program that are not widgets."""

    failed = Signal(object)  # StudioError
    meters_changed = Signal(object)  # PlaybackStats
    audio_shown = Signal(object, str)  # for the waveform panel: StreamingAudio or None, and the id of its line
    settings_changed = Signal(object)  # the settings that changed; emitted on the thread that changed them

    def __init__(self, project: Project, settings: Settings, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.settings = settings
        self.services = services
        self.editor = ProjectEditor(project, self)
        self.styles = StyleList(self)
        self.line_statuses = LineStatusStore(self)
        self.library: VoiceLibrary = services.open_library()
        self.voice_edits = VoiceEdits(self.library, self.editor.undo_stack, self)
        self.removed_takes = RemovedTakes(self.editor, self)
        server = self.server()
        self.bridge = WorkerBridge(
            self._worker_starter(),
            self.speaking_folder(),
            self.engine_options(),
            self,
            server="" if server is None else server.host,
        )
        self.queue = SynthesisQueue(
            self.bridge, self.editor, self.line_statuses, self.find_voice, self, settings=settings
        )
        self.language_check = LanguageCheck(self.editor, self.line_statuses, self.bridge, self)
        self.transport = self._make_player(self)
        self._edited_playback = EditedPlayback(self.editor, self.transport, self.bridge.run, self)
        self.script_player = ScriptPlayer(self.editor, self.queue, self.transport, self.bridge.run, self)
        self.thumbnails = WaveformThumbnails(self.editor, self.bridge.run, self)
        # The job played while it is generated; None once it has ended.
        self._playing_job: SynthesisJob | None = None
        self._last_job: SynthesisJob | None = None
        self._num_takes = 0
        self._meter_timer = QTimer(self)
        self._meter_timer.setInterval(_METER_MILLISECONDS)
        self._meter_timer.timeout.connect(self.update_meters)
        self._unwatch = settings.watch(self.settings_changed.emit)
        self._connect()

    def _connect(self) -> None:
        self.settings_changed.connect(self._apply_settings)
        # synthesis
        self.queue.synthesis_started.connect(self._on_synthesis_started)
        self.queue.job_finished.connect(self._on_job_finished)
        self.queue.became_idle.connect(self.update_meters)
        self.bridge.engine_changed.connect(self._on_engine_changed)
        # playback
        self.transport.started.connect(lambda playing: self.audio_shown.emit(playing.audio, playing.line_id))
        self.transport.started.connect(lambda _: self._meter_timer.start())
        self.transport.ended.connect(self.update_meters)
        # errors of background work
        self.bridge.failed.connect(self.failed)
        self.script_player.failed.connect(self.failed)
        self.editor.failed.connect(self.failed)

    # The model.

    @cached_property
    def models(self) -> ModelTasks:
        """Installation, check and removal of models."""
        from studio.app.models.model_tasks import ModelTasks  # noqa: PLC0415 - after the first paint

        return ModelTasks(self.settings, self.bridge.run, self)

    @cached_property
    def exports(self) -> ExportManager:
        """Exports to files, which run in the background."""
        from studio.app.export_dialog.export_manager import ExportManager  # noqa: PLC0415 - after the first paint

        records = self.services.drafts.parent / "exports"
        exports = ExportManager(self.queue, self, records=records, waits_for=self._export_waits_for)
        self.retries.settled.connect(exports.take_settled)
        return exports

    def _export_waits_for(self, batch: int) -> bool:
        """Whether an export waits for the checks of the takes of this batch."""
        return self.settings[EXPORT_WAITS_FOR_CHECKS] and self.retries.is_open(batch)

    @cached_property
    def serving(self) -> ServingController:
        """The speech service for other programs, which is off at first."""
        from studio.app.serving.serving_controller import ServingController  # noqa: PLC0415 - after the first paint

        return ServingController(self.bridge, self.settings, self.services.open_library, self)

    @property
    def is_exporting(self) -> bool:
        return "exports" in self.__dict__ and self.exports.is_busy

    async def _end_exports(self) -> None:
        if "exports" in self.__dict__:
            self.exports.cancel_all()
            await self.exports.finished()

    @cached_property
    def global_words(self) -> GlobalWords:
        """Dictionary of all projects; empty until ``load``."""
        from studio.app.dictionary.global_words import GlobalWords  # noqa: PLC0415 - after the first paint

        return GlobalWords(self.editor, self)

    @cached_property
    def checker(self) -> TakeCheckQueue:
        """Checks of takes."""
        from studio.app.checking.take_check_queue import TakeCheckQueue  # noqa: PLC0415 - after the first paint

        return TakeCheckQueue(
            self.editor,
            self.services.open_checks,
            self,
            find_voice=self.find_voice,
            policy=lambda: self.check_policy,
            run=self.bridge.run,
            model_folder=self.model_folder,
        )

    @cached_property
    def retries(self) -> AutomaticRetries:
        """Automatic retries of takes that have problems."""
        from studio.app.checking.automatic_retries import AutomaticRetries  # noqa: PLC0415 - after the first paint

        return AutomaticRetries(
            self.queue,
            self.checker,
            self.editor,
            lambda: self.check_policy,
            self,
            fit_options=self.fit_options,
        )

    def fit_options(self) -> FitOptions:
        """Return the limits of fitting takes to their slots."""
        from studio.project.dubbing import FitOptions  # noqa: PLC0415 - after the first paint

        return FitOptions(self.settings[FIT_SLOWEST], self.settings[FIT_FASTEST])

    def begin_checks(self) -> None:
        """Check each new take, and those that were not checked before. Call after the first paint."""
        self.retries.begin()
        self.checker.check_unchecked()

    def server(self) -> ServerAddress | None:
        """Return the other computer that speaks, or None if this one does."""
        return self.last_server() if self.settings[USES_SERVER] and self.settings[SERVER_URL] else None

    def last_server(self) -> ServerAddress:
        """Return the server that was used last. Its address is empty if there was none."""
        settings = self.settings
        return ServerAddress(
            settings[SERVER_URL],
            server_token_file(),
            model=settings[OTHER_SERVER_MODEL],
            voice=settings[OTHER_SERVER_VOICE],
            voices=settings[OTHER_SERVER_VOICES],
        )

    def speaking_folder(self) -> Path:
        """Return the folder that describes the model in use, on this computer or another one."""
        server = self.server()
        if server is None:
            return self.model_folder()
        return descriptions_folder(server.url) / (self.settings[SERVER_MODEL] or server.host)

    def model_folder(self) -> Path:
        """Return the folder of the model that was chosen on this computer, by default of the bundled one."""
        choice = self.settings[MODEL]
        if choice and Path(choice).is_dir():
            return Path(choice)
        models = self.services.find_models()
        found = models.get(choice) or models.get(DEFAULT_MODEL) or next(iter(models.values()), None)
        return found or Path(choice or DEFAULT_MODEL)

    def engine_options(self) -> EngineOptions:
        has_reinforced = (self.model_folder() / "llm.rl.pt").is_file()
        return EngineOptions(
            device=self.settings[DEVICE],
            variant="rl" if self.settings[PREFERS_RL] and has_reinforced else None,
            speech_lm_precision=self.settings[SPEECH_LM_PRECISION],
            flow_precision=self.settings[FLOW_PRECISION],
            num_threads=self.settings[NUM_THREADS] or None,
            engines=self.settings[ENGINES],
            streams_approximately=self.settings[STREAMS_APPROXIMATELY],
            compares_later=True,
            runs_lines_in_processes=True,
        )

    def use_model(self, choice: str) -> None:
        """Load another model, given its name or folder, and cancel requests to the old one.

        Raises ``ModelNotFound``.
        """
        models = self.services.find_models()
        if choice not in models and not Path(choice).is_dir():
            raise ModelNotFound("There is no model {choice}.", remedy="Choose one that is installed.", choice=choice)
        self.settings[MODEL] = choice
        self.use_this_computer()

    def use_this_computer(self) -> None:
        """Speak with the model that was chosen on this computer."""
        self.settings[USES_SERVER] = False
        self._change_engine()

    def use_server(self, server: ServerAddress, model: str) -> None:
        """Speak through ``server``, which has told the name of its ``model``."""
        self.settings[SERVER_URL], self.settings[SERVER_MODEL] = server.url, model
        self.settings[OTHER_SERVER_MODEL], self.settings[OTHER_SERVER_VOICE] = server.model, server.voice
        self.settings[OTHER_SERVER_VOICES] = server.voices
        self.use_last_server()

    def use_last_server(self) -> None:
        """Speak through the server that was used last."""
        self.settings[USES_SERVER] = True
        self._change_engine()

    def _change_engine(self) -> None:
        server = self.server()
        self.load_styles()
        self.bridge.use_model(
            self.speaking_folder(),
            self.engine_options(),
            start_worker=self._worker_starter(),
            server="" if server is None else server.host,
        )

    def _worker_starter(self) -> Callable[[], Worker]:
        server = self.server()
        if server is None:
            return self.services.start_worker

        def connect() -> Worker:
            from studio.remote.open_worker import open_worker  # noqa: PLC0415 - after the first paint

            return open_worker(server)

        return connect

    def _on_engine_changed(self, engine: Engine) -> None:
        """Follow a server that has another model than at the last connection."""
        if engine.server and engine.state is EngineState.READY:
            self.settings[SERVER_MODEL] = engine.folder.name
            self.load_styles()

    def load_styles(self) -> None:
        """Load the styles of the model. Call after the first paint."""
        self.styles.use_model(self.speaking_folder())

    # Settings.

    def _apply_settings(self, changed: Container[object]) -> None:
        if OUTPUT_DEVICE in changed:
            self.transport.switch_device()
        if any(setting in changed for setting in _ENGINE_SETTINGS) and self.server() is None:
            self.bridge.use_model(self.model_folder(), self.engine_options())

    def device_names(self, kind: str) -> tuple[str, ...]:
        """Rescan the audio devices and return the names of those of ``kind``, "input" or "output".

        This is slow. It can be called from any thread.
        """
        self.services.outputs.rescan()
        return self.services.outputs.names() if kind == "output" else device_names("input")

    def examine(self, on_check: Callable[[Check], None]) -> HealthReport:
        """Check everything the program needs. This takes seconds and can be called from any thread.

        ``on_check`` receives each result as soon as it is known.
        """
        from studio.health.report import examine  # noqa: PLC0415 - its libraries are not needed at the start

        def require_sound_card() -> None:
            self.services.outputs.open(self._output_device(), _DOCTOR_RATE, _silence, _DOCTOR_BUFFER_SECONDS).close()

        return examine(require_sound_card, lambda: self.library, on_check)

    def _output_device(self) -> str | None:
        return self.settings[OUTPUT_DEVICE] or None

    def _make_player(self, parent: QObject) -> AudioPlayer:
        return AudioPlayer(self.services.outputs, parent, device=self._output_device)

    @property
    def check_policy(self) -> CheckPolicy:
        """The policy for checks of takes, from the settings and the project.

        Takes of a model that makes noise are not checked.
        """
        policy = self.editor.script.details.checks.over(policy_of(self.settings))
        description = self.bridge.engine.description
        makes_noise = description is not None and description.makes_noise
        return replace(policy, mode=CheckMode.OFF) if makes_noise else policy

    # Voices.

    def voice_sources(self) -> VoiceImportServices:
        """Return what the importer of voices needs: devices, worker, model folder."""
        from studio.app.voices.voice_importer import VoiceImportServices  # noqa: PLC0415 - after the first paint

        return VoiceImportServices(
            make_player=self._make_player,
            start_worker=self.services.start_worker,
            model_folder=self.model_folder,
            transcribe=None if self.services.open_checks is None else self.checker.transcribe,
        )

    def find_voice(self, name: str) -> ResolvedVoice:
        """Callable from any thread. Raises ``VoiceNotFound``."""
        voice = self.library.get(name)
        return ResolvedVoice(VoiceReference(voice.clip, voice.transcript, voice.name), voice.sha256, voice_key(voice))

    # Synthesis and playback.

    def speak(
        self, line_ids: list[str], *, num_takes: int = 1, is_heard: bool = True, has_other_seed: bool = False
    ) -> None:
        """Queue takes of the unlocked lines that are not notes; play the first one while it is generated.

        Lines in a language that the model has not learned are held back (``language_check``).
        """
        lines = map(self.editor.project.line, line_ids)
        unlocked = [line.id for line in lines if line.is_spoken and not line.is_locked]
        speakable = self.language_check.admit(unlocked)
        if not speakable:
            return
        jobs = self.queue.speak(speakable, num_takes=num_takes, goes_first=is_heard, has_other_seed=has_other_seed)
        if is_heard and not self.script_player.is_active:
            self._playing_job = jobs[0]

    def finish_drafts(self, line_ids: list[str]) -> int:
        """Queue the chosen takes of unlocked lines that are drafts, to be spoken exactly. Return their number."""
        project = self.editor.project
        takes = [project.chosen_take(line_id) for line_id in line_ids if not project.line(line_id).is_locked]
        drafts = [take for take in takes if take is not None and take.can_be_final]
        return len(self.queue.finish_drafts(drafts))

    def speak_recording(self, line_id: str, recording: Path) -> None:
        """Queue a take that converts ``recording`` to the line's voice, and play it while it is generated."""
        job = self.queue.convert(line_id, recording)
        if not self.script_player.is_active:
            self._playing_job = job

    def speak_changed_lines(self, among: Container[str] | None = None) -> None:
        """Queue every line with text, or those in ``among``, without an up-to-date take of plausible length."""
        editor = self.editor
        waiting = {job.line_id for job in self.queue.jobs if not job.state.is_over}
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
        self.speak(ids, is_heard=False)

    def play_take(self, take_id: str, *, start_seconds: float = 0.0) -> None:
        self.script_player.stop()
        self.bridge.run(self._play_take(take_id, start_seconds))

    async def _play_take(self, take_id: str, start_seconds: float) -> None:
        self.transport.play(await read_take(self.editor.project, take_id), start_seconds=start_seconds)

    async def audio_of(self, take_id: str) -> StreamingAudio:
        """Return the audio of a take with its edits. Raises ``TakeNotFound``."""
        playing, project = self.transport.now_playing, self.editor.project
        if playing is not None and playing.take_id == take_id and playing.audio.is_complete:
            has_present_edits = playing.edits == present_edits(project, take_id)
            return playing.audio if has_present_edits else (await read_take(project, take_id)).audio
        return (await read_take(project, take_id)).audio

    def waveform_of(self, take: Take) -> Waveform:
        """Return the audio of a stored take. Callable from any thread. Raises ``TakeNotFound``."""
        return Waveform(self.editor.project.samples_of(take.id), take.sample_rate)

    def stop_playback(self) -> None:
        """Stop playback, without cancelling the take being generated."""
        self.script_player.stop()
        self.transport.stop()

    def stop(self) -> bool:
        """Stop playback and cancel the take being played; return whether anything was stopped."""
        was_busy = self.transport.is_playing or self.script_player.is_active
        playing = self.transport.now_playing
        self.script_player.stop()
        self.transport.stop()
        for job in self.queue.jobs:
            # Includes jobs that are queued again after the worker ended. A stopped job is about to end; do not report
            # it as stopped twice.
            if job.state.is_over or job.synthesis is None or job.synthesis.is_stopped:
                continue
            if job is self._playing_job or (playing is not None and job.synthesis.take_id == playing.take_id):
                self.queue.cancel(job)
                was_busy = True
        return was_busy

    async def replace_project(self, project: Project, *, keeps_draft: bool = False) -> None:
        """Close the open project, cancel its jobs and show ``project``."""
        self.stop()
        await self._end_exports()
        self.queue.forget_project()
        await self.queue.finished()
        old = self.editor.project
        self.audio_shown.emit(None, "")
        self.editor.replace_project(project)
        await in_background(old.close, keeps_draft=keeps_draft)

    async def close(self, *, keeps_draft: bool) -> None:
        """End everything including the worker. Never hangs; a failing step does not prevent the others."""
        async with contextlib.AsyncExitStack() as steps:  # run in reverse job
            steps.push_async_callback(in_background, self.editor.project.close, keeps_draft=keeps_draft)
            steps.push_async_callback(self.bridge.close)
            if "models" in self.__dict__:
                steps.push_async_callback(self.models.close)
            steps.push_async_callback(self.queue.finished)
            steps.push_async_callback(self._end_exports)
            self._unwatch()
            self.editor.undo_stack.blockSignals(True)
            self._meter_timer.stop()
            if "checker" in self.__dict__:
                self.checker.close()
            if "serving" in self.__dict__:
                self.serving.release()
                steps.push_async_callback(self.serving.finished)
            self.stop()
            self.queue.cancel_all()

    # Slots.

    def _on_synthesis_started(self, synthesis: TakeSynthesis) -> None:
        self._meter_timer.start()
        if self._playing_job is not None and self._playing_job.synthesis is synthesis:
            self.transport.follow(synthesis)

    def _on_job_finished(self, job: SynthesisJob) -> None:
        if job.synthesis is not None:
            self.transport.synthesis_ended(job.synthesis)
        if job.take is not None:
            self._num_takes += 1
        if job is self._playing_job:
            self._playing_job = None
        self._last_job = job
        if job.error is not None and job.snapshot is None:  # an export lists its failures
            self.failed.emit(job.error)

    def update_meters(self) -> None:
        """Emit ``meters_changed`` with the current figures."""
        job = self.queue.current or self._last_job
        synthesis = job.synthesis if job else None
        report = synthesis.report if synthesis else None
        first = report.first_audio_seconds if report else synthesis.first_audio_seconds if synthesis else None
        self.meters_changed.emit(
            PlaybackStats(
                first_audio_seconds=first,
                real_time_factor=report.real_time_factor
                if report
                else synthesis.real_time_factor
                if synthesis
                else None,
                buffered_seconds=self.transport.buffered_seconds,
                num_underruns=self.transport.num_underruns,
                num_takes=self._num_takes,
                level=self.transport.level,
                network_seconds=report.network_seconds if report else None,
                queue_seconds=report.queue_seconds if report else None,
                network=report.network if report else None,
            )
        )
        if not self.transport.is_playing and self.queue.current is None:
            self._meter_timer.stop()

    @property
    def is_ready(self) -> bool:
        return self.bridge.engine.state is EngineState.READY


def _silence(samples: Samples, _has_run_dry: bool) -> None:
    samples[:] = 0.0
