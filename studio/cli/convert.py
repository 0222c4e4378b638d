"""`timbre convert`: voice conversion of a recording."""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path

from studio.cli.command_context import CommandContext
from studio.cli.delivery import add_destination_options
from studio.cli.options import (
    Commands,
    add_command,
    add_engine_options,
    add_model_option,
    add_speech_options,
    add_voice_options,
    add_whole_option,
    chosen_quality,
    model_folder,
    voice_reference,
)
from studio.cli.speaking import run_until_cancelled, speak
from studio.errors import UnreadableClip
from studio.model.options import Quality
from studio.pipeline.request import ConversionRequest
from studio.provenance.statement import spoken_statement
from studio.worker.client import WorkerClient
from studio.worker.request_handle import Callbacks, RequestHandle

EXAMPLES = """\
examples:
  timbre convert speech.wav --voice narrator.wav -o converted.wav
  timbre convert memo.m4a --voice Anna --play

Words, pace and intonation are kept; only the voice changes. Long recordings are converted in parts, split
at pauses.
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "convert",
        run,
        help_text="convert a recording to another voice",
        description="Convert a recording to another voice.",
        examples=EXAMPLES,
    )
    parser.add_argument("source", type=Path, metavar="RECORDING", help="an audio file with one speaker")
    add_voice_options(parser)
    add_speech_options(parser)
    add_whole_option(parser)
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
        quality=chosen_quality(arguments) or Quality.EXACT,
    )

    def begin(client: WorkerClient, hooks: Callbacks) -> RequestHandle:
        return client.convert(request, hooks=hooks)

    return run_until_cancelled(
        speak(
            arguments,
            folder,
            command_context,
            begin,
            needs_speech_lm=False,
            statement=partial(spoken_statement, request),
        )
    )
