"""External services of the session, replaced in tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from studio import paths
from studio.audio.output_device import AudioOutputs, PortAudioOutputs
from studio.catalog.installed import installed_models

if TYPE_CHECKING:
    from studio.voices.library import VoiceLibrary
    from studio.worker.process import Worker


def _start_process() -> Worker:
    from studio.worker.process import WorkerProcess  # noqa: PLC0415 - after the first paint

    return WorkerProcess()


def _open_library() -> VoiceLibrary:
    from studio.voices.library import VoiceLibrary  # noqa: PLC0415 - after the first paint

    return VoiceLibrary()


@dataclass(frozen=True, slots=True)
class Services:
    """Worker, audio outputs, voice library, installed models and the folder of drafts."""

    start_worker: Callable[[], Worker] = _start_process
    outputs: AudioOutputs = field(default_factory=PortAudioOutputs)
    open_library: Callable[[], VoiceLibrary] = _open_library
    find_models: Callable[[], dict[str, Path]] = installed_models
    drafts: Path = field(default_factory=lambda: paths.data_folder() / "drafts")
