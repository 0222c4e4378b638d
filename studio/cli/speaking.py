"""What `say` and `convert` have in common: options, the request, and its summary."""

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
from studio.cli.delivery import Destination, OutputResult, OutputSink
from studio.cli.model_choice import engine_options
from studio.cli.progress import ProgressLine
from studio.cli.summary import as_json, as_words, odd_length_words
from studio.pipeline.request import EngineDescription
from studio.worker.client import WorkerClient
from studio.worker.request_handle import Callbacks, RequestHandle

Begin = Callable[[WorkerClient, Callbacks], RequestHandle]


def add_speech_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--speed", type=_speed, default=1.0, help=f"speaking rate, {SLOWEST_SPEED:g} to {FASTEST_SPEED:g} (default 1)"
    )
    parser.add_argument("--seed", type=_seed, default=0, help="seed of the sampling (default 0)")
    parser.add_argument(
        "--whole", action="store_true", help="synthesise whole sentences: higher latency, slightly better quality"
    )


def add_silence_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--keep-leading-silence",
        action="store_true",
        help="keep the silence that the model generates before the first word (default: 50 ms of it)",
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
    """Load the model of ``folder``, start the request and deliver its audio; return the exit status.

    If sentences have an implausible length and were not played, ``begin_again`` starts another request. Raises
    ``StudioError``.
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
            _warn_of_noise(description, line)
            delivery = OutputSink(destination, description, command_context, line)
            delivered = await delivery.deliver(lambda hooks: begin(client, hooks))
            if delivered.report.odd_lengths and begin_again is not None and not destination.is_played:
                line.say("The length of the speech is implausible for its text; trying again.")
                delivery = OutputSink(destination, description, command_context, line)
                delivered = await delivery.deliver(lambda hooks: begin_again(client, hooks))
        finally:
            line.clear()
        _print_summary(delivered, destination, line)
        if arguments.json:
            print(as_json(delivered, description, load_seconds=load_seconds, seed=arguments.seed), flush=True)
        await save_voices(client, line)


async def save_voices(client: WorkerClient, line: ProgressLine) -> None:
    """Wait until the prompt states of new voices are on disk, for the next command; Ctrl+C abandons them."""
    try:
        await client.finish_writes(on_progress=line.stage)
    finally:
        line.clear()


def _warn_of_noise(description: EngineDescription, line: ProgressLine) -> None:
    if description.makes_noise:
        line.say(
            f"{description.model_name} produces noise instead of speech: its weights are random. "
            "For speech, give a folder of released weights with --model."
        )


def _print_summary(delivered: OutputResult, destination: Destination, line: ProgressLine) -> None:
    for warning in delivered.report.warnings:
        line.say(f"voice: {warning}")
    for finding in delivered.report.odd_lengths:
        line.say(odd_length_words(finding))
    for words in as_words(delivered):
        line.say(words)
    if destination.path is not None:
        reason = " (no sound device to play it on)" if destination.is_fallback else ""
        line.say(f"wrote {destination.path}{reason}")


async def run_until_cancelled(work: Coroutine[Any, Any, None]) -> None:
    """Handle `kill` like Ctrl+C, which asyncio handles: no partial file and no process is left."""
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
