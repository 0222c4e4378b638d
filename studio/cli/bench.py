"""`timbre bench`: runs ``python -m studio.bench`` in its own process."""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys

from studio.cli.command_context import CommandContext


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("bench", help="measure the speed of a model on this machine", add_help=False)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    """Pass ``arguments.rest``, including ``--help``, to the benchmark."""
    command = [sys.executable, "-m", "studio.bench", *arguments.rest]
    with subprocess.Popen(command) as bench:  # noqa: S603 - our own program, with the user's arguments
        while True:
            # Ctrl+C reaches the benchmark too, which ends by itself.
            with contextlib.suppress(KeyboardInterrupt):
                return bench.wait()
