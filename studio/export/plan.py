"""Which files an export will make, decided before any sound is."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from studio.audio.encoding import ENCODINGS, WAV_16, SoundEncoding
from studio.errors import NothingToSpeak, UnusableSetting
from studio.export.journal import Origin
from studio.export.mastering import LoudnessTarget
from studio.export.names import DEFAULT_PATTERN, NamePattern, UniqueNamer, sanitize_filename
from studio.export.provenance import Provenance
from studio.export.speech_source import ExportItem
from studio.export.subtitles import SubtitleFormat

SAMPLE_RATES = (24_000, 44_100, 48_000)
LONGEST_PAUSE_SECONDS = 60.0
MANIFEST_SUFFIX = ".csv"
# Files made by a program that computes sound otherwise are made again.
_SOUND_VERSION = 1
_LONGEST_WINDOWS_PATH = 259


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """What a person wishes. Raises ``UnusableSetting``.

    ``has_line_files``: a file for each line. ``joined_name``: what the file of all lines is called,
    without suffix; None makes none. ``pause_seconds`` of None: after each line its own pause.
    ``replaces_files``: a file that was not exported from ``origin`` may be overwritten.
    """

    encoding: SoundEncoding = WAV_16
    sample_rate: int = 24_000
    has_line_files: bool = True
    joined_name: str | None = None
    pattern: str = DEFAULT_PATTERN
    pause_seconds: float | None = None
    loudness: LoudnessTarget | None = None
    is_trimmed: bool = False
    subtitles: frozenset[SubtitleFormat] = frozenset()
    has_manifest: bool = False
    project: str = ""
    provenance: Provenance = Provenance()
    replaces_files: bool = False
    origin: Origin = Origin()

    def __post_init__(self) -> None:
        if not (self.has_line_files or self.joined_name is not None):
            raise UnusableSetting(
                "No file would be made.", remedy="Choose a file for each line, a joined file, or both."
            )
        if self.sample_rate not in SAMPLE_RATES:
            raise UnusableSetting(
                "A sample rate of {sample_rate} Hz is not offered.",
                remedy="Choose {known}.",
                sample_rate=self.sample_rate,
                known=", ".join(str(rate) for rate in SAMPLE_RATES),
            )
        if self.sample_rate not in self.encoding.sample_rates:
            possible = ", ".join(str(rate) for rate in SAMPLE_RATES if rate in self.encoding.sample_rates)
            raise UnusableSetting(
                "{format} cannot hold sound of {sample_rate} Hz.",
                remedy="Choose {known}.",
                format=self.encoding.title,
                sample_rate=self.sample_rate,
                known=possible,
            )
        if self.pause_seconds is not None and not 0.0 <= self.pause_seconds <= LONGEST_PAUSE_SECONDS:
            raise UnusableSetting(
                "A pause of {seconds:g} s is not possible.",
                remedy="Choose 0 to {longest:g}.",
                seconds=self.pause_seconds,
                longest=LONGEST_PAUSE_SECONDS,
            )

    def pause_after(self, item: ExportItem) -> float:
        return item.pause_after_seconds if self.pause_seconds is None else self.pause_seconds

    def pause_samples_after(self, item: ExportItem) -> int:
        return round(self.pause_after(item) * self.sample_rate)


@dataclass(frozen=True, slots=True)
class ExportPlan:
    """Paths are relative to ``folder``. ``line_files`` is empty or has one for each of ``items``.

    ``script_stem`` names what there is one of: joined sound, subtitles, manifest.
    """

    folder: Path
    settings: ExportSettings
    items: tuple[ExportItem, ...]
    line_files: tuple[PurePosixPath, ...]
    script_stem: PurePosixPath

    @classmethod
    def make(cls, items: Sequence[ExportItem], folder: Path, settings: ExportSettings) -> ExportPlan:
        """Raises ``NothingToSpeak`` for an empty script, and ``UnusableSetting`` for a pattern nobody understands."""
        if not items:
            raise NothingToSpeak("There are no lines to export.", remedy="Write a line first, or select some.")
        folder = folder.expanduser().absolute()
        suffix = settings.encoding.suffix
        names = UniqueNamer()
        stem = names.unique(
            PurePosixPath(sanitize_filename(settings.joined_name or settings.project or "script")),
            [suffix, MANIFEST_SUFFIX, *(each.value for each in SubtitleFormat)],
        )
        line_files: list[PurePosixPath] = []
        if settings.has_line_files:
            pattern = NamePattern(settings.pattern)
            largest = max(item.index for item in items)
            for item in items:
                wish = (
                    PurePosixPath(sanitize_filename(_without_suffix(item.file_name)))
                    if item.file_name
                    else pattern.stem(item, num_items=largest, project=settings.project)
                )
                unique = names.unique(_short_enough(wish, folder, suffix), [suffix])
                line_files.append(unique.with_name(unique.name + suffix))
        return cls(folder, settings, tuple(items), tuple(line_files), stem)

    @property
    def joined_file(self) -> PurePosixPath | None:
        return self._of_script(self.settings.encoding.suffix) if self.settings.joined_name is not None else None

    @property
    def subtitle_files(self) -> dict[SubtitleFormat, PurePosixPath]:
        wished = sorted(self.settings.subtitles, key=lambda each: each.value)
        return {each: self._of_script(each.value) for each in wished}

    @property
    def manifest_file(self) -> PurePosixPath | None:
        return self._of_script(MANIFEST_SUFFIX) if self.settings.has_manifest else None

    @property
    def files(self) -> tuple[PurePosixPath, ...]:
        """All that there will be, in the order in which they are made."""
        of_script = (self.joined_file, *self.subtitle_files.values(), self.manifest_file)
        return (*self.line_files, *(file for file in of_script if file is not None))

    def origin_of(self, file: PurePosixPath) -> Origin:
        """A line's file comes from its line, whichever others are exported; what there is one of, from all of them."""
        is_of_script = file.parent == self.script_stem.parent and file.stem == self.script_stem.name
        return self.settings.origin if is_of_script else replace(self.settings.origin, part="")

    def line_recipe(self, item: ExportItem) -> str:
        """Stands for all that decides what is in the line's file."""
        return _digest(item.key, item.text, item.voice, item.model, *self._sound_choices())

    def script_recipe(self, file: PurePosixPath) -> str:
        """The same for the joined sound, the subtitles or the manifest."""
        lines = [[item.key, item.text, item.voice, self.settings.pause_after(item)] for item in self.items]
        if file == self.joined_file:
            return _digest(lines, *self._sound_choices())
        rows = [[item.index, item.style, item.seed, item.model] for item in self.items]
        return _digest(lines, rows, [str(file) for file in self.line_files], *self._sound_choices())

    def _sound_choices(self) -> list[object]:
        settings = self.settings
        loudness = settings.loudness
        return [
            _SOUND_VERSION,
            settings.encoding.name,
            settings.sample_rate,
            settings.is_trimmed,
            [loudness.lufs, loudness.true_peak_dbtp] if loudness else None,
            settings.project,
            [settings.provenance.model, settings.provenance.licence],
        ]

    def _of_script(self, suffix: str) -> PurePosixPath:
        return self.script_stem.with_name(self.script_stem.name + suffix)


def _without_suffix(file_name: str) -> str:
    """A person may have written ``intro.wav``."""
    stem, point, suffix = file_name.rpartition(".")
    return stem if point and f".{suffix.lower()}" in {each.suffix for each in ENCODINGS.values()} else file_name


def _short_enough(
    stem: PurePosixPath, folder: Path, suffix: str, *, is_windows: bool = os.name == "nt"
) -> PurePosixPath:
    """Windows counts the whole path."""
    if not is_windows:
        return stem
    # Twelve for a number against collisions and the name while the file is unfinished.
    room = _LONGEST_WINDOWS_PATH - 12 - len(f"{folder}/{stem.parent}/{suffix}")
    if room < 8:
        raise UnusableSetting(
            "The path of {folder} is too long for file names in it.",
            remedy="Choose a folder nearer to the root.",
            folder=folder,
        )
    return stem.with_name(sanitize_filename(stem.name, longest_bytes=room)) if len(stem.name) > room else stem


def _digest(*values: object) -> str:
    return hashlib.sha256(json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()
