"""`timbre characters`: who says what in a novel."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from studio.cli.command_context import CommandContext
from studio.cli.corrections import corrected_attribution
from studio.cli.export_options import add_corrections_option, text_encoding
from studio.cli.options import Commands, add_command
from studio.errors import UnreadableScript
from studio.project.attribution.attribution import Attribution
from studio.project.casting import LibraryNames
from studio.project.full_cast import Dialogue, FullCast, suggested_cast
from studio.project.importing.script_file import ImportOptions, ScriptKind, read_file
from studio.voices.voice import name_key

EXAMPLES = """\
examples:
  timbre characters book.epub
  timbre characters book.epub --json > cast.json
  timbre characters book.epub --corrections cast.json
  timbre export book.epub --full-cast --corrections cast.json --voice Ada --cast "Mr Darcy=Angus" --out book
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "characters",
        run,
        help_text="list the characters of a novel and what they say",
        description="Assign the dialogue of an English or Chinese novel to its characters, by rules and without a model. The "
        "table suggests voices of the library.",
        examples=EXAMPLES,
    )
    parser.add_argument("script", type=Path, metavar="BOOK", help="a text or document")
    parser.add_argument(
        "--encoding",
        type=text_encoding,
        metavar="NAME",
        help="encoding of a text, such as cp1251 or big5 (default: guess)",
    )
    add_corrections_option(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object with the characters and all quotations in order"
    )


def run(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    file = read_file(arguments.script, arguments.encoding)
    if file.kind not in (ScriptKind.TEXT, ScriptKind.BOOK):
        raise UnreadableScript(
            "{file} is not a novel: its lines already name their characters.",
            remedy="Choose a text or document.",
            file=file.name,
        )
    dialogue = Dialogue(file.script(ImportOptions()).lines)
    attribution = corrected_attribution(dialogue, arguments.corrections)
    cast = dialogue.divide(attribution)
    voices = LibraryNames(voice.name for voice in command_context.open_library().voices() if voice.generation is None)
    members = suggested_cast(cast.lines, attribution, {}, voices)
    suggested = {key: member.voice for key, member in members.items()}
    if arguments.json:
        print(json.dumps(_values(attribution, cast, suggested), ensure_ascii=False), flush=True)
        return 0
    width = max((len(each.name) for each in attribution.characters), default=0)
    for character in attribution.characters:
        voice = suggested.get(name_key(character.name)) or ""
        aliases = f"  ({', '.join(character.aliases)})" if character.aliases else ""
        print(f"{character.num_quotations:>6}  {character.name:{width}}  {voice}{aliases}".rstrip())
    quotations = attribution.quotations
    num_doubtful = sum(each.is_doubtful for each in quotations)
    print(f"\n{len(quotations)} quotations, {num_doubtful} doubtful", flush=True)
    return 0


def _values(attribution: Attribution, cast: FullCast, voices: Mapping[str, str | None]) -> dict[str, object]:
    return {
        "characters": [
            {
                "name": each.name,
                "aliases": list(each.aliases),
                "lines": each.num_quotations,
                "voice": voices.get(name_key(each.name)),
            }
            for each in attribution.characters
        ],
        "quotations": [
            {
                "text": each.text,
                "speaker": each.speaker,
                "confidence": each.confidence,
                "reason": reason,
            }
            for each, reason in zip(attribution.quotations, cast.reasons(attribution), strict=True)
        ],
    }
