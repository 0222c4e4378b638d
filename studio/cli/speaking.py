"""What `say` and `convert` have in common: load, say what must be known, speak, tell what it cost."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

from studio.audio.time_stretch import FASTEST_SPEED, SLOWEST_SPEED
from studio.cli.command_context import CommandContext
from studio.cli.delivery import OutputResult, OutputSink
from studio.cli.destination import Destination
from studio.cli.model_choice import engine_options
from studio.cli.progress import ProgressLine
from studio.cli.summary import as_json, as_words, odd_length_words
from studio.pipeline.request import EngineDescription
from studio.worker.client import WorkerClient
from studio.worker.request_handle import Callbacks, RequestHandle

Begin = Callable[[WorkerClient, Callbacks], RequestHandle]


def add_speech_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--speed", type=_speed, default=1.0, help=f"{SLOWEST_SPEED:g} to {FASTEST_SPEED:g} times as fast (default 1)"
    )
    parser.add_argument("--seed", type=_seed, default=0, help="another number, another take (default 0)")
    parser.add_argument(
        "--whole", action="store_true", help="make each sentence as a whole: slower to begin, slightly better"
    )


def add_silence_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--keep-leading-silence",
        action="store_true",
        help="keep the silence that the model makes before the first word (default: 50 ms of it)",
    )


def speak(
    arguments: argparse.Namespace,
    folder: Path,
    destination: Destination,
    command_context: CommandContext,
    begin: Begin,
    *,
    begin_again: Begin | None = None,
    needs_speech_lm: bool = True,
) -> int:
    """Load what is needed of the model of ``folder``, begin the request and deliver its sound; return the exit status.

    ``begin_again`` begins the request that replaces one with sentences of implausible length, if nothing of
    it was played. Raises ``StudioError``.
    """
    speaking = _speak(
        arguments,
        folder,
        destination,
        command_context,
        begin,
        begin_again=begin_again,
        needs_speech_lm=needs_speech_lm,
    )
    asyncio.run(run_until_cancelled(speaking))
    return 0


async def _speak(
    arguments: argparse.Namespace,
    folder: Path,
    destination: Destination,
    command_context: CommandContext,
    begin: Begin,
    *,
    begin_again: Begin | None,
    needs_speech_lm: bool,
) -> None:
    line = ProgressLine()
    options = replace(engine_options(arguments), loads_speech_lm=needs_speech_lm)
    async with WorkerClient(folder, options, start_worker=command_context.start_worker) as client:
        try:
            line.stage("load", 0.0)
            load_started = time.monotonic()
            description = await client.load()
            load_seconds = time.monotonic() - load_started
            _say_what_must_be_known(description, line)
            delivery = OutputSink(destination, description, command_context, line)
            delivered = await delivery.deliver(lambda hooks: begin(client, hooks))
            if delivered.report.odd_lengths and begin_again is not None and not destination.is_played:
                line.say("The speech does not have the length of its text; making it once more.")
                delivery = OutputSink(destination, description, command_context, line)
                delivered = await delivery.deliver(lambda hooks: begin_again(client, hooks))
        finally:
            line.clear()
        _tell(delivered, destination, line)
        if arguments.json:
            print(as_json(delivered, description, load_seconds=load_seconds, seed=arguments.seed), flush=True)
        await save_voices(client, line)


async def save_voices(client: WorkerClient, line: ProgressLine) -> None:
    """Wait until the prompt states of new voices are on disk: the next command then starts much sooner. Ctrl+C ends it."""
    try:
        await client.finish_writes(on_progress=line.stage)
    finally:
        line.clear()


def _say_what_must_be_known(description: EngineDescription, line: ProgressLine) -> None:
    if description.makes_noise:
        line.say(
            f"{description.model_name} makes noise, not speech: its weights are random. "
            "Give a folder of released weights with --model to hear speech."
        )


def _tell(delivered: OutputResult, destination: Destination, line: ProgressLine) -> None:
    for warning in delivered.report.warnings:
        line.say(f"the voice: {warning}")
    for finding in delivered.report.odd_lengths:
        line.say(odd_length_words(finding))
    for words in as_words(delivered):
        line.say(words)
    if destination.path is not None:
        reason = " (there is no sound card to play it on)" if destination.is_fallback else ""
        line.say(f"wrote {destination.path}{reason}")


async def run_until_cancelled(work: Coroutine[Any, Any, None]) -> None:
    """`kill` ends the work as Ctrl+C does: no half file, no process left. (asyncio sees to Ctrl+C itself.)"""
    task = asyncio.current_task()
    assert task is not None
    with contextlib.suppress(NotImplementedError):  # Windows
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await work


def _speed(text: str) -> float:
    speed = float(text)
    if not SLOWEST_SPEED <= speed <= FASTEST_SPEED:
        raise argparse.ArgumentTypeError(f"{text} is not between {SLOWEST_SPEED:g} and {FASTEST_SPEED:g}")
    return speed


def _seed(text: str) -> int:
    seed = int(text)
    if not 0 <= seed < 2**63:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 2^63")
    return seed
