"""Check of audio files, or their chapters, against a standard; correction of files that fail."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import soundfile

from studio.audio.encoding import ENCODINGS, MP3, MP3_192, WAV_16, SoundEncoding
from studio.audio.files import AudioWriter, read_audio_blocks
from studio.audio.resampling import Samples, resample_blocks
from studio.errors import UnreadableClip, UnusableSetting
from studio.export.levels import AudioLevelMeter, Levels, measure_file
from studio.export.standard_mastering import SampleFile, StandardMastering
from studio.export.standards import AudioStandard, Criterion, LevelFinding
from studio.export.target_folder import writing
from studio.provenance.edited_files import sign_edited
from studio.provenance.signing import Signing

_CHAPTER_SUFFIXES = frozenset({".m4b", ".m4a", ".mp4"})
AUDIO_SUFFIXES = frozenset({each.suffix for each in ENCODINGS.values()}) | _CHAPTER_SUFFIXES
_TAGS = ("title", "artist", "album", "comment", "software", "license", "tracknumber")
# The quiet start and end of a word are kept, as they are when lines are trimmed.
_KEPT_HEAD_SECONDS, _KEPT_TAIL_SECONDS = 0.05, 0.15
_ORIGINALS = "originals"


@dataclass(frozen=True, slots=True)
class CheckedAudio:
    """Levels of a file or of one of its chapters, and the verdicts of a standard."""

    path: Path
    chapter: str
    levels: Levels
    findings: tuple[LevelFinding, ...]

    @property
    def name(self) -> str:
        return f"{self.path.name}: {self.chapter}" if self.chapter else self.path.name

    @property
    def is_met(self) -> bool:
        return all(finding.is_met for finding in self.findings)

    def finding(self, criterion: Criterion) -> LevelFinding | None:
        return next((each for each in self.findings if each.criterion is criterion), None)

    def as_json(self) -> dict[str, object]:
        """Return the levels and verdicts. Keys are never removed or renamed."""
        verdicts = {each.criterion.value: each.is_met for each in self.findings}
        return {
            "file": str(self.path),
            "chapter": self.chapter or None,
            **asdict(self.levels),
            "verdicts": verdicts,
            "is_met": self.is_met,
        }


def check_file(
    path: Path, standard: AudioStandard, *, check: Callable[[], None] = lambda: None
) -> tuple[CheckedAudio, ...]:
    """Check a file, or each of its chapters. Raise ``UnreadableClip`` and ``BrokenClip``.

    ``check`` is called for each block and may raise.
    """
    chapters = _read_chapters(path)
    meters: list[AudioLevelMeter] = []
    position = 0
    for samples, rate in read_audio_blocks(path):
        check()
        ends = [round(end * rate) for _, end in chapters[:-1]]
        cuts = [end - position for end in ends if position < end < position + len(samples)]
        position += len(samples)
        meters = meters or [AudioLevelMeter(rate)]
        for number, piece in enumerate(np.split(samples, cuts)):
            if number:
                meters.append(AudioLevelMeter(rate))
            meters[-1].add(piece)
        if position in ends:  # the chapter ends with the block
            meters.append(AudioLevelMeter(rate))
    if not meters:
        raise UnreadableClip("{file} contains no audio.", remedy="Record or save it again.", file=path.name)
    titles = [title for title, _ in chapters] or [""]
    found = zip(titles, (meter.finish() for meter in meters), strict=False)
    return tuple(CheckedAudio(path, title, levels, standard.check(levels)) for title, levels in found)


def _read_chapters(path: Path) -> list[tuple[str, float]]:
    """Return the title and the end in seconds of each chapter; empty without PyAV."""
    if path.suffix.lower() not in _CHAPTER_SUFFIXES or not path.is_file():
        return []
    try:
        import av  # noqa: PLC0415 - an optional extra
    except ImportError:
        return []
    try:
        with av.open(f"file:{path.absolute()}", options={"protocol_whitelist": "file"}) as container:
            return [
                (each["metadata"].get("title", ""), float(each["end"] * (each["time_base"] or 0)))
                for each in container.chapters()
            ]
    except av.error.FFmpegError:  # reading the audio reports the problem
        return []


def can_fix(path: Path) -> bool:
    """Return whether ``fix_file`` can write the format. Audiobooks have to be exported again."""
    return path.suffix.lower() in AUDIO_SUFFIXES - _CHAPTER_SUFFIXES


def fix_file(
    path: Path, standard: AudioStandard, *, signing: Signing | None = None, check: Callable[[], None] = lambda: None
) -> Path:
    """Master a file to ``standard``; move the original to the folder ``originals`` beside it, and return its path
    there.

    Tags and format are kept; MP3 is written at 192 kbit/s. With ``signing``, a signed file is signed again.
    Raise ``UnusableSetting`` for other formats, the errors of
    ``check_file``, ``DiskFull`` and ``CannotWrite``.
    """
    if not can_fix(path):
        raise UnusableSetting(
            "{file} cannot be corrected: its format cannot be written again.",
            remedy="Export it again with the standard, or correct a WAV, FLAC or MP3 file.",
            file=path.name,
        )
    levels = measure_file(path)
    allowed = standard.limits.get(Criterion.SAMPLE_RATE)
    rate = levels.sample_rate if allowed is None or levels.sample_rate in allowed else int(allowed.lowest)
    encoding, tags = _encoding_and_tags(path, rate)
    fixed = path.with_name(f".{path.name}.fixed{path.suffix}")
    try:
        with SampleFile(rate) as body, AudioWriter(fixed, rate, encoding=encoding, tags=tags) as writer:
            for samples in _read_speech(path, levels, standard, rate):
                check()
                body.write(samples)
            for samples in StandardMastering(standard, rate, check=check).master(body):
                writer.write(samples)
        if signing is not None:
            sign_edited(signing, fixed, path, "mastered")
        return _exchange(path, fixed)
    finally:
        fixed.unlink(missing_ok=True)


def _exchange(path: Path, fixed: Path) -> Path:
    folder = path.parent / _ORIGINALS
    with writing(folder):
        folder.mkdir(exist_ok=True)
        original, number = folder / path.name, 1
        while original.exists():
            number += 1
            original = folder / f"{path.stem}-{number}{path.suffix}"
        shutil.copy2(path, original)
        fixed.replace(path)
    return original


def _read_speech(path: Path, levels: Levels, standard: AudioStandard, rate: int) -> Iterator[Samples]:
    """Yield the audio at ``rate``, without head and tail if the standard sets their length."""
    start, end = 0, round(levels.seconds * levels.sample_rate)
    if standard.head_seconds or standard.tail_seconds:
        start = round(max(0.0, levels.head_seconds - _KEPT_HEAD_SECONDS) * levels.sample_rate)
        end -= round(max(0.0, levels.tail_seconds - _KEPT_TAIL_SECONDS) * levels.sample_rate)
    blocks = _part(path, start, end)
    return blocks if rate == levels.sample_rate else resample_blocks(blocks, levels.sample_rate, rate)


def _part(path: Path, start: int, end: int) -> Iterator[Samples]:
    position = 0
    for samples, _ in read_audio_blocks(path):
        yield samples[max(0, start - position) : max(0, end - position)]
        position += len(samples)


def _encoding_and_tags(path: Path, rate: int) -> tuple[SoundEncoding, dict[str, str]]:
    try:
        with soundfile.SoundFile(path) as file:
            tags = {name: value for name in _TAGS if (value := getattr(file, name))}
            found = next(
                (
                    each
                    for each in ENCODINGS.values()
                    if (each.file_format, each.subtype) == (file.format, file.subtype)
                ),
                WAV_16,
            )
    except soundfile.LibsndfileError as error:
        raise UnreadableClip(
            "{file} is truncated or damaged.", remedy="Copy or download it again.", file=path.name
        ) from error
    return (MP3_192 if found is MP3 and rate in MP3_192.sample_rates else found), tags
