"""`timbre characters`: who says what in a novel."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from studio.cli.command_context import CommandContext
from studio.cli.export_options import text_encoding
from studio.cli.options import Commands, add_command
from studio.project.importing.script_file import ImportOptions, read_file

EXAMPLES = """\
examples:
  timbre characters book.epub
  timbre characters book.epub --json
  timbre export book.epub --full-cast --voice Ada --cast "Mr Darcy=Angus" --out book
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "characters",
        run,
        help_text="list the characters of a novel and what they say",
        description="Assign the dialogue of an English or Chinese novel to its characters, by rules and without a model.",
        examples=EXAMPLES,
    )
    parser.add_argument("script", type=Path, metavar="BOOK", help="a text or document")
    parser.add_argument(
        "--encoding",
        type=text_encoding,
        metavar="NAME",
        help="encoding of a text, such as cp1251 or big5 (default: guess)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object with the characters and all quotations in order"
    )


def run(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    options = ImportOptions()
    cast = read_file(arguments.script, arguments.encoding).full_cast(options)
    characters, quotations = cast.attribution.characters, cast.attribution.quotations
    numbers = cast.line_numbers(options.breaks)
    if arguments.json:
        values = {
            "characters": [
                {"name": each.name, "aliases": list(each.aliases), "lines": each.num_quotations} for each in characters
            ],
            "quotations": [
                {
                    "text": each.text,
                    "speaker": each.speaker,
                    "confidence": each.confidence,
                    "reason": cast.reason(each, numbers),
                }
                for each in quotations
            ],
        }
        print(json.dumps(values, ensure_ascii=False), flush=True)
        return 0
    for character in characters:
        aliases = f"  ({', '.join(character.aliases)})" if character.aliases else ""
        print(f"{character.num_quotations:>6}  {character.name}{aliases}")
    num_doubtful = sum(each.is_doubtful for each in quotations)
    print(f"\n{len(quotations)} quotations, {num_doubtful} doubtful", flush=True)
    return 0
