"""Lines of an export, and the interface of the sources of their audio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from studio.audio.waveform import Waveform
from studio.project.lines import Slot
from studio.provenance.statement import SpokenLine
from studio.take_checks.records import WordTime


@dataclass(frozen=True, slots=True)
class ScriptChapter:
    """A chapter of the script: its number from 1, or 0 for the lines before the first heading, and its title."""

    number: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class ExportItem:
    """One line to export.

    Attributes:
        key: Identifies the audio of the line: lines with the same key have the same audio.
        index: The number of the line in the script, from 1.
        file_name: The name of the line's file, without suffix, or None to use the name pattern. It may contain
            folders, separated by ``/``.
        model, seed: Values for the manifest.
        id: The ID of the row of an imported table; empty if it has none.
        columns: The cells of the imported table, by column name.
        slot: The time of the line in a video.
        spoken: How the audio is spoken, for the signed manifest; None if unknown.
        words: Times of the words in the audio of the line, from the check of its take; positions are those in ``text``.
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
    character: str = ""
    id: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    chapter: ScriptChapter = ScriptChapter()
    slot: Slot | None = None
    words: tuple[WordTime, ...] = ()
    spoken: SpokenLine | None = None


class SpeechSource(Protocol):
    """Source of the audio of lines, such as the takes of a project, the worker or a cache.

    Use it on one thread only.
    """

    def needs_speaking(self, item: ExportItem) -> bool:
        """Whether ``synthesize_waveform`` has to synthesize the line."""

    def expect(self, items: Sequence[ExportItem]) -> None:
        """Announce the next lines in the order in which they will be requested, so that the source can work ahead."""

    def synthesize_waveform(self, item: ExportItem) -> Waveform:
        """Return the audio of a line. Blocks until it is complete.

        Raise ``StudioError`` if the line cannot be spoken, and ``Cancelled``.
        """

    def spoken(self, item: ExportItem) -> SpokenLine | None:
        """Return how the audio of a line was spoken and edited, for the signed manifest; None if it is unknown.

        Call it after ``synthesize_waveform``.
        """
