"""Exporter of the files of a plan. Files that are up to date are kept, so an interrupted export can be run again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path, PurePosixPath

import numpy as np

from studio.audio.files import read_audio_blocks
from studio.audio.m4b import require_m4b
from studio.audio.resampling import Samples
from studio.errors import CannotWrite, DiskFull, StudioError
from studio.export.book import PlannedChapter, audiobook_chapters
from studio.export.joined_files import JoinedFile
from studio.export.line_checks import LineCheck
from studio.export.loudness import LoudnessMeter, TruePeakMeter, loudness_lufs, true_peak_dbtp
from studio.export.manifest import TEXT_ENCODING, ManifestRow, manifest
from studio.export.mastered_chapters import mastered
from studio.export.mastering import apply_loudness, limit_mix, resample_and_trim, soften_ends
from studio.export.original_times import in_order_of_time, mix_lines
from studio.export.plan import ExportPlan
from studio.export.progress import ExportProgress, Pace
from studio.export.read_along import read_along_page
from studio.export.speech_source import ExportItem, SpeechSource
from studio.export.subtitles import LineTiming
from studio.export.target_folder import FileRecord, Journal, Origin, TargetFolder, foreign_files, require_writable
from studio.pipeline.request import RequestControl
from studio.provenance.mark import Marker
from studio.provenance.mark_code import PLAIN_CODE
from studio.provenance.signing import FileSigner, mark_code
from studio.provenance.statement import MARKED, SpokenLine, Statement, hash_audio, hash_text
from studio.text.styles import style_name

_log = logging.getLogger(__name__)

# A smaller correction is inaudible. Without one, lines sound the same in the joined file as in their own files.
_NOTICEABLE_LU = 0.05


@dataclass(frozen=True, slots=True)
class LineFailure:
    """A line that could not be spoken, and the error."""

    item: ExportItem
    error: StudioError


@dataclass(frozen=True, slots=True)
class ExportResult:
    """Result of an export.

    If a line fails, the joined file would have an unnoticed gap. Therefore it is not created, nor are its subtitles and
    manifest, unless ``ExportSettings.allows_missing``.

    Attributes:
        files: The planned files that exist.
        num_made: The number of files that this export created.
        audio_seconds: The length of the lines that this export processed.
        spoken_seconds: The length of those that had to be spoken.
        lines_per_minute: How many were spoken per minute; None if there were too few to measure.
        timings: The time of each line in the joined audio, for the lines whose length is known.
    """

    files: tuple[Path, ...]
    num_made: int
    failures: tuple[LineFailure, ...]
    audio_seconds: float
    elapsed_seconds: float
    spoken_seconds: float = 0.0
    lines_per_minute: float | None = None
    timings: tuple[LineTiming, ...] = ()

    @property
    def speed(self) -> float:
        """Seconds of synthesised speech per second of the export, or 0 if no line had to be spoken."""
        return self.spoken_seconds / self.elapsed_seconds if self.elapsed_seconds else 0.0


def check_target(plan: ExportPlan) -> tuple[PurePosixPath, ...]:
    """Return the files of ``plan`` that exist but were not created by exporting it.

    Creates nothing. Raise ``CannotWrite`` or ``DiskFull`` if the files of ``plan`` cannot be written.
    """
    for folder in {(plan.folder / file).parent for file in plan.files}:
        require_writable(folder)
    journal = Journal(plan.folder)
    journal.read()
    return foreign_files(plan.folder, journal, _origins(plan))


def _origins(plan: ExportPlan) -> dict[PurePosixPath, Origin]:
    return {file: plan.origin_of(file) for file in plan.files}


class Exporter:
    """One export. ``run`` blocks: call it on a background thread.

    ``control.cancel()`` ends it between two lines, or within a line if ``source`` uses the same control. ``journals``
    is the folder of the journals, by default in the data folder.
    """

    def __init__(
        self,
        plan: ExportPlan,
        source: SpeechSource,
        *,
        control: RequestControl | None = None,
        on_progress: Callable[[ExportProgress], None] | None = None,
        journals: Path | None = None,
        check_of: Callable[[ExportItem], LineCheck | None] = lambda _: None,
    ) -> None:
        self._plan = plan
        self._settings = plan.settings
        self._source = source
        self._check_of = check_of
        self._control = control or RequestControl()
        self._on_progress = on_progress or (lambda _: None)
        self._journal = Journal(plan.folder, journals=journals)
        self._target = TargetFolder(plan.folder, self._journal)
        # keys are positions of lines in the plan
        self._records: dict[int, FileRecord] = {}
        self._num_samples: dict[int, int] = {}
        self._signer: FileSigner | None = None
        self._spoken: dict[str, SpokenLine] = {}  # how signed lines were spoken, by key
        self._failures: list[LineFailure] = []
        self._num_made = 0
        self._audio_seconds = 0.0
        self._spoken_seconds = 0.0

    @property
    def conflicting_files(self) -> tuple[PurePosixPath, ...]:
        """The files of other scripts and programs that made ``run`` raise ``CannotWrite``."""
        return self._target.conflicting_files

    def run(self) -> ExportResult:
        """Run the export. Complete files are kept if it fails.

        Raise ``DiskFull``, ``CannotWrite``, ``FolderBusy``, ``Cancelled``, ``UnusableSetting`` for a damaged cover, or
        ``UnusableCertificate`` and ``CannotSign`` if files are signed.
        """
        plan = self._plan
        if self._settings.has_audiobook:
            require_m4b(self._settings.book.cover)
        if self._settings.provenance.signing is not None:
            self._signer = FileSigner(self._settings.provenance.signing)
        with self._journal as journal:
            self._target.open(_origins(plan), replaces_files=self._settings.replaces_files)
            self._find_existing(journal)
            for chapter in plan.chapters:
                for position in chapter.positions:
                    item = plan.items[position]
                    self._control.raise_if_cancelled()
                    self._report(position, item)
                    self._process_line(position, item)
                if chapter in self._missing_chapters:
                    self._write_chapter(chapter)
            self._report(len(plan.items), None)
            is_whole = bool(plan.joined_files) or plan.audiobook_file is not None
            has_gap = bool(self._failures) and is_whole and not self._settings.allows_missing
            if self._missing_of_script and self._num_samples and not has_gap:
                self._make_script_files()
        self._report(len(plan.items), None)
        return ExportResult(
            files=tuple(path for file in plan.files if (path := self._target.path(file)).is_file()),
            num_made=self._num_made,
            failures=tuple(self._failures),
            audio_seconds=self._audio_seconds,
            elapsed_seconds=self._pace.elapsed_seconds,
            spoken_seconds=self._spoken_seconds,
            lines_per_minute=self._pace.lines_per_minute,
            timings=self._timings(),
        )

    def _find_existing(self, journal: Journal) -> None:
        plan = self._plan
        for position, file in enumerate(plan.line_files):
            if record := journal.current_record(file, plan.line_recipe(plan.items[position])):
                self._records[position] = record
                self._num_samples[position] = record.num_samples
        self._missing_of_script = [
            file for file in plan.script_files if not journal.current_record(file, plan.script_recipe(file))
        ]
        self._missing_chapters = [
            each
            for each in plan.chapters
            if each.file and not journal.current_record(each.file, plan.chapter_recipe(each))
        ]
        self._to_join = [joined for joined in plan.joined_files if joined.file in self._missing_of_script]
        self._must_bind = plan.audiobook_file in self._missing_of_script
        self._positions_of_chapters = {position for each in self._missing_chapters for position in each.positions}
        loudness = self._settings.loudness
        self._script_meter = LoudnessMeter(self._settings.sample_rate) if loudness and self._to_join else None
        waiting = [item for position, item in enumerate(plan.items) if self._needs_sound(position)]
        self._pace = Pace(
            letters_to_speak=sum(len(item.text) for item in waiting if self._source.needs_speaking(item)),
            lines_to_write=len(waiting)
            + len(self._positions_of_chapters)
            + sum(len(joined.positions) for joined in self._to_join)
            + len(plan.items) * self._must_bind,
        )
        self._source.expect(waiting)

    def _needs_sound(self, position: int) -> bool:
        has_file_to_make = bool(self._plan.line_files) and position not in self._records
        needs_length = bool(self._missing_of_script) and position not in self._num_samples
        is_in_chapter = position in self._positions_of_chapters
        return has_file_to_make or needs_length or is_in_chapter or bool(self._to_join) or self._must_bind

    # Lines.

    def _process_line(self, position: int, item: ExportItem) -> None:
        if not self._needs_sound(position):
            return
        must_speak = self._source.needs_speaking(item)
        self._pace.begin()
        try:
            samples = self._process(item)
        except (DiskFull, CannotWrite):
            raise
        except StudioError as error:
            self._failures.append(LineFailure(item, error))
            self._pace.skipped(letters=len(item.text) if must_speak else 0, lines=1)
            return
        if must_speak:
            self._pace.spoke(len(item.text))
            self._spoken_seconds += len(samples) / self._settings.sample_rate
        self._num_samples[position] = len(samples)
        if self._script_meter:
            self._script_meter.add(samples)
            is_last = position == len(self._plan.items) - 1
            self._script_meter.add_silence(0 if is_last else self._settings.pause_samples_after(item))
        if self._plan.line_files and position not in self._records:
            self._write_line(position, item, samples)
        self._pace.wrote()
        self._audio_seconds += len(samples) / self._settings.sample_rate

    def _process(
        self, item: ExportItem, *, extra_gain_db: float = 0.0, code: str = PLAIN_CODE, start: int = 0
    ) -> Samples:
        """Return the sound of a line. ``start`` is its place in the file, in samples, which the mark continues."""
        settings = self._settings
        waveform = self._source.synthesize_waveform(item)
        if self._signer is not None and item.key not in self._spoken:
            line = self._source.spoken(item) or _unknown_line(item)
            self._spoken[item.key] = replace(line, audio_sha256=hash_audio(waveform.samples))
        samples = resample_and_trim(waveform, settings.sample_rate, is_trimmed=settings.trims)
        if settings.provenance.is_marked:
            # Before loudness and peaks are set, because the mark adds to both. Mastering keeps it.
            samples = Marker(settings.sample_rate, code=code, start=start)(samples)
        return apply_loudness(
            samples, settings.sample_rate, settings.loudness, settings.encoding, extra_gain_db=extra_gain_db
        )

    def _write_line(self, position: int, item: ExportItem, samples: Samples) -> None:
        settings = self._settings
        model = replace(settings.provenance, model=item.model or settings.provenance.model)
        tags = settings.book.tags(model.tags(title=item.text, voice=item.voice, album=settings.project))
        encoding = settings.encoding.holding(len(samples))
        file = self._plan.line_files[position]
        origin = self._plan.origin_of(file)
        with self._target.sound_file(file, settings.sample_rate, encoding, tags, origin) as sound:
            sound.write(samples)
            self._records[position] = sound.complete(
                self._plan.line_recipe(item),
                loudness_lufs=loudness_lufs(samples, settings.sample_rate) if self._measures else None,
                true_peak_dbtp=true_peak_dbtp(samples) if self._measures else None,
                seal=self._seal(file, [position]),
            )
        self._num_made += 1

    def _seal(
        self, file: PurePosixPath, positions: Iterable[int], code: str = PLAIN_CODE
    ) -> Callable[[Path], None] | None:
        """Return a function that signs the part file of ``file`` with the lines at ``positions``, or None if unwanted."""
        signer, target = self._signer, self._target.path(file)
        if signer is None:
            return None
        items = [self._plan.items[position] for position in positions]
        return lambda part: signer.sign(part, self._statement(items, code), target)

    def _statement(self, items: Sequence[ExportItem], code: str) -> Statement:
        settings, lines = self._settings, list[SpokenLine]()
        for item in items:
            check = self._check_of(item)
            line = self._spoken.get(item.key) or item.spoken or _unknown_line(item)
            if check is not None:
                line = replace(line, seed=check.seed, verdict=check.check.verdict.value)
            lines.append(line)
        done = {
            "trimmed": settings.trims,
            MARKED: settings.provenance.is_marked,
            "loudness": settings.loudness is not None,
            "joined": len(items) > 1,
            "placed": settings.at_times,
            "mastered": settings.standard is not None,
        }
        model = (items[0].model if items else "") or settings.provenance.model
        edits = tuple(name for name, is_done in done.items() if is_done)
        stated = code if settings.provenance.is_marked else ""
        return Statement(model, settings.provenance.licence, tuple(lines), edits=edits, mark_code=stated)

    @property
    def _measures(self) -> bool:
        return self._settings.loudness is not None or self._settings.has_manifest

    # Joined audio, subtitles and manifest.

    def _make_script_files(self) -> None:
        plan = self._plan
        timings = self._timings()
        for joined in self._to_join:
            self._join(joined, timings)
        timings = self._timings()
        if self._must_bind:
            self._write_audiobook(timings)
        for subtitle_format, file in plan.subtitle_files.items():
            self._write_text(
                file,
                subtitle_format.write(in_order_of_time(timings), has_words=self._plan.settings.subtitles_have_words),
            )
        if plan.read_along_file and plan.read_along_file in self._missing_of_script:
            assert plan.whole_file is not None, "the plan requires one"
            title = self._settings.book.title or self._settings.project or plan.script_stem.name
            page = read_along_page(in_order_of_time(timings), title, plan.folder / plan.whole_file)
            self._write_text(plan.read_along_file, page)
        if plan.manifest_file:
            rows = (
                ManifestRow(
                    timing,
                    str(plan.file_with(position)),
                    self._records.get(position),
                    self._settings.provenance,
                    style_name(timing.item.style, self._settings.style_names),
                    self._check_of(timing.item),
                )
                for position, timing in zip(sorted(self._num_samples), timings, strict=True)
            )
            self._write_text(plan.manifest_file, manifest(rows), encoding=TEXT_ENCODING)

    def _timings(self) -> tuple[LineTiming, ...]:
        lines = [(self._plan.items[position], self._num_samples[position]) for position in sorted(self._num_samples)]
        return self._settings.timings(lines)

    def _stream_audio(
        self, positions: Iterable[int], timings: Sequence[LineTiming], code: str, *, extra_gain_db: float = 0.0
    ) -> Iterator[Samples]:
        """Yield the lines at ``positions`` and the pauses after them, mastered if a standard is chosen."""
        lines = self._stream_lines(positions, timings, extra_gain_db, code)
        return mastered(lines, timings, self._settings, self._control.raise_if_cancelled)

    def _stream_lines(
        self, positions: Iterable[int], timings: Iterable[LineTiming], extra_gain_db: float, code: str
    ) -> Iterator[Samples]:
        for position, timing in zip(positions, timings, strict=True):
            self._control.raise_if_cancelled()
            self._pace.begin()
            samples = self._process(timing.item, extra_gain_db=extra_gain_db, code=code, start=timing.start_samples)
            if self._settings.is_by_chapter or self._settings.standard:
                samples = soften_ends(samples, self._settings.sample_rate)
            self._pace.wrote()
            self._report(len(self._plan.items), None)
            self._num_samples[position] = len(samples)
            yield samples
            yield np.zeros(timing.pause_samples, np.float32)

    def _write_chapter(self, chapter: PlannedChapter) -> None:
        settings = self._settings
        assert chapter.file is not None
        positions = [each for each in chapter.positions if each in self._num_samples]
        has_gap = len(positions) < len(chapter.positions)
        if not positions or (has_gap and not settings.allows_missing):
            return
        timings = settings.timings([(self._plan.items[each], self._num_samples[each]) for each in positions])
        tags = settings.provenance.tags(title=chapter.title, album=settings.project)
        recipe = self._plan.chapter_recipe(chapter)
        code = mark_code(self._signer, recipe)
        self._write_sound(
            chapter.file,
            self._stream_audio(positions, timings, code),
            timings[-1].end_samples,
            settings.book.tags(tags, chapter.chapter),
            "" if has_gap else recipe,
            positions=positions,
            code=code,
        )

    def _write_audiobook(self, timings: tuple[LineTiming, ...]) -> None:
        plan, settings = self._plan, self._settings
        assert plan.audiobook_file is not None
        file = plan.audiobook_file
        lines = dict(zip(sorted(self._num_samples), timings, strict=True))
        chapters = audiobook_chapters(plan.chapters, lines, settings.head_samples)
        comment = settings.provenance.tags(title="")["comment"]
        facts = settings.book.facts(settings.project or file.stem, comment, chapters)
        recipe, origin = self._script_recipe(file), plan.origin_of(file)
        positions = sorted(self._num_samples)
        code = mark_code(self._signer, plan.script_recipe(file))
        seal = self._seal(file, positions, code)
        with self._target.audiobook(file, settings.sample_rate, facts, recipe, origin, seal=seal) as book:
            for samples in self._stream_audio(positions, timings, code):
                book.write(samples)
        self._num_made += 1

    def _write_text(self, file: PurePosixPath, text: str, *, encoding: str = "utf-8") -> None:
        if file in self._missing_of_script:
            self._target.write_text(
                file, text, self._script_recipe(file), self._plan.origin_of(file), encoding=encoding
            )
            self._num_made += 1

    @cached_property
    def _guide_samples(self) -> int:
        """The length of the guide track, or 0 without a readable one."""
        guide = self._settings.guide_track
        if guide is None:
            return 0
        try:
            return round(
                sum(len(block) / rate for block, rate in read_audio_blocks(guide)) * self._settings.sample_rate
            )
        except StudioError as error:
            _log.warning("the length of the guide track is unknown: %s", error)
            return 0

    def _join(self, joined: JoinedFile, timings: tuple[LineTiming, ...]) -> None:
        settings, file, gain_db = self._settings, joined.file, self._correction_db()
        title = settings.project if settings.project and joined.group is None else file.stem
        tags = settings.provenance.tags(title=title, album=settings.project)
        wanted, num_samples = set(joined.positions), max(timing.end_samples for timing in timings)
        if settings.at_times:
            num_samples = max(num_samples, self._guide_samples)
        lines = [each for each in zip(sorted(self._num_samples), timings, strict=True) if each[0] in wanted]
        if settings.at_times:
            lines.sort(key=lambda line: line[1].start_samples)
        chosen = [timing for _, timing in lines]
        code = mark_code(self._signer, self._plan.script_recipe(file))
        audio = self._stream_audio([position for position, _ in lines], chosen, code, extra_gain_db=gain_db)
        if settings.at_times:
            limited = partial(
                limit_mix, rate=settings.sample_rate, target=settings.loudness, encoding=settings.encoding
            )
            audio = mix_lines(chosen, audio, num_samples, limited)
        positions = sorted(position for position, _ in lines)
        self._write_sound(
            file,
            audio,
            num_samples,
            settings.book.tags(tags),
            self._script_recipe(file),
            positions=positions,
            code=code,
        )

    def _write_sound(
        self,
        file: PurePosixPath,
        audio: Iterator[Samples],
        num_samples: int,
        tags: dict[str, str],
        recipe: str,
        *,
        positions: Sequence[int],
        code: str,
    ) -> None:
        """Write ``audio``, marked with ``code``, the lines at ``positions`` and about ``num_samples`` long, to ``file``."""
        settings = self._settings
        encoding = settings.encoding.holding(num_samples)
        loudness = LoudnessMeter(settings.sample_rate) if self._measures else None
        true_peak = TruePeakMeter() if self._measures else None
        origin = self._plan.origin_of(file)
        with self._target.sound_file(file, settings.sample_rate, encoding, tags, origin) as sound:
            for samples in audio:
                sound.write(samples)
                if loudness and true_peak:
                    loudness.add(samples)
                    true_peak.add(samples)
            sound.complete(
                recipe,
                loudness_lufs=loudness.integrated_lufs if loudness else None,
                true_peak_dbtp=true_peak.finish() if true_peak else None,
                seal=self._seal(file, positions, code),
            )
        self._num_made += 1

    def _script_recipe(self, file: PurePosixPath) -> str:
        """If lines are missing, an empty recipe makes the next export write the file again."""
        return "" if self._failures else self._plan.script_recipe(file)

    def _correction_db(self) -> float:
        """Return the gain to add to each line, so that all lines together reach the target loudness.

        Because of pauses and partial blocks at line ends, the joined audio is slightly quieter than its lines.
        """
        reached = self._script_meter.integrated_lufs if self._script_meter else None
        if reached is None or self._settings.loudness is None:
            return 0.0
        correction = self._settings.loudness.lufs - reached
        return correction if abs(correction) > _NOTICEABLE_LU else 0.0

    def _report(self, num_done: int, item: ExportItem | None) -> None:
        elapsed = self._pace.elapsed_seconds
        self._on_progress(
            ExportProgress(
                num_done=num_done,
                num_lines=len(self._plan.items),
                item=item,
                share=self._pace.share,
                remaining_seconds=self._pace.remaining_seconds,
                speed=self._audio_seconds / elapsed if elapsed > 1.0 else None,
                lines_per_minute=self._pace.lines_per_minute,
            )
        )


def _unknown_line(item: ExportItem) -> SpokenLine:
    return SpokenLine(hash_text(item.text), item.voice, item.seed or 0)
