"""Options of an export, and the plan of its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path, PurePosixPath

from studio.audio.encoding import ENCODINGS, WAV_16, SoundEncoding
from studio.audio.m4b import M4B_SUFFIX
from studio.errors import NothingToSpeak, UnusableSetting
from studio.export.book import BookDetails, PlannedChapter, plan_chapters
from studio.export.joined_files import FilePer, JoinedFile, joined_files
from studio.export.mastering import LoudnessTarget
from studio.export.names import (
    DEFAULT_CHAPTER_PATTERN,
    DEFAULT_PATTERN,
    NamePattern,
    UniqueNamer,
    sanitize_filename,
    sanitize_path,
    short_enough,
)
from studio.export.original_times import timings_at_slots
from studio.export.provenance import Provenance
from studio.export.speech_source import ExportItem, ScriptChapter
from studio.export.standard_mastering import MASTERING_VERSION
from studio.export.standards import AudioStandard, Criterion, Range
from studio.export.subtitles import LineTiming, SubtitleFormat
from studio.export.target_folder import Origin

SAMPLE_RATES = (24_000, 44_100, 48_000)
MAX_PAUSE_SECONDS = 60.0
MANIFEST_SUFFIX = ".csv"
READ_ALONG_SUFFIX = ".html"
# Increase this after a change of the audio processing, so that all files are exported again.
_SOUND_VERSION = 1


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """Options of an export. Raises ``UnusableSetting``.

    Attributes:
        has_line_files: Whether to export each line to its own file.
        joined_name: The name of the file with all lines, without suffix, or None for no such file.
        has_chapter_files: Whether to export each chapter to its own file.
        has_audiobook: Whether to export all lines to an M4B file with chapters.
        standard: The standard to which chapters, or else the joined file, are mastered.
        room_tone: A recording of room tone for mastered audio, or None for generated noise.
        pause_seconds: The pause after each line, or None for each line's own pause.
        at_times: Whether each line of the joined audio begins at its time in the video.
        joined_per: Whether lines are joined for the whole script, for each character or for each language. The last two
            need ``at_times``.
        guide_track: The video or audio whose length the joined files with original times have at least, or None.
        style_names: The names of style presets for file names and the manifest, by family.
        replaces_files: Whether to overwrite files that were not exported from ``origin``.
        allows_missing: Whether to make a joined file even if lines are missing from it.
    """

    encoding: SoundEncoding = WAV_16
    sample_rate: int = 24_000
    has_line_files: bool = True
    joined_name: str | None = None
    pattern: str = DEFAULT_PATTERN
    has_chapter_files: bool = False
    chapter_pattern: str = DEFAULT_CHAPTER_PATTERN
    has_audiobook: bool = False
    book: BookDetails = BookDetails()
    standard: AudioStandard | None = None
    room_tone: Path | None = None
    pause_seconds: float | None = None
    at_times: bool = False
    joined_per: FilePer = FilePer.SCRIPT
    guide_track: Path | None = None
    loudness: LoudnessTarget | None = None
    is_trimmed: bool = False
    subtitles: frozenset[SubtitleFormat] = frozenset()
    subtitles_have_words: bool = False  # the time of each word, where it is known
    has_read_along: bool = False  # an HTML file with the text and the audio of all lines
    has_manifest: bool = False
    project: str = ""
    style_names: Mapping[str, str] = field(default_factory=dict)
    provenance: Provenance = Provenance()
    replaces_files: bool = False
    allows_missing: bool = False
    origin: Origin = Origin()

    def __post_init__(self) -> None:
        if not (self.has_line_files or self.joined_name is not None or self.is_by_chapter):
            raise UnusableSetting(
                "The export would create no file.",
                remedy="Choose a file per line or per chapter, a joined file, or an audiobook.",
            )
        if self.sample_rate not in SAMPLE_RATES:
            raise UnusableSetting(
                "The sample rate {sample_rate} Hz is not supported.",
                remedy="Choose {known}.",
                sample_rate=self.sample_rate,
                known=[str(rate) for rate in SAMPLE_RATES],
            )
        if self.sample_rate not in self.encoding.sample_rates:
            supported = [rate for rate in SAMPLE_RATES if rate in self.encoding.sample_rates]
            raise UnusableSetting(
                "{format} does not support {sample_rate} Hz.",
                remedy="Choose {known}.",
                format=self.encoding.title,
                sample_rate=self.sample_rate,
                known=supported,
            )
        if self.pause_seconds is not None and not 0.0 <= self.pause_seconds <= MAX_PAUSE_SECONDS:
            raise UnusableSetting(
                "The pause {seconds:g} s is out of range.",
                remedy="Choose 0 to {longest:g}.",
                seconds=self.pause_seconds,
                longest=MAX_PAUSE_SECONDS,
            )

        if self.joined_per is not FilePer.SCRIPT and not self.at_times:
            raise UnusableSetting(
                "A file per character or language needs the original times.",
                remedy="Export at the original times, or one file.",
            )
        if self.at_times and self.is_by_chapter:
            raise UnusableSetting(
                "Chapters cannot be exported at the original times.", remedy="Export the chapters on their own."
            )
        if self.standard is not None:
            self._check_standard(self.standard)

    def _check_standard(self, standard: AudioStandard) -> None:
        if self.at_times or not (self.is_by_chapter or self.joined_name is not None):
            raise UnusableSetting(
                "{standard} is for chapters, audiobooks and joined files.",
                remedy="Choose one of these, or no standard.",
                standard=standard.title,
            )
        if self.sample_rate not in standard.limits.get(Criterion.SAMPLE_RATE, Range()):
            raise UnusableSetting(
                "{standard} does not allow {sample_rate} Hz.",
                remedy="Choose {known}.",
                standard=standard.title,
                sample_rate=self.sample_rate,
                known=[str(rate) for rate in SAMPLE_RATES if rate in standard.limits[Criterion.SAMPLE_RATE]],
            )

    @property
    def is_by_chapter(self) -> bool:
        """Whether the audio is divided into chapters."""
        return self.has_chapter_files or self.has_audiobook

    def pause_after(self, item: ExportItem) -> float:
        return item.pause_after_seconds if self.pause_seconds is None else self.pause_seconds

    def pause_samples_after(self, item: ExportItem) -> int:
        return round(self.pause_after(item) * self.sample_rate)

    @property
    def trims(self) -> bool:
        """Whether silence before and after each line is removed. Standards limit the silence at the ends."""
        return self.is_trimmed or self.standard is not None

    @property
    def head_samples(self) -> int:
        """The length of the room tone at the start of a mastered chapter."""
        return round(self.standard.head_seconds * self.sample_rate) if self.standard else 0

    def chapter_key(self, item: ExportItem) -> object:
        """Return a value that is the same for all lines of a chapter, or for all lines if there are no chapters."""
        return item.chapter if self.is_by_chapter else None

    def _pause_samples_between(self, item: ExportItem, following: ExportItem | None) -> int:
        ends_chapter = following is None or self.chapter_key(following) != self.chapter_key(item)
        if self.standard is not None and ends_chapter:
            tail = round(self.standard.tail_seconds * self.sample_rate)
            return tail + (self.head_samples if following else 0)
        return 0 if following is None else self.pause_samples_after(item)

    def timings(self, lines: Sequence[tuple[ExportItem, int]]) -> tuple[LineTiming, ...]:
        """Return the timing of ``lines`` (item, number of samples) in the joined audio. No pause follows the last line.

        In mastered audio, each chapter begins and ends with room tone.
        """
        if self.at_times:
            return timings_at_slots(lines, self.sample_rate, self.pause_samples_after)
        timings: list[LineTiming] = []
        for position, (item, num_samples) in enumerate(lines):
            start = timings[-1].end_samples if timings else self.head_samples
            following = lines[position + 1][0] if position + 1 < len(lines) else None
            pause = self._pause_samples_between(item, following)
            timings.append(LineTiming(item, start, num_samples, pause, self.sample_rate))
        return tuple(timings)


@dataclass(frozen=True, slots=True)
class ExportPlan:
    """Files of an export, relative to ``folder``.

    Attributes:
        line_files: The files of ``items`` in the same order, or empty.
        chapters: The chapters of ``items``, or one for all of them if the export is not by chapter.
        script_stem: The name of the joined audio, audiobook, subtitles and manifest, without suffix.
        joined_files: The files that join lines: none, one, or one for each character or language.
        renumbered: The positions of the lines whose file names got a number, because an earlier name is the same.
    """

    folder: Path
    settings: ExportSettings
    items: tuple[ExportItem, ...]
    line_files: tuple[PurePosixPath, ...]
    chapters: tuple[PlannedChapter, ...]
    script_stem: PurePosixPath
    joined_files: tuple[JoinedFile, ...] = ()
    renumbered: tuple[int, ...] = ()

    @classmethod
    def make(
        cls,
        items: Sequence[ExportItem],
        folder: Path,
        settings: ExportSettings,
        *,
        columns: Iterable[str] | None = None,
    ) -> ExportPlan:
        """Plan an export. Raise ``NothingToSpeak`` without items, and ``UnusableSetting`` for an invalid name pattern.

        ``columns`` are the table columns that the name pattern may use, by default the columns of ``items``.
        """
        if not items:
            raise NothingToSpeak("There are no lines to export.", remedy="Add or select lines first.")
        if settings.at_times and all(item.slot is None for item in items):
            raise UnusableSetting(
                "No line has a time in a video.", remedy="Import subtitles (SRT or VTT), or set the times of the lines."
            )
        has_joined = settings.joined_name is not None and settings.joined_per is FilePer.SCRIPT
        if settings.has_read_along and not (has_joined or settings.has_audiobook):
            raise UnusableSetting(
                "A read-along page needs the audio of all lines in one file.",
                remedy="Choose one file for all lines, or an audiobook.",
            )
        folder = folder.expanduser().absolute()
        suffix = settings.encoding.suffix
        names = UniqueNamer()
        stem = names.unique(
            PurePosixPath(sanitize_filename(settings.joined_name or settings.project or "script")),
            [suffix, M4B_SUFFIX, MANIFEST_SUFFIX, READ_ALONG_SUFFIX, *(each.value for each in SubtitleFormat)],
        )
        line_files: list[PurePosixPath] = []
        renumbered: list[int] = []
        if settings.has_line_files:
            pattern = NamePattern(settings.pattern, columns_of(items) if columns is None else columns)
            largest = max(item.index for item in items)
            for position, item in enumerate(items):
                stem_wanted = (
                    sanitize_path(_without_suffix(item.file_name))
                    if item.file_name
                    else pattern.stem(
                        item, num_items=largest, project=settings.project, style_names=settings.style_names
                    )
                )
                short = short_enough(stem_wanted, folder, suffix)
                unique = names.unique(short, [suffix])
                if unique != short:
                    renumbered.append(position)
                line_files.append(unique.with_name(unique.name + suffix))
        chapters = _chapters(items, folder, settings, names)
        joined: tuple[JoinedFile, ...] = ()
        if settings.joined_name is not None:
            joined = joined_files(items, stem, suffix, names, settings.joined_per)
        return cls(folder, settings, tuple(items), tuple(line_files), chapters, stem, joined, tuple(renumbered))

    @property
    def chapter_files(self) -> tuple[PurePosixPath, ...]:
        return tuple(each.file for each in self.chapters if each.file is not None)

    @property
    def audiobook_file(self) -> PurePosixPath | None:
        return self._of_script(M4B_SUFFIX) if self.settings.has_audiobook else None

    @property
    def subtitle_files(self) -> dict[SubtitleFormat, PurePosixPath]:
        formats = sorted(self.settings.subtitles, key=lambda each: each.value)
        return {each: self._of_script(each.value) for each in formats}

    @property
    def read_along_file(self) -> PurePosixPath | None:
        return self._of_script(READ_ALONG_SUFFIX) if self.settings.has_read_along else None

    @property
    def whole_file(self) -> PurePosixPath | None:
        """The file with the audio of all lines: the joined audio or the audiobook."""
        joined = next((each.file for each in self.joined_files if each.group is None), None)
        return joined or self.audiobook_file

    @property
    def manifest_file(self) -> PurePosixPath | None:
        return self._of_script(MANIFEST_SUFFIX) if self.settings.has_manifest else None

    @property
    def files(self) -> tuple[PurePosixPath, ...]:
        """All files, in the order in which they are written."""
        return (*self.line_files, *self.chapter_files, *self.script_files)

    @property
    def script_files(self) -> tuple[PurePosixPath, ...]:
        """The files that depend on all lines: joined audio, audiobook, subtitles, read-along page and manifest."""
        joined = (each.file for each in self.joined_files)
        of_script = (
            *joined,
            self.audiobook_file,
            *self.subtitle_files.values(),
            self.read_along_file,
            self.manifest_file,
        )
        return tuple(file for file in of_script if file is not None)

    def file_with(self, position: int) -> PurePosixPath | None:
        """Return the smallest file that contains the audio of a line."""
        if self.line_files:
            return self.line_files[position]
        of_chapter = next((each.file for each in self.chapters if position in each.positions), None)
        joined = next((each.file for each in self.joined_files if position in each.positions), None)
        return of_chapter or joined or self.audiobook_file

    def origin_of(self, file: PurePosixPath) -> Origin:
        """Return the origin of ``file``. For the file of a line, it does not depend on which other lines are exported."""
        is_of_line = file not in self.script_files and file not in self.chapter_files
        return replace(self.settings.origin, part="") if is_of_line else self.settings.origin

    def line_recipe(self, item: ExportItem) -> str:
        """Return a digest of everything that affects the file of a line."""
        return _digest(item.key, item.text, item.voice, item.model, *self._audio_options())

    def chapter_recipe(self, chapter: PlannedChapter) -> str:
        """Return a digest of everything that affects the file of a chapter."""
        lines = self._lines_digest(chapter.positions)
        return _digest("chapter", chapter.chapter.number, chapter.title, lines, *self._audio_options())

    def script_recipe(self, file: PurePosixPath) -> str:
        """Return a digest of everything that affects the joined audio, audiobook, subtitles or manifest."""
        lines = self._lines_digest(range(len(self.items)))
        if file == self.audiobook_file:
            chapters = [[each.title, each.first] for each in self.chapters]
            cover = hashlib.sha256(self.settings.book.cover or b"").hexdigest()
            return _digest("audiobook", chapters, cover, lines, *self._audio_options())
        times = [item.slot and [item.slot.start_seconds] for item in self.items] if self.settings.at_times else []
        joined = next((each for each in self.joined_files if each.file == file), None)
        if joined is not None:
            # All lines are included: with original times, the file ends with the last line of the whole script.
            of_group = joined.positions if joined.group is not None else ()
            guide = _file_facts(self.settings.guide_track if self.settings.at_times else None)
            return _digest(lines, *times, *of_group, *guide, *self._audio_options())
        rows = [[item.index, item.style, item.seed, item.model, *_imported_values(item)] for item in self.items]
        words: list[object] = []
        timed = (*self.subtitle_files.values(), self.read_along_file)
        if file in timed and any(item.words for item in self.items):
            words = [
                self.settings.subtitles_have_words,
                *([astuple(word) for word in item.words] for item in self.items),
            ]
        return _digest(
            lines, rows, *times, *words, [str(file) for file in self._files_with_lines()], *self._audio_options()
        )

    def _files_with_lines(self) -> tuple[PurePosixPath, ...]:
        return self.line_files or self.chapter_files

    def _lines_digest(self, positions: range) -> list[object]:
        items = (self.items[position] for position in positions)
        return [[item.key, item.text, item.voice, self.settings.pause_after(item)] for item in items]

    def _audio_options(self) -> list[object]:
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
            # Omitted if unused, so that digests of such exports stay the same as in earlier versions.
            *(["by chapter"] if settings.is_by_chapter else []),
            *(["signed"] if settings.provenance.signing else []),
            *(["marked", "code"] if settings.provenance.is_marked else []),
            *settings.book.digest(),
            *(
                [settings.standard.name, MASTERING_VERSION, _file_facts(settings.room_tone)]
                if settings.standard
                else []
            ),
        ]

    def _of_script(self, suffix: str) -> PurePosixPath:
        return self.script_stem.with_name(self.script_stem.name + suffix)


def _chapters(
    items: Sequence[ExportItem], folder: Path, settings: ExportSettings, names: UniqueNamer
) -> tuple[PlannedChapter, ...]:
    work = settings.book.title or settings.project
    if not settings.is_by_chapter:
        return (PlannedChapter(ScriptChapter(), work, 0, len(items)),)
    chapters = plan_chapters(items, work)
    if not settings.has_chapter_files:
        return chapters
    pattern = NamePattern(settings.chapter_pattern, columns_of(items))
    suffix = settings.encoding.suffix
    named: list[PlannedChapter] = []
    for each in chapters:
        first = items[each.first]
        wanted = pattern.stem(first, num_items=len(items), project=work, style_names=settings.style_names)
        unique = names.unique(short_enough(wanted, folder, suffix), [suffix])
        named.append(replace(each, file=unique.with_name(unique.name + suffix)))
    return tuple(named)


def columns_of(items: Iterable[ExportItem]) -> tuple[str, ...]:
    """Return the names of the columns of the imported tables, in order."""
    return tuple(dict.fromkeys(name for item in items for name in item.columns))


def _imported_values(item: ExportItem) -> list[object]:
    """Return the values that only imported lines have. Other lines keep the digests of earlier versions."""
    return [item.character, dict(item.columns)] if item.character or item.columns else []


def _file_facts(path: Path | None) -> list[object]:
    """Return a value that changes when the file at ``path`` is replaced."""
    if path is None or not path.is_file():
        return []
    found = path.stat()
    return [str(path.absolute()), found.st_size, found.st_mtime_ns]


def _without_suffix(file_name: str) -> str:
    """Remove an audio suffix that the user typed, as in ``intro.wav``."""
    stem, point, suffix = file_name.rpartition(".")
    return stem if point and f".{suffix.lower()}" in {each.suffix for each in ENCODINGS.values()} else file_name


def _digest(*values: object) -> str:
    return hashlib.sha256(json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()
