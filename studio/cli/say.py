"""`timbre say`: a text in a voice."""

from __future__ import annotations

import argparse
from dataclasses import replace

from studio.cli.command_context import CommandContext
from studio.cli.delivery import add_destination_options, choose_destination
from studio.cli.model_choice import add_engine_options, add_model_option, model_folder, positive
from studio.cli.speaking import add_silence_option, add_speech_options, speak
from studio.cli.text_source import ARRIVING, add_text_options, arriving_text, written_text
from studio.cli.voice_choice import add_voice_options, voice_reference
from studio.model.config import SamplingOptions
from studio.pipeline.request import SynthesisRequest
from studio.worker.client import WorkerClient
from studio.worker.request_handle import Callbacks, RequestHandle

EXAMPLES = """\
examples:
  timbre say "The harbour was quiet." --voice narrator.wav --transcript "The words of narrator.wav." -o harbour.wav
  timbre say "今天天气很好。" --voice Anna --play
  timbre say "We have won!" --voice Anna --instruct "speak with great joy"
  timbre say "We have won!" --voice Anna --preset emotion.happy     (`timbre styles` lists them)
  timbre say --file chapter-one.txt --voice Anna -o chapter-one.flac
  some-program | timbre say - --voice Anna --play                   speak while the text arrives
  timbre say "Wait [pause 0.5] for it." --voice Anna --json -o wait.wav

A transcript gives the closest likeness. Without one, or with a style, only the recording is used.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "say",
        help="speak a text in a voice",
        description="Speak a text in a voice. Playback starts while the rest is still being synthesised.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    add_text_options(parser)
    add_voice_options(parser)
    style = parser.add_mutually_exclusive_group()
    style.add_argument("--instruct", metavar="WORDS", help="the speaking style, in your own words")
    style.add_argument("--preset", metavar="NAME", help="the speaking style, by name: see `timbre styles`")
    add_speech_options(parser)
    add_silence_option(parser)
    parser.add_argument("--as-written", action="store_true", help="do not normalise numbers and abbreviations")
    add_destination_options(parser)
    add_model_option(parser)
    add_engine_options(parser)
    _add_sampling_options(parser)


def run(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    text = written_text(arguments)
    folder = model_folder(arguments.model)
    voice = voice_reference(arguments.voice, arguments.transcript, command_context.open_library(), folder)
    request = SynthesisRequest(
        text=text,
        voice=voice,
        instruct=arguments.instruct,
        preset=arguments.preset,
        speed=arguments.speed,
        seed=arguments.seed,
        is_streaming=not arguments.whole,
        text_is_normalized=arguments.as_written,
        sampling=_sampling(arguments),
        first_hop_tokens=arguments.first_hop,
        trims_leading_silence=not arguments.keep_leading_silence,
    )

    def begin(client: WorkerClient, hooks: Callbacks) -> RequestHandle:
        pieces = arriving_text(command_context.text_input) if arguments.text == ARRIVING else None
        return client.synthesize(request, pieces=pieces, hooks=hooks)

    def begin_again(client: WorkerClient, hooks: Callbacks) -> RequestHandle:
        return client.synthesize(replace(request, is_played=False), hooks=hooks)

    is_repeatable = arguments.text != ARRIVING
    return speak(
        arguments,
        folder,
        choose_destination(arguments, command_context),
        command_context,
        begin,
        begin_again=begin_again if is_repeatable else None,
    )


def _add_sampling_options(parser: argparse.ArgumentParser) -> None:
    usual = SamplingOptions()
    group = parser.add_argument_group(
        "sampling", "sampling of the language model; the defaults are those of the released models"
    )
    group.add_argument("--top-p", type=_share, metavar="P", help=f"nucleus probability (default {usual.top_p})")
    group.add_argument("--top-k", type=positive, metavar="K", help=f"number of candidates (default {usual.top_k})")
    group.add_argument(
        "--repetition-window",
        type=positive,
        metavar="N",
        help=f"tokens checked for repetition (default {usual.window_tokens})",
    )
    group.add_argument(
        "--repetition-ratio",
        type=_share,
        metavar="R",
        help=f"share of repetitions allowed (default {usual.repetition_ratio})",
    )
    group.add_argument(
        "--first-hop", type=positive, metavar="TOKENS", help="length of the first chunk, 25 tokens per second"
    )


def _sampling(arguments: argparse.Namespace) -> SamplingOptions | None:
    chosen = {
        "top_p": arguments.top_p,
        "top_k": arguments.top_k,
        "window_tokens": arguments.repetition_window,
        "repetition_ratio": arguments.repetition_ratio,
    }
    given = {name: value for name, value in chosen.items() if value is not None}
    return SamplingOptions(**given) if given else None


def _share(text: str) -> float:
    share = float(text)
    if not 0.0 < share <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return share
