"""Options of `timbre export`, and the settings of an export that they describe."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from studio.audio.encoding import ENCODINGS, MP3_192, SoundEncoding, encoding_named
from studio.cli.checks import add_check_options
from studio.cli.old_options import add_old_options
from studio.cli.options import (
    add_engine_options,
    add_model_option,
    add_server_options,
    add_speech_options,
    add_style_options,
    pair,
)
from studio.cli.signing import add_signing_options
from studio.errors import StudioError, UnusableSetting
from studio.export.book import BookDetails, read_cover
from studio.export.joined_files import FilePer
from studio.export.mastering import LoudnessTarget
from studio.export.names import DEFAULT_CHAPTER_PATTERN, DEFAULT_PATTERN
from studio.export.plan import SAMPLE_RATES, ExportSettings
from studio.export.presets import EXPORT_OPTIONS, PRESETS, export_settings
from studio.export.provenance import Provenance
from studio.export.standards import ACX, standard_named
from studio.export.subtitles import SubtitleFormat
from studio.export.target_folder import Origin
from studio.project.dubbing import FitOptions, Retakes
from studio.project.importing.columns import Field
from studio.project.splitting import SplitMode
from studio.settings import FIT_FASTEST, FIT_SLOWEST
from studio.settings_store import Settings

_FILES = ("lines", "joined", "chapters", "m4b", "characters", "languages")
_JOINED_FILES = {"joined": FilePer.SCRIPT, "characters": FilePer.CHARACTER, "languages": FilePer.LANGUAGE}
_WORD_TIMES = "-words"
_READ_ALONG = "html"
_SUBTITLES = {
    "srt": SubtitleFormat.SRT,
    "vtt": SubtitleFormat.VTT,
    "lrc": SubtitleFormat.LRC,
    "json": SubtitleFormat.JSON,
    f"srt{_WORD_TIMES}": SubtitleFormat.SRT,
    f"vtt{_WORD_TIMES}": SubtitleFormat.VTT,
}
_BOOK_FIELDS = ("title", "author", "narrator", "cover")


def add_export_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        required=True,
        metavar="DIR|FILE",
        help="the folder for the files, created if needed; or an audio file for all lines, or an audiobook (.m4b)",
    )
    parser.add_argument("--lines", type=line_numbers, metavar="3,5-8", help="only these lines")
    parser.add_argument(
        "--for",
        dest="purpose",
        choices=tuple(preset.name for preset in PRESETS),
        help="files, format and loudness that suit this purpose; other options take precedence, see below",
    )
    _add_script_options(parser)
    _add_file_options(parser)
    _add_audio_options(parser)
    _add_dubbing_options(parser)
    _add_speech_options(parser)
    add_engine_options(parser, has_precision=False)
    add_server_options(parser)


def _add_script_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("script", "how to read texts, tables and documents")
    group.add_argument(
        "--cast",
        action="append",
        default=[],
        type=pair,
        metavar="NAME=VOICE",
        help="voice of a character or of an unknown voice name; may be repeated",
    )
    group.add_argument(
        "--full-cast",
        action="store_true",
        help="give the dialogue of a novel to its characters, whom `timbre characters` lists; characters without --cast "
        "get voices of the library",
    )
    add_corrections_option(group)
    group.add_argument(
        "--whole-paragraphs",
        action="store_true",
        help="with --full-cast: a character also reads the narration of a paragraph, unless another one speaks in it",
    )
    add_reading_options(group, split_default="sentence", cues_default="skip")


def add_corrections_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--corrections",
        type=Path,
        metavar="FILE",
        help="output of `timbre characters --json` in which you corrected speakers; other quotations learn from it",
    )


def add_reading_options(group: argparse._ActionsContainer, *, split_default: str, cues_default: str) -> None:
    """Add the options for reading a file. The defaults are named in the help; their values are None."""
    group.add_argument(
        "--split",
        type=SplitMode,
        metavar="sentence|paragraph",
        help=f"how to split a text into lines (default {split_default})",
    )
    group.add_argument(
        "--column",
        action="append",
        default=[],
        type=_column,
        metavar="FIELD=NAME",
        help=f"column of a table for {', '.join(field.value for field in Field)}; without NAME, the field is left out; "
        "sheet=NAME chooses a sheet of a workbook, and may be repeated (default: those with lines)",
    )
    group.add_argument(
        "--encoding",
        type=text_encoding,
        metavar="NAME",
        help="encoding of a text, such as cp1251 or big5 (default: guess)",
    )
    group.add_argument(
        "--sound-cues",
        choices=("skip", "speak"),
        help=f"whether sounds, songs and signs of subtitles, such as [door slams], and stage directions are spoken (default {cues_default})",
    )


def _add_file_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("files")
    group.add_argument(
        "--files",
        nargs="+",
        choices=_FILES,
        metavar="KIND",
        help="what to write: a file per line (lines, the default), one for all lines (joined), a file per chapter "
        "(chapters), an audiobook (m4b), or, at the original times, a file per character or language (characters, "
        "languages)",
    )
    group.add_argument(
        "--pattern",
        help=f"file name pattern (default {DEFAULT_PATTERN!r}, or {DEFAULT_CHAPTER_PATTERN!r} for chapters), see below",
    )
    group.add_argument(
        "--subtitles",
        nargs="+",
        choices=(*_SUBTITLES, _READ_ALONG),
        metavar="FORMAT",
        help=f"write subtitles: {', '.join(_SUBTITLES)}; -words and json contain the times of words, which are known for "
        f"takes that were checked; or {_READ_ALONG}, a page with the text and the audio, in which the words are highlighted",
    )
    group.add_argument("--manifest", action="store_true", help="write a table (CSV) of all lines and their files")
    add_signing_options(group)
    group.add_argument(
        "--disclaimer",
        action="store_true",
        help="begin with a sentence, in the language of the script, that says that the voice is synthetic",
    )
    group.add_argument(
        "--replace", action="store_true", help="overwrite files that are not from an export of this script"
    )
    group.add_argument(
        "--dry-run",
        action="store_true",
        help="list the files to make, replace and keep, and how each sentence is spoken; write nothing",
    )
    group.add_argument("--skip-failed", action="store_true", help="leave out lines that cannot be spoken")
    group.add_argument("--json", action="store_true", help="print one JSON object with the results")
    add_old_options(parser, "--joined", "--joined-only", "--chapters", "--m4b", "--per", "--name", "--word-times")


def _add_audio_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("audio", "default: the samples of the takes, unchanged")
    group.add_argument("--format", type=_encoding, metavar="NAME", help=f"{', '.join(ENCODINGS)} (default wav16)")
    group.add_argument("--rate", type=int, choices=SAMPLE_RATES, metavar="HZ", help="24000 (default), 44100 or 48000")
    group.add_argument(
        "--lufs", type=float, metavar="LUFS", help="normalise each file to this loudness, for example -16"
    )
    group.add_argument(
        "--pause", type=float, metavar="SECONDS", help="pause between lines, instead of their own pauses"
    )
    group.add_argument(
        "--book",
        action="append",
        default=[],
        type=_book_detail,
        metavar="FIELD=TEXT",
        help=f"detail of the work: {', '.join(_BOOK_FIELDS)} (an image file); may be repeated (default: those of the "
        "document)",
    )
    add_old_options(parser, "--standard", "--room-tone", "--true-peak", "--trim", "--licence")
    add_old_options(parser, *(f"--{field}" for field in _BOOK_FIELDS))


def _add_dubbing_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("dubbing", "for subtitles, and projects whose lines have times")
    group.add_argument(
        "--at-times", action="store_true", help="write one file in which every line begins at its original time"
    )
    group.add_argument(
        "--fit", action="store_true", help="shorten lines that are longer than their times, and list what remains"
    )
    add_old_options(parser, "--fit-retake", "--fit-limits", "--fit-short")


def _add_speech_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--voice",
        metavar="CLIP|NAME",
        help="the voice of lines without one: a recording of 3 to 10 seconds, or the name of a voice added with `timbre "
        "voices add`",
    )
    parser.add_argument(
        "--changed-words",
        action="store_true",
        help="of lines of a project whose text or pronunciation has changed since their take, speak only these words again",
    )
    add_style_options(parser)
    add_speech_options(parser)
    add_check_options(parser)
    add_model_option(parser)
    add_old_options(parser, "--transcript", "--whole", "--keep-leading-silence")


def line_numbers(words: str) -> frozenset[int]:
    """Parse line numbers such as ``3,5-8``."""
    numbers: set[int] = set()
    for part in words.split(","):
        first, _, last = part.strip().partition("-")
        try:
            numbers.update(range(int(first), min(int(last or first), _MAX_LINE_NUMBER) + 1))
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{words} is not like 3,5-8") from error
    return frozenset(numbers)


_MAX_LINE_NUMBER = 1_000_000  # limit for ranges that end far beyond the last line


def text_encoding(name: str) -> str:
    try:
        "".encode(name)
    except LookupError as error:
        raise argparse.ArgumentTypeError(f"{name} is not the name of an encoding") from error
    return name


def _column(words: str) -> tuple[Field | None, str]:
    """Parse ``text=Dialogue``; ``sheet=NAME`` has no field."""
    name, sign, column = words.partition("=")
    known = [field.value for field in Field]
    if sign and name.strip() == "sheet":
        return None, column.strip()
    if not sign or name.strip() not in known:
        raise argparse.ArgumentTypeError(f"{words} does not have the form FIELD=NAME, with one of {', '.join(known)}")
    return Field(name.strip()), column.strip()


def _book_detail(words: str) -> tuple[str, str]:
    name, value = pair(words)
    if name not in _BOOK_FIELDS:
        raise argparse.ArgumentTypeError(f"{name} is not one of {', '.join(_BOOK_FIELDS)}")
    return name, value


def _encoding(name: str) -> SoundEncoding:
    try:
        return encoding_named(name)
    except StudioError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def resolve_output(arguments: argparse.Namespace) -> None:
    """Use a file name in ``--out`` as name, format and kind of the file to write."""
    suffix = arguments.out.suffix.lower()
    is_audiobook = suffix == ".m4b"
    if arguments.out.is_dir() or not (is_audiobook or suffix in {each.suffix for each in ENCODINGS.values()}):
        return
    if not is_audiobook and (arguments.format is None or arguments.format.suffix != suffix):
        arguments.format = encoding_named(suffix)
    if not _chosen_files(arguments):
        arguments.files = ["m4b" if is_audiobook else "joined"]
    arguments.name = arguments.name or arguments.out.stem
    arguments.out = arguments.out.parent


def chosen_settings(
    arguments: argparse.Namespace,
    name: str,
    *,
    origin: Origin,
    provenance: Provenance,
    book: BookDetails,
    style_names: Mapping[str, str],
    guide_track: str | None = None,
) -> ExportSettings:
    """Return the settings of an export: from the options, else the preset, else the defaults.

    Raise ``UnusableSetting``.
    """
    values = {setting: setting.default for setting in EXPORT_OPTIONS}
    values |= next((preset.values for preset in PRESETS if preset.name == arguments.purpose), {})
    settings = export_settings(
        values,
        joined_name=arguments.name or name,
        project_name=name,
        provenance=provenance,
        origin=origin,
        replaces_files=arguments.replace,
        book=book,
        has_times=True,  # a preset may use them
        guide_track=guide_track,
        style_names=style_names,
    )
    settings = replace(
        settings,
        **(_file_settings(arguments, arguments.name or name) | _audio_settings(arguments)),
        project=arguments.name or name,
        allows_missing=arguments.skip_failed,
    )
    if arguments.disclaimer and settings.at_times:
        raise UnusableSetting(
            "A disclaimer would delay lines that have times.",
            remedy="Export without --disclaimer, and add it to the video.",
        )
    return settings


def _file_settings(arguments: argparse.Namespace, name: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    files = _chosen_files(arguments)
    if files:
        joined = [_JOINED_FILES[each] for each in _JOINED_FILES if each in files]
        at_times = arguments.at_times or bool(files & {"characters", "languages"})
        given |= {
            "has_line_files": "lines" in files,
            "has_chapter_files": "chapters" in files,
            "has_audiobook": "m4b" in files,
            "joined_name": name if joined else None,
            "joined_per": joined[-1] if joined else FilePer.SCRIPT,
            "at_times": at_times,
        }
        if at_times or not files - {"lines"}:
            given["standard"] = None  # from the preset; standards are for joined files
    if arguments.pattern:
        given |= {"pattern": arguments.pattern, "chapter_pattern": arguments.pattern}
    if arguments.subtitles:
        given["subtitles"] = frozenset(_SUBTITLES[each] for each in arguments.subtitles if each != _READ_ALONG)
        given["has_read_along"] = _READ_ALONG in arguments.subtitles
        given["subtitles_have_words"] = arguments.word_times or any(_WORD_TIMES in each for each in arguments.subtitles)
    if arguments.manifest:
        given["has_manifest"] = True
    return given


def _chosen_files(arguments: argparse.Namespace) -> frozenset[str]:
    """Return the kinds of files of ``--files`` and of the options that it replaced; empty if none is given."""
    files = set(arguments.files or ())
    files |= {name for name in ("chapters", "m4b") if getattr(arguments, name)}
    if arguments.joined and not files:
        files.add("lines")
    if arguments.joined or arguments.joined_only:
        files.add("joined")
    if arguments.per in ("character", "language"):
        files.add(f"{arguments.per}s")
    if arguments.at_times and not files & set(_JOINED_FILES):
        files.add("joined")
    return frozenset(files)


def _audio_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    is_acx = arguments.standard == ACX.name
    given = {
        "encoding": arguments.format or (MP3_192 if is_acx else None),
        "sample_rate": arguments.rate or (44_100 if is_acx else None),
        "pause_seconds": arguments.pause,
        "loudness": None if arguments.lufs is None else LoudnessTarget(arguments.lufs, arguments.true_peak),
        "standard": None if arguments.standard is None else standard_named(arguments.standard),
        "room_tone": arguments.room_tone,
        "is_trimmed": arguments.trim or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def book_details(arguments: argparse.Namespace, found: BookDetails) -> BookDetails:
    """Return the details ``found`` in the script; options take precedence."""
    old = {field: value for field in _BOOK_FIELDS if (value := getattr(arguments, field)) is not None}
    named = {**old, **dict(arguments.book)}
    if "cover" in named:
        named["cover"] = read_cover(Path(named["cover"]))
    return replace(found, **named)


def fit_options(arguments: argparse.Namespace) -> FitOptions | None:
    """Return the limits of ``--fit`` from the settings, or None without it. Raise ``UnusableSetting``."""
    if not arguments.fit:
        return None
    settings = Settings()
    slowest, fastest = arguments.fit_limits or (settings[FIT_SLOWEST], settings[FIT_FASTEST])
    return FitOptions(slowest, fastest, lengthens=arguments.fit_short, retakes=Retakes(arguments.fit_retake))
