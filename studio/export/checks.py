"""Checks before an export, which find problems before anything is synthesised."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from studio.errors import DiskFull, NothingToSpeak, StudioError, VoiceNotFound
from studio.export.plan import ExportPlan
from studio.export.speech_source import ExportItem
from studio.messages import Message, message
from studio.project.lines import Line, LineStyle, is_removed
from studio.storage.disk import free_bytes

# Estimates for lines that have not been spoken yet. Both err on the high side.
_SECONDS_PER_LETTER = 0.1
_SECONDS_PER_WIDE_LETTER = 0.3
_FIRST_WIDE_LETTER = "\u2e80"  # Chinese, Japanese and Korean
_MIN_SECONDS = 1.0
_TAKE_BYTES_PER_SECOND = 24_000 * 4
_LOSSY_BYTES_PER_SECOND = 20_000
_LOSSLESS_SHARE = 0.8  # size of FLAC relative to PCM
_HEADER_BYTES = 4_096
_MEGABYTE = 1_000_000
_MAX_RANGES = 8


class FindingKind(Enum):
    """Stable names of findings."""

    VOICE = "voice"
    LINE = "line"
    STYLE = "style"
    LANGUAGE = "language"
    LOCKED = "locked"
    SAME_NAME = "same-name"
    FOLDER = "folder"
    UNUSED = "unused"
    REVIEW = "review"
    OVERRUN = "overrun"
    DRAFT = "draft"
    CHAPTERS = "chapters"
    SILENT = "silent"
    SOUND = "sound"
    SUBTITLES = "subtitles"


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of some lines or of the whole export.

    Attributes:
        error: The error if the export or these lines would fail, or None for a note.
        line_numbers: The lines that it concerns, empty for the whole export.
    """

    kind: FindingKind
    message: Message
    line_numbers: tuple[int, ...] = ()
    error: StudioError | None = None

    @property
    def is_blocking(self) -> bool:
        return self.error is not None


@dataclass(frozen=True, slots=True)
class LineToCheck:
    """A line of an export.

    Attributes:
        must_speak: Whether it has no take that the export can use.
        is_outdated: Whether it keeps a take although it has changed since, because it is locked.
        needs_review: Whether its take has problems that the user has not accepted.
        is_draft: Whether its take was spoken in a reduced quality.
    """

    number: int
    line: Line
    must_speak: bool
    is_outdated: bool = False
    needs_review: bool = False
    is_draft: bool = False


def check_lines(
    lines: Sequence[LineToCheck],
    *,
    find_voice: Callable[[str | None], object],
    has_style: Callable[[LineStyle], bool] = lambda _: True,
) -> tuple[Finding, ...]:
    """Return the problems of ``lines``, errors first.

    ``find_voice`` is called once for each voice, and raises ``StudioError`` if there is no such voice.
    """
    voice_errors: dict[str | None, StudioError | None] = {}
    failed: dict[int, StudioError] = {}
    without_style: list[int] = []
    outdated: list[int] = []
    to_review: list[int] = []
    for each in lines:
        line = each.line
        if each.needs_review:
            to_review.append(each.number)
        if each.is_outdated:
            outdated.append(each.number)
        if not each.must_speak:
            continue
        if line.is_locked:
            failed[each.number] = NothingToSpeak("Locked lines are not spoken.", remedy="Unlock or skip them.")
            continue
        if line.voice not in voice_errors:
            voice_errors[line.voice] = _voice_error(find_voice, line.voice)
        error = voice_errors[line.voice]
        if error is not None:
            failed[each.number] = error
        if not has_style(line.style):
            without_style.append(each.number)
    found = list(group_errors(failed))
    if without_style:
        sentence = message("Spoken without their style: the model does not support it.")
        found.append(Finding(FindingKind.STYLE, sentence, tuple(without_style)))
    if outdated:
        sentence = message("Changed but locked: the earlier take is exported.")
        found.append(Finding(FindingKind.LOCKED, sentence, tuple(outdated)))
    return (*found, *review_findings(to_review), *_draft_findings([each.number for each in lines if each.is_draft]))


def review_findings(numbers: Sequence[int]) -> list[Finding]:
    """Return a finding about lines whose takes have problems that the user has not accepted, if there are any."""
    sentence = message("The checks found problems. They will be exported anyway.")
    return [Finding(FindingKind.REVIEW, sentence, tuple(numbers))] if numbers else []


def _draft_findings(numbers: Sequence[int]) -> list[Finding]:
    sentence = message("Exported as drafts. For exact takes, make drafts final first (menu Speak).")
    return [Finding(FindingKind.DRAFT, sentence, tuple(numbers))] if numbers else []


def silent_rows(lines: Iterable[tuple[int, Line]]) -> tuple[tuple[int, Line], ...]:
    """Return the numbered ``lines`` that have a row in a table or a time in a video, but are not spoken.

    They are sounds and stage directions, for which a game or film may expect a file.
    """
    return tuple(
        (number, line)
        for number, line in lines
        if not (line.is_spoken or line.heading or is_removed(line))
        and line.text.strip()
        and (line.slot is not None or line.file_name or line.columns)
    )


def silent_findings(numbers: Sequence[int]) -> list[Finding]:
    """Return a finding about the numbers of ``silent_rows``, if there are any."""
    sentence = message("Not exported: sounds and stage directions are not spoken.")
    return [Finding(FindingKind.SILENT, sentence, tuple(numbers))] if numbers else []


def sound_findings(sounds: Mapping[int, Sequence[str]]) -> list[Finding]:
    """Return findings about sounds that the model has not learned. ``sounds`` maps line numbers to tags."""
    numbers: dict[tuple[str, ...], list[int]] = {}
    for number, tags in sounds.items():
        if tags:
            numbers.setdefault(tuple(tags), []).append(number)
    return [
        Finding(
            FindingKind.SOUND, message("The model has not learned the sound {tags}.", tags=list(tags)), tuple(found)
        )
        for tags, found in numbers.items()
    ]


def group_errors(errors: Mapping[int, StudioError]) -> tuple[Finding, ...]:
    """Return one finding for each distinct error in ``errors``, which maps line numbers to errors."""
    numbers: dict[str, list[int]] = {}
    first: dict[str, StudioError] = {}
    for number, error in errors.items():
        numbers.setdefault(str(error), []).append(number)
        first.setdefault(str(error), error)
    return tuple(
        Finding(
            FindingKind.VOICE if isinstance(first[text], VoiceNotFound) else FindingKind.LINE,
            first[text].message,
            tuple(found),
            first[text],
        )
        for text, found in numbers.items()
    )


def check_names(plan: ExportPlan) -> tuple[Finding, ...]:
    """Return a note about lines whose file names got a number, because an earlier line has the same name."""
    numbers = tuple(plan.items[position].index for position in plan.renumbered)
    if not numbers:
        return ()
    sentence = message("Other lines have the same file name; a number is added to these.")
    return (Finding(FindingKind.SAME_NAME, sentence, numbers),)


def check_space(
    plan: ExportPlan,
    *,
    seconds_of: Callable[[ExportItem], float | None],
    takes_folder: Path | None = None,
    free: Callable[[Path], int] = free_bytes,
) -> None:
    """Raise ``DiskFull`` if the files of ``plan`` will not fit on the disk.

    ``seconds_of`` returns the length of a line that has been spoken, else None. Lines to be spoken are also stored in
    ``takes_folder``. Existing files need no more space.
    """
    needed = {plan.folder: 0.0}
    seconds: list[float] = []
    for position, item in enumerate(plan.items):
        known = seconds_of(item)
        length = expected_seconds(item.text) if known is None else known
        seconds.append(length)
        if plan.line_files and not (plan.folder / plan.line_files[position]).exists():
            needed[plan.folder] += length * _bytes_per_second(plan) + _HEADER_BYTES
        if known is None and takes_folder is not None:
            needed[takes_folder] = needed.get(takes_folder, 0.0) + length * _TAKE_BYTES_PER_SECOND
    num_joined = sum(not (plan.folder / joined.file).exists() for joined in plan.joined_files)
    needed[plan.folder] += num_joined * _joined_seconds(plan, sum(seconds)) * _bytes_per_second(plan)
    for folders in _by_disk(needed):
        total, available = sum(needed[folder] for folder in folders), free(folders[0])
        if total > available:
            raise DiskFull(
                "The export needs about {needed:.0f} MB, but only {free:.0f} MB are free in {folder}.",
                remedy="Free some space, or choose a folder on another disk or a smaller audio format.",
                needed=total / _MEGABYTE,
                free=available / _MEGABYTE,
                folder=folders[0],
            )


def _joined_seconds(plan: ExportPlan, spoken_seconds: float) -> float:
    """Return an estimate of the length of a joined file."""
    if plan.settings.at_times:
        last = max(item.slot.end_seconds for item in plan.items if item.slot is not None)
        return max(last, spoken_seconds)
    return spoken_seconds + sum(plan.settings.pause_after(item) for item in plan.items)


def expected_seconds(text: str) -> float:
    """Return an estimate of the time that ``text`` takes to speak."""
    wide = sum(letter >= _FIRST_WIDE_LETTER for letter in text)
    return max(_MIN_SECONDS, wide * _SECONDS_PER_WIDE_LETTER + (len(text) - wide) * _SECONDS_PER_LETTER)


def number_ranges(numbers: Sequence[int]) -> list[str]:
    """Return sorted ``numbers`` as texts such as ``3`` and ``5–8``; a long list ends with an ellipsis."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    shown = [str(first) if first == last else f"{first}–{last}" for first, last in ranges[:_MAX_RANGES]]
    return [*shown, *(["…"] if len(ranges) > _MAX_RANGES else [])]


def _voice_error(find_voice: Callable[[str | None], object], name: str | None) -> StudioError | None:
    try:
        find_voice(name)
    except StudioError as error:
        return error
    return None


def _bytes_per_second(plan: ExportPlan) -> float:
    encoding = plan.settings.encoding
    if encoding.num_bytes is not None:
        return float(encoding.num_bytes * plan.settings.sample_rate)
    if encoding.file_format == "FLAC":
        return _LOSSLESS_SHARE * plan.settings.sample_rate * (3 if "24" in encoding.subtype else 2)
    return float(_LOSSY_BYTES_PER_SECOND)


def _by_disk(folders: Iterable[Path]) -> list[list[Path]]:
    disks: dict[int, list[Path]] = {}
    for folder in folders:
        existing = next((path for path in (folder, *folder.absolute().parents) if os.path.exists(path)), None)
        disks.setdefault(existing.stat().st_dev if existing else -1, []).append(folder)
    return list(disks.values())
