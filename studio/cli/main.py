"""The command ``timbre``. Errors become messages and exit statuses.

Statuses: 0 success, 2 wrong usage, 130 Ctrl+C, 143 terminated by `kill`, otherwise ``StudioError.exit_status``
(listed by `timbre doctor --codes`). Results are written to standard output, messages to standard error.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import io
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial

import studio
from studio.cli.command_context import CommandContext
from studio.cli.old_options import warn_of_old_options
from studio.cli.progress import be_quiet, print_message
from studio.errors import InternalError, StudioError
from studio.health.log_file import note_shown, stop_log, write_log
from studio.settings_store import Settings
from studio.worker.process import Worker, WorkerProcess

_DESCRIPTION = "Text-to-speech with any voice, cloned from a few seconds of a recording."
_EXAMPLES = """\
begin with:
  timbre say "Hello there." --voice speaker.wav     a few seconds of one speaker
  timbre voices add Anna speaker.wav --transcript "The words of the recording."
  timbre say "Hello again." --voice Anna -o hello.wav
  timbre models list                                list models; `timbre models install` downloads one
  timbre doctor                                     check the installation
  timbre                                            open the window; `timbre app FILE` opens a script

`timbre COMMAND --help` explains each command with examples, and `timbre help` shows the manual.
"""
_log = logging.getLogger(__name__)
# Modules of this package. Only the module of the given command is imported.
_COMMANDS = (
    "app", "say", "convert", "export", "characters", "update", "check", "consistency", "inspect", "levels", "voices", "models", "styles",
    "serve", "cluster", "doctor", "engines", "help", "completion",
)  # fmt: skip


def main(
    argv: Sequence[str] | None = None,
    *,
    start_worker: Callable[[], Worker] = WorkerProcess,
    command_context: CommandContext | None = None,
) -> int:
    """Run the command line ``argv`` (default: this process's) and return its exit status.

    ``start_worker`` is used by the default ``command_context``.
    """
    _use_utf8()
    words = list(sys.argv[1:] if argv is None else argv)
    if command_context is None:
        command_context = CommandContext(start_worker=start_worker)
    parser = build_parser(words)
    if not gc.isenabled():  # during the imports
        gc.freeze()
        gc.enable()
    arguments, rest = parser.parse_known_args(words)
    if arguments.command is None and not rest:
        return _run(parser.print_help)
    if rest and arguments.command != "bench":
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    arguments.rest = rest
    be_quiet(is_quiet=getattr(arguments, "quiet", False))
    warn_of_old_options(words, arguments)
    log = write_log("command")
    for complaint in Settings().complaints:
        print_message(f"timbre: {complaint}")
    try:
        return _run(partial(arguments.run, arguments, command_context))
    except StudioError as error:
        return _print_error(error)
    except Exception as error:  # noqa: BLE001 - the end of the process
        _log.exception("unexpected error in %s", arguments.command)
        return _print_error(
            InternalError(
                "An internal error occurred ({kind}: {reason}).",
                remedy="Try again. If it happens again, report it with the log.",
                kind=type(error).__name__,
                reason=error,
            )
        )
    finally:
        stop_log(log)


def _run(command: Callable[[], int | None]) -> int:
    """Run ``command`` and return its exit status, even if it is interrupted or its output is not read."""
    try:
        status = command() or 0
        print(end="", flush=True)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM
    except BrokenPipeError:  # `timbre voices list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def _print_error(error: StudioError) -> int:
    """Print ``error`` and return its exit status."""
    note_shown(error)
    print_message(f"timbre: {error} ({error.code})", is_error=True)
    return error.exit_status


def build_parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser of the command that ``words`` begin with, or of all commands."""
    parser = argparse.ArgumentParser(
        prog="timbre",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"Timbre Studio {studio.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name in words[:1] if words and words[0] in _COMMANDS else _COMMANDS:
        importlib.import_module(f"studio.cli.{name}").add_parser(commands)
    return parser


def _use_utf8() -> None:
    """Allow any text to be printed, even if the environment declares another encoding."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
