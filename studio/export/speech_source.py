"""What is exported, and where its sound comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from studio.audio.waveform import Waveform


@dataclass(frozen=True, slots=True)
class ExportItem:
    """One line of a script. ``key`` stands for everything that decides what is heard: two lines with one key sound alike.

    ``index`` is its place in the script, from 1. ``file_name``: what the person calls its file, instead of
    the pattern. ``model`` and ``seed`` are for the manifest.
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
    """Where the sound of lines comes from: takes of a project, the worker, a cache. Used on one thread."""

    def needs_speaking(self, item: ExportItem) -> bool:
        """Whether ``waveform_of`` would take long, because the line has not been spoken yet."""

    def expect(self, items: Sequence[ExportItem]) -> None:
        """These will be asked for, in this order; whoever can may work ahead."""

    def waveform_of(self, item: ExportItem) -> Waveform:
        """The sound of the line; blocks until all of it is there.

        Raises ``StudioError`` where the line cannot be spoken, and ``Cancelled`` if the person changed
        their mind meanwhile.
        """
