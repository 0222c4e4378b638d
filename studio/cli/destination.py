"""Where speech goes: ``-o``, ``--play``, or what suggests itself where neither is given."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from studio.cli.command_context import CommandContext
from studio.cli.recording import free_path, require_writable

_UNASKED_FILE = Path("timbre.wav")


@dataclass(frozen=True, slots=True)
class Destination:
    """``is_fallback``: the person chose no place, and is told the one we chose."""

    path: Path | None
    is_played: bool
    is_fallback: bool = False


def add_destination_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "destination", f"without these: the loudspeaker, or {_UNASKED_FILE} where there is none"
    )
    group.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write a .wav, .flac, .ogg or .mp3 (kept only when complete)"
    )
    group.add_argument(
        "--play", action="store_true", help="play it, from the first moment from which it need not pause any more"
    )
    group.add_argument("--json", action="store_true", help="print one JSON object with all that was measured")


def choose_destination(arguments: argparse.Namespace, command_context: CommandContext) -> Destination:
    """Checked before any work is done. Raises ``NoAudioDevice``, ``CannotWrite``, ``DiskFull``."""
    if arguments.output is not None:
        require_writable(arguments.output)
    if arguments.play:
        command_context.require_sound_card()
    if arguments.output is not None or arguments.play:
        return Destination(arguments.output, arguments.play)
    if command_context.has_sound_card():
        return Destination(None, is_played=True)
    path = free_path(_UNASKED_FILE)
    require_writable(path)
    return Destination(path, is_played=False, is_fallback=True)
