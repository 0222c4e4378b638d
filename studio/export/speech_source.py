"""Items of an export, and the interface of sources of their audio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from studio.audio.waveform import Waveform


@dataclass(frozen=True, slots=True)
class ExportItem:
    """One line to export. Lines with equal ``key`` have equal audio.

    ``index`` is the number of the line in the script, from 1. ``file_name`` replaces the name pattern. ``model`` and
    ``seed`` are for the manifest.
    """

    key: str
    index: int
    text: str
    voice: str = ""
    style: str = ""
    pause_after_seconds: float = 0.3
    file_name: str | None = None
    model: str = ""
    seed: int | None = None


class SpeechSource(Protocol):
    """Source of the audio of lines: takes of a project, the worker, or a cache. Used on one thread."""

    def needs_speaking(self, item: ExportItem) -> bool:
        """Whether ``waveform_of`` has to synthesize the line."""

    def expect(self, items: Sequence[ExportItem]) -> None:
        """Announce the items that will be requested, in this order, so that the source can work ahead."""

    def waveform_of(self, item: ExportItem) -> Waveform:
        """Return the audio of a line. Blocks until it is complete.

        Raise ``StudioError`` if the line cannot be spoken, and ``Cancelled``.
        """
