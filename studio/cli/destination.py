"""Destination of the audio: ``-o``, ``--play``, or by default the sound device, else a file."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from studio.cli.command_context import CommandContext
from studio.cli.recording import free_path, require_writable

_DEFAULT_FILE = Path("timbre.wav")


@dataclass(frozen=True, slots=True)
class Destination:
    """``is_fallback``: the file was chosen by default, and its name is printed."""

    path: Path | None
    is_played: bool
    is_fallback: bool = False


def add_destination_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("destination", f"default: the sound device, or {_DEFAULT_FILE} if there is none")
    group.add_argument("-o", "--output", type=Path, metavar="FILE", help="write a .wav, .flac, .ogg or .mp3 file")
    group.add_argument(
        "--play", action="store_true", help="play it as soon as playback can continue without interruption"
    )
    group.add_argument("--json", action="store_true", help="print one JSON object with all measurements")


def choose_destination(arguments: argparse.Namespace, command_context: CommandContext) -> Destination:
    """Choose and check the destination before any work is done.

    Raises ``NoAudioDevice``, ``CannotWrite``, ``DiskFull``.
    """
    if arguments.output is not None:
        require_writable(arguments.output)
    if arguments.play:
        command_context.require_sound_card()
    if arguments.output is not None or arguments.play:
        return Destination(arguments.output, arguments.play)
    if command_context.has_sound_card():
        return Destination(None, is_played=True)
    path = free_path(_DEFAULT_FILE)
    require_writable(path)
    return Destination(path, is_played=False, is_fallback=True)
