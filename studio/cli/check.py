"""`timbre check`: check of recordings against their text."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from studio.audio.files import read_audio
from studio.cli.checks import check_values
from studio.cli.command_context import CommandContext
from studio.cli.options import Commands, add_command, add_model_option, model_folder, voice_reference
from studio.cli.progress import print_message
from studio.errors import UnreadableText, type_of_code
from studio.messages import printable
from studio.project.importing.script_file import read_tables
from studio.take_checks.records import TakeCheck, Verdict
from studio.take_checks.requests import CheckRequest, Strictness
from studio.take_checks.sentences import problem_phrase
from studio.take_checks.service import TakeCheckService

EXAMPLES = """\
examples:
  timbre check hello.wav --text "Hello there."
  timbre check hello.wav --text "Hello there." --voice Anna --json      also compare the voice
  timbre check recordings                   each recording with the text file of the same name beside it
  timbre check lines.csv                    a table with the columns "file" and "text"

The exit status is 0 if all recordings are good, 1 if one is doubtful or cannot be checked, 2 if one is bad.
"""
_SUFFIXES = (".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a", ".aac")
_STATUS = {Verdict.GOOD: 0, Verdict.DOUBTFUL: 1, Verdict.NOT_CHECKED: 1, Verdict.BAD: 2}


@dataclass(frozen=True, slots=True)
class _Item:
    path: Path
    text: str


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "check",
        run,
        help_text="check recordings against their text",
        description="Check recordings for wrong, missing and repeated words, and for audio defects.",
        examples=EXAMPLES,
    )
    parser.add_argument(
        "sound", type=Path, metavar="SOUND|FOLDER|TABLE", help="a recording, a folder of them, or a table"
    )
    parser.add_argument("--text", metavar="TEXT", help="the text that the recording should contain")
    parser.add_argument(
        "--language", default="", metavar="CODE", help="such as en or zh (default: detected in the text)"
    )
    parser.add_argument("--voice", metavar="CLIP|NAME", help="the voice that the recording should have")
    add_model_option(parser)
    parser.add_argument(
        "--recognizer", default="auto", metavar="ID|off", help="the speech recogniser (default: one for the language)"
    )
    strictness = parser.add_mutually_exclusive_group()
    strictness.add_argument("--strict", action="store_true", help="also report less certain problems")
    strictness.add_argument("--lenient", action="store_true", help="report only certain problems")
    parser.add_argument("--json", action="store_true", help="print one JSON object, or one for each line of a list")


def run(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    items = list(_items(arguments))
    is_list = len(items) != 1 or arguments.sound != items[0].path
    client = command_context.open_checks()
    status = 0
    try:
        for item, future in _submitted(items, arguments, command_context, client):
            check = future.result()
            status = max(status, _STATUS[check.verdict])
            if arguments.json:
                facts = check_values(check)
                print(
                    json.dumps({"file": str(item.path), **facts} if is_list else facts, ensure_ascii=False), flush=True
                )
            else:
                _print(item, check)
    finally:
        client.close()
    return status


def _submitted(
    items: list[_Item], arguments: argparse.Namespace, command_context: CommandContext, client: TakeCheckService
) -> Iterator[tuple[_Item, Future[TakeCheck]]]:
    """Yield each item with its check. The next recording is read while one is checked."""
    held: tuple[_Item, Future[TakeCheck]] | None = None
    for item in items:
        submitted = item, client.submit(_request(item, arguments, command_context))
        if held:
            yield held
        held = submitted
    if held:
        yield held


def _request(item: _Item, arguments: argparse.Namespace, command_context: CommandContext) -> CheckRequest:
    waveform = read_audio(item.path)
    folder = model_folder(arguments.model)
    clip = None
    if arguments.voice:
        clip = voice_reference(arguments.voice, None, command_context.open_library(), folder).clip
    return CheckRequest(
        waveform.samples,
        waveform.sample_rate,
        item.text,
        language=arguments.language,
        prompt_clip=clip,
        model_folder=folder if clip else None,
        recognizer=arguments.recognizer,
        strictness=Strictness.STRICT
        if arguments.strict
        else Strictness.LENIENT
        if arguments.lenient
        else Strictness.NORMAL,
    )


def _items(arguments: argparse.Namespace) -> Iterator[_Item]:
    """Yield the recordings and their texts. Raise ``UnreadableText``, ``UnreadableScript``."""
    path: Path = arguments.sound
    if arguments.text is not None:
        yield _Item(path, arguments.text)
    elif path.is_dir():
        yield from _folder_items(path)
    elif path.suffix.casefold() in (".csv", ".tsv", ".xlsx"):
        yield from _table_items(path)
    else:
        yield _Item(path, _text_beside(path))


def _folder_items(folder: Path) -> Iterator[_Item]:
    sounds = sorted(path for path in folder.iterdir() if path.suffix.casefold() in _SUFFIXES)
    found = [_Item(path, _text_beside(path)) for path in sounds if path.with_suffix(".txt").is_file()]
    if not found:
        raise UnreadableText(
            "{folder} contains no recording with a text file of the same name.",
            remedy="Put line1.txt beside line1.wav, or give a table with the columns file and text.",
            folder=folder,
        )
    yield from found


def _table_items(path: Path) -> Iterator[_Item]:
    for table in read_tables(path).values():
        names = [title.casefold() for title in table.columns]
        if "file" in names and "text" in names:
            file, text = names.index("file"), names.index("text")
            yield from (_Item(path.parent / row[file], row[text]) for row in table.rows if row[file].strip())
            return
    raise UnreadableText(
        "{path} has no columns named file and text.",
        remedy="Name the columns in the first row of the table.",
        path=path,
    )


def _text_beside(path: Path) -> str:
    beside = path.with_suffix(".txt")
    try:
        return beside.read_text("utf-8-sig").strip()
    except FileNotFoundError as error:
        raise UnreadableText(
            "There is no text for {path}.",
            remedy="Give it with --text, or in the file {name}.",
            path=path,
            name=beside.name,
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableText(
            "{path} cannot be read ({reason}).", remedy="Save it as UTF-8 text.", path=beside, reason=error
        ) from error


def _print(item: _Item, check: TakeCheck) -> None:
    print(f"{printable(str(item.path))}: {check.verdict.value}")
    for problem in check.problems:
        place = f"{problem.from_seconds:.2f} to {problem.to_seconds:.2f} s"
        print(f"  {place}  {printable(str(problem_phrase(problem)))} ({problem.confidence:.0%})")
    if check.error_code:
        error = type_of_code.get(check.error_code)
        cause = f": {error.cause} {error.usual_remedy}" if error else ""
        print_message(f"timbre: not fully checked ({check.error_code}){cause}")
