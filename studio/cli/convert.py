"""`timbre convert`: voice conversion of a recording."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from studio.cli.command_context import CommandContext
from studio.cli.delivery import add_destination_options, choose_destination
from studio.cli.model_choice import add_engine_options, add_model_option, model_folder
from studio.cli.speaking import add_speech_options, speak
from studio.cli.voice_choice import add_voice_options, voice_reference
from studio.errors import UnreadableClip
from studio.pipeline.request import ConversionRequest

EXAMPLES = """\
examples:
  timbre convert speech.wav --voice narrator.wav -o converted.wav
  timbre convert memo.m4a --voice Anna --play

Words, pace and intonation are kept; only the voice changes. Long recordings are converted in parts, split
at pauses.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "convert",
        help="convert a recording to another voice",
        description="Convert a recording to another voice.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("source", type=Path, metavar="RECORDING", help="an audio file with one speaker")
    add_voice_options(parser)
    add_speech_options(parser)
    add_destination_options(parser)
    add_model_option(parser)
    add_engine_options(parser)


def run(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    if not os.path.isfile(arguments.source):
        raise UnreadableClip("There is no file {path}.", remedy="Check its name and folder.", path=arguments.source)
    folder = model_folder(arguments.model)
    request = ConversionRequest(
        source=arguments.source,
        voice=voice_reference(arguments.voice, arguments.transcript, command_context.open_library(), folder),
        speed=arguments.speed,
        seed=arguments.seed,
        is_streaming=not arguments.whole,
    )
    destination = choose_destination(arguments, command_context)
    return speak(
        arguments,
        folder,
        destination,
        command_context,
        lambda client, hooks: client.convert(request, hooks=hooks),
        needs_speech_lm=False,
    )
