"""`timbre bench`: measures this machine, in a process of its own (``python -m studio.bench``)."""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys

from studio.cli.command_context import CommandContext


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("bench", help="measure what this machine makes of a model", add_help=False)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    """``arguments.rest`` goes to the benchmark as it is, ``--help`` included."""
    command = [sys.executable, "-m", "studio.bench", *arguments.rest]
    with subprocess.Popen(command) as bench:  # noqa: S603 - our own program, with what the person typed
        while True:
            # Ctrl+C reaches the benchmark too; it is given the time to end by itself.
            with contextlib.suppress(KeyboardInterrupt):
                return bench.wait()
