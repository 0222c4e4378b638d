"""Playback of takes: stored ones, the script line by line, and takes that are being generated."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from studio.app.bridge import WorkerBridge
from studio.app.playback.audio_player import AudioPlayer, PlaybackStats
from studio.app.playback.script_player import ScriptPlayer
from studio.app.playback.take_audio import EditedPlayback, present_edits, read_take
from studio.app.script.project_editor import ProjectEditor
from studio.app.synthesis.queue import SynthesisJob, SynthesisQueue
from studio.app.synthesis.take_synthesis import TakeSynthesis
from studio.audio.output_device import AudioOutputs
from studio.audio.player import StreamingAudio
from studio.audio.waveform import Waveform
from studio.project.takes import Take
from studio.settings import OUTPUT_DEVICE
from studio.settings_store import Settings

_METER_MILLISECONDS = 200


class Playback(QObject):
    """Plays takes with ``player``, and the script with ``script_player``. Measures the current take."""

    meters_changed = Signal(object)  # PlaybackStats
    audio_shown = Signal(object, str)  # for the waveform panel: StreamingAudio or None, and the id of its line
    failed = Signal(object)  # StudioError

    def __init__(
        self,
        editor: ProjectEditor,
        queue: SynthesisQueue,
        parent: QObject,
        *,
        bridge: WorkerBridge,
        settings: Settings,
        outputs: AudioOutputs,
    ) -> None:
        super().__init__(parent)
        self._editor = editor
        self._queue = queue
        self._bridge = bridge
        self._settings = settings
        self._outputs = outputs
        self.player = self.make_player(self)
        self.script_player = ScriptPlayer(editor, queue, self.player, bridge.run, self)
        self._edited = EditedPlayback(editor, self.player, bridge.run, self)
        self._awaited: SynthesisJob | None = None  # to be played while it is generated
        self._last_job: SynthesisJob | None = None
        self._num_takes = 0
        self._meter_timer = QTimer(self, interval=_METER_MILLISECONDS)
        self._meter_timer.timeout.connect(self.update_meters)
        queue.synthesis_started.connect(self._on_synthesis_started)
        queue.job_finished.connect(self._on_job_finished)
        queue.became_idle.connect(self.update_meters)
        self.player.started.connect(lambda _: self._meter_timer.start())
        self.player.ended.connect(self.update_meters)
        self.script_player.failed.connect(self.failed)

    def device(self) -> str | None:
        """Return the name of the selected output device, or None for the system default."""
        return self._settings[OUTPUT_DEVICE] or None

    def make_player(self, parent: QObject) -> AudioPlayer:
        """Return another player, such as for the clips of a dialog."""
        return AudioPlayer(self._outputs, parent, device=self.device)

    def play_take(self, take_id: str, *, start_seconds: float = 0.0) -> None:
        self.script_player.stop()
        self._bridge.run(self._play_take(take_id, start_seconds))

    def play_generated(self, job: SynthesisJob) -> None:
        """Play a queued job while it is generated, unless the script is being played."""
        if not self.script_player.is_active:
            self._awaited = job

    async def read_audio(self, take_id: str) -> StreamingAudio:
        """Return the audio of a take with its edits. Raises ``TakeNotFound``."""
        playing, project = self.player.now_playing, self._editor.project
        is_known = playing is not None and playing.take_id == take_id and playing.audio.is_complete
        if playing is None or not is_known or playing.edits != present_edits(project, take_id):
            playing = await read_take(project, take_id)
        return playing.audio

    def read_waveform(self, take: Take) -> Waveform:
        """Return the audio of a stored take. Callable from any thread. Raises ``TakeNotFound``."""
        return Waveform(self._editor.project.samples_of(take.id), take.sample_rate)

    def stop(self) -> None:
        """Stop playback, without cancelling the take being generated."""
        self.script_player.stop()
        self.player.stop()

    def stop_and_cancel(self) -> bool:
        """Stop playback and cancel the take being played; return whether anything was stopped."""
        was_busy = self.player.is_playing or self.script_player.is_active
        playing = self.player.now_playing
        self.stop()
        for job in self._queue.jobs:
            # Includes jobs that are queued again after the worker ended. A stopped job is about to end; do not report
            # it as stopped twice.
            if job.state.is_over or job.synthesis is None or job.synthesis.is_stopped:
                continue
            if job is self._awaited or (playing is not None and job.synthesis.take_id == playing.take_id):
                self._queue.cancel(job)
                was_busy = True
        return was_busy

    def update_meters(self) -> None:
        """Emit ``meters_changed`` with the current figures."""
        job = self._queue.current or self._last_job
        synthesis = job.synthesis if job else None
        report = synthesis.report if synthesis else None
        measured = report or synthesis
        self.meters_changed.emit(
            PlaybackStats(
                first_audio_seconds=measured.first_audio_seconds if measured else None,
                real_time_factor=measured.real_time_factor if measured else None,
                buffered_seconds=self.player.buffered_seconds,
                num_underruns=self.player.num_underruns,
                num_takes=self._num_takes,
                level=self.player.level,
                network_seconds=report.network_seconds if report else None,
                queue_seconds=report.queue_seconds if report else None,
                network=report.network if report else None,
            )
        )
        if not self.player.is_playing and self._queue.current is None:
            self._meter_timer.stop()

    def close(self) -> None:
        """Stop playback and measuring for good."""
        self.stop_and_cancel()
        self._meter_timer.stop()

    async def _play_take(self, take_id: str, start_seconds: float) -> None:
        self.player.play(await read_take(self._editor.project, take_id), start_seconds=start_seconds)

    def _on_synthesis_started(self, synthesis: TakeSynthesis) -> None:
        self._meter_timer.start()
        if self._awaited is not None and self._awaited.synthesis is synthesis:
            self.player.follow(synthesis)

    def _on_job_finished(self, job: SynthesisJob) -> None:
        if job.synthesis is not None:
            self.player.synthesis_ended(job.synthesis)
        if job.take is not None:
            self._num_takes += 1
        if job is self._awaited:
            self._awaited = None
        self._last_job = job
