"""Services that commands use; tests inject fakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from studio.audio.output_device import OpenOutput, open_default_output
from studio.audio.portaudio import LATENCY_SECONDS
from studio.audio.resampling import Samples
from studio.errors import NoAudioDevice
from studio.voices.library import VoiceLibrary
from studio.worker.connection import Worker
from studio.worker.process import WorkerProcess


@dataclass(frozen=True, slots=True)
class CommandContext:
    """The worker, the sound device, the voice library and standard input."""

    start_worker: Callable[[], Worker] = WorkerProcess
    open_output: OpenOutput = open_default_output
    open_library: Callable[[], VoiceLibrary] = VoiceLibrary
    text_input: int = 0  # the file descriptor that `-` reads

    def require_sound_card(self) -> None:
        """Raises ``NoAudioDevice`` before any work is done."""
        self.open_output(24_000, _silence, LATENCY_SECONDS).close()

    def has_sound_card(self) -> bool:
        try:
            self.require_sound_card()
        except NoAudioDevice:
            return False
        return True


def _silence(samples: Samples, _has_run_dry: bool) -> None:
    samples[:] = 0.0
