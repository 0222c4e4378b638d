"""`timbre convert`: a recording, spoken again by another voice."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from studio.cli.command_context import CommandContext
from studio.cli.destination import add_destination_options, choose_destination
from studio.cli.model_choice import add_engine_options, add_model_option, model_folder
from studio.cli.speaking import add_speech_options, speak
from studio.cli.voice_choice import add_voice_options, voice_reference
from studio.errors import UnreadableClip
from studio.pipeline.request import ConversionRequest

EXAMPLES = """\
examples:
  timbre convert speech.wav --voice narrator.wav -o converted.wav
  timbre convert memo.m4a --voice Anna --play

Words, pace and melody stay those of the recording; the voice is the other one's. Recordings of any
length are converted in pieces, cut where it is quiet.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "convert",
        help="say a recording again in another voice",
        description="Says what is said in a recording with another voice.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("source", type=Path, metavar="RECORDING", help="a sound file with one person speaking")
    add_voice_options(parser)
    add_speech_options(parser)
    add_destination_options(parser)
    add_model_option(parser)
    add_engine_options(parser)


def run(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    if not os.path.isfile(arguments.source):
        raise UnreadableClip(
            "There is no file {path}.", remedy="Check the spelling of its name and folder.", path=arguments.source
        )
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
