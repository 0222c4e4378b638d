"""Services that commands use. Tests replace them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from studio.audio.output_device import AudioOutputs, PortAudioOutputs
from studio.audio.portaudio import LATENCY_SECONDS
from studio.audio.resampling import Samples
from studio.catalog.built_in_speakers import open_voice_library
from studio.errors import NoAudioDevice
from studio.take_checks.service import TakeCheckService
from studio.voices.library import VoiceLibrary
from studio.worker.process import Worker, WorkerProcess


@dataclass(frozen=True, slots=True)
class CommandContext:
    """The worker, the check process, the output devices, the voice library and standard input."""

    start_worker: Callable[[], Worker] = WorkerProcess
    outputs: AudioOutputs = field(default_factory=PortAudioOutputs)
    open_library: Callable[[], VoiceLibrary] = open_voice_library
    open_checks: Callable[[], TakeCheckService] = TakeCheckService  # opens the process that checks takes
    text_input: int = 0  # the file descriptor that is read for `-`

    def require_sound_card(self) -> None:
        """Raise ``NoAudioDevice`` before any work is done."""
        self.outputs.open(None, 24_000, _fill_with_silence, LATENCY_SECONDS).close()

    def has_sound_card(self) -> bool:
        try:
            self.require_sound_card()
        except NoAudioDevice:
            return False
        return True


def _fill_with_silence(samples: Samples, _has_underrun: bool) -> None:
    samples[:] = 0.0
