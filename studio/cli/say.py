"""`timbre say`: speak a text in a voice."""

from __future__ import annotations

import argparse
import asyncio
import codecs
import os
import sys
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from studio.catalog.language_check import unlearned_language
from studio.cli.checks import add_check_options, check_policy
from studio.cli.command_context import CommandContext
from studio.cli.delivery import add_destination_options
from studio.cli.old_options import add_old_options
from studio.cli.options import (
    Commands,
    add_command,
    add_engine_options,
    add_language_option,
    add_model_option,
    add_server_options,
    add_speech_options,
    add_style_options,
    add_voice_options,
    add_whole_option,
    chosen_quality,
    keeps_leading_silence,
    speaking_place,
    voice_reference,
)
from studio.cli.speaking import CheckedSpeech, followed_instruction, run_until_cancelled, speak
from studio.errors import NothingToSpeak
from studio.model.options import Quality, SamplingOptions
from studio.pipeline.request import SynthesisRequest
from studio.project.importing.text_file import read_text
from studio.project.requests import reading_rules
from studio.provenance.statement import Statement, spoken_statement
from studio.settings_store import Settings
from studio.text.language import language_of_script, tag_of_line
from studio.worker.client import WorkerClient
from studio.worker.request_handle import Callbacks, RequestHandle

EXAMPLES = """\
examples:
  timbre say "The harbour was quiet." --voice narrator.wav --transcript "The words of narrator.wav." -o harbour.wav
  timbre say "今天天气很好。" --voice Anna --play --model CosyVoice2-0.5B
  timbre say "We have won!" --voice Anna --instruct "speak with great joy" --model CosyVoice2-0.5B
  timbre say "We have won!" --voice Anna --preset volume.loud       (`timbre styles` lists them)
  timbre say --file chapter-one.txt --voice Anna -o chapter-one.flac
  some-program | timbre say - --voice Anna --play                   speak while the text arrives
  timbre say "Hello there." --voice Anna -o - | ffmpeg -i - hello.m4a
  timbre say "It costs $12.50." --dry-run                           show how numbers and signs are read
  timbre say "Wait [pause 0.5] for it." --voice Anna --json -o wait.wav

A transcript gives the closest likeness. Without one, or with a style, only the recording is used.
"""


_BLOCK_BYTES = 4096
_STANDARD_INPUT = "-"


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "say",
        run,
        help_text="speak a text in a voice",
        description="Speak a text in a voice. Playback starts while the rest is still being synthesised.",
        examples=EXAMPLES,
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "text", nargs="?", metavar="TEXT", help="the text to speak; - reads standard input as it arrives"
    )
    source.add_argument("--file", type=Path, metavar="FILE", help="speak a text file")
    add_voice_options(parser)
    add_style_options(parser)
    add_speech_options(parser)
    add_whole_option(parser)
    add_language_option(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="print each sentence as written and as spoken, and speak nothing"
    )
    parser.add_argument("--as-written", action="store_true", help="do not normalise numbers and abbreviations")
    add_check_options(parser)
    add_destination_options(parser)
    add_model_option(parser)
    add_engine_options(parser)
    add_server_options(parser)
    add_old_options(
        parser,
        "--keep-leading-silence",
        "--top-p",
        "--top-k",
        "--repetition-window",
        "--repetition-ratio",
        "--first-hop",
    )


def run(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    text = _written_text(arguments)
    folder, command_context = speaking_place(arguments, command_context)
    language = tag_of_line(text, tag=arguments.language or "", rules=reading_rules(Settings()))
    if arguments.dry_run:
        from studio.cli.dry_run import print_sentences, sentences_of_texts  # noqa: PLC0415 - speech does not need it

        sentences = sentences_of_texts([(text, language)], folder, normalize=not arguments.as_written)
        print_sentences(sentences, is_json=arguments.json)
        return 0
    voice = voice_reference(
        arguments.voice, arguments.transcript, command_context.open_library(), folder, language_of_script([text])
    )
    request = SynthesisRequest(
        text=text,
        voice=voice,
        instruct=followed_instruction(arguments.instruct, folder),
        preset=arguments.preset,
        speed=arguments.speed,
        seed=arguments.seed,
        is_streaming=not arguments.whole,
        text_is_normalized=arguments.as_written,
        language=language,
        sampling=_sampling(arguments),
        first_hop_tokens=arguments.first_hop,
        trims_leading_silence=not keeps_leading_silence(arguments),
        quality=chosen_quality(arguments) or Quality.EXACT,
    )

    is_streamed_in = arguments.text == _STANDARD_INPUT

    arrived: list[str] = []

    def begin(client: WorkerClient, hooks: Callbacks) -> RequestHandle:
        pieces = _kept(_arriving_text(command_context.text_input), arrived) if is_streamed_in else None
        return client.synthesize(request, pieces=pieces, hooks=hooks)

    def begin_again(client: WorkerClient, hooks: Callbacks) -> RequestHandle:
        return client.synthesize(replace(request, is_played=False), hooks=hooks)

    again = None if is_streamed_in or unlearned_language(folder.name, text) else begin_again
    policy = check_policy(arguments)
    checked = None if policy is None else CheckedSpeech(request, policy, arrived)

    def statement() -> Statement:
        return spoken_statement(replace(request, text="".join(arrived) or text))

    return run_until_cancelled(
        speak(
            arguments,
            folder,
            command_context,
            begin,
            begin_again=again,
            text=text,
            checked=checked,
            statement=statement,
        )
    )


def _written_text(arguments: argparse.Namespace) -> str:
    """Return the text of the argument or the file, or an empty text if it arrives on standard input.

    Raise ``NothingToSpeak``, ``UnreadableScript``.
    """
    if arguments.text == _STANDARD_INPUT:
        return sys.stdin.read() if arguments.dry_run else ""
    text: str = arguments.text if arguments.file is None else read_text(arguments.file, allows_pipe=True)
    if not text.strip():
        raise NothingToSpeak("The text is empty.", remedy="Write at least one word.")
    return text


async def _arriving_text(file_descriptor: int) -> AsyncIterator[str]:
    """Yield pieces of text as they arrive, until the end of the input. Undecodable bytes become U+FFFD."""
    encoding = getattr(sys.stdin, "encoding", None) or "utf-8"
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding.lower() == "utf-8" else encoding)("replace")
    loop = asyncio.get_running_loop()
    blocks: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        # Not sys.stdin: a blocked buffered reader would keep the program from ending.
        block = b"-"
        while block:
            try:
                block = os.read(file_descriptor, _BLOCK_BYTES)
            except OSError:
                block = b""
            loop.call_soon_threadsafe(blocks.put_nowait, block)

    threading.Thread(target=read, name="standard-input", daemon=True).start()
    while block := await blocks.get():
        yield decoder.decode(block)
    yield decoder.decode(b"", final=True)


async def _kept(pieces: AsyncIterator[str], arrived: list[str]) -> AsyncIterator[str]:
    """Yield ``pieces``, and append them to ``arrived``."""
    async for piece in pieces:
        arrived.append(piece)
        yield piece


def _sampling(arguments: argparse.Namespace) -> SamplingOptions | None:
    chosen = {
        "top_p": arguments.top_p,
        "top_k": arguments.top_k,
        "window_tokens": arguments.repetition_window,
        "repetition_ratio": arguments.repetition_ratio,
    }
    given = {name: value for name, value in chosen.items() if value is not None}
    return SamplingOptions(**given) if given else None
