"""External services of the window: the worker, audio devices, the voice library, models and the check process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from studio import paths
from studio.audio.output_device import AudioOutputs, PortAudioOutputs
from studio.audio.portaudio import device_names
from studio.catalog.built_in_speakers import open_voice_library
from studio.catalog.installed import installed_models
from studio.voices.library import VoiceLibrary

if TYPE_CHECKING:
    from studio.take_checks.service import TakeCheckService
    from studio.worker.process import Worker


def _start_process() -> Worker:
    from studio.worker.process import WorkerProcess  # noqa: PLC0415 - after the first paint

    return WorkerProcess()


def _open_checks() -> TakeCheckService:
    from studio.take_checks.service import TakeCheckService  # noqa: PLC0415 - after the first paint

    return TakeCheckService()


def _measure_speed() -> float | None:
    from studio.health.checks import InstalledEngines, probe_engines  # noqa: PLC0415 - after the first paint

    found = probe_engines()
    return found.seconds_per_second if isinstance(found, InstalledEngines) else None


@dataclass(frozen=True, slots=True)
class Services:
    """External services of a session, replaced in tests."""

    start_worker: Callable[[], Worker] = _start_process
    outputs: AudioOutputs = field(default_factory=PortAudioOutputs)
    open_library: Callable[[], VoiceLibrary] = open_voice_library
    find_models: Callable[[], dict[str, Path]] = installed_models
    drafts: Path = field(default_factory=lambda: paths.data_folder() / "drafts")  # folder of unsaved projects
    open_checks: Callable[[], TakeCheckService] | None = _open_checks  # opens the process that checks takes
    # Returns the expected time for a second of speech of a full-size model, or None if unknown. Takes up to ten seconds.
    measure_speed: Callable[[], float | None] = _measure_speed

    def device_names(self, kind: str) -> tuple[str, ...]:
        """Rescan the audio devices and return the names of those of ``kind``, "input" or "output".

        This is slow. It can be called from any thread.
        """
        self.outputs.rescan()
        return self.outputs.names() if kind == "output" else device_names("input")
