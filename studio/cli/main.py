"""The command ``timbre``. The one place where errors become words on a terminal and exit statuses.

Statuses: 0 done, 2 wrong usage, 130 Ctrl+C, 143 ended by `kill`, else ``StudioError.exit_status``
(the README lists them). Standard output holds what was asked for, standard error everything for people.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import logging
import os
import signal
import sys
from collections.abc import Sequence

import studio
from studio.cli import bench, convert, doctor, engines, export, models, say, styles, voices
from studio.cli.command_context import CommandContext
from studio.errors import InternalError, StudioError
from studio.health.log_file import note_shown, stop_log, write_log
from studio.settings_store import Settings
from studio.wording import printable

_DESCRIPTION = "Says texts in any voice, from a few seconds of it."
_EXAMPLES = """\
begin with:
  timbre say "Hello there." --voice someone.wav     a few seconds of any voice will do
  timbre voices add Anna someone.wav --transcript "What is said in it."
  timbre say "Hello again." --voice Anna -o hello.wav
  timbre models list                                the models there are; `timbre models install` downloads one
  timbre doctor                                     if something does not work
  timbre                                            opens the window; `timbre app FILE` with a script

`timbre COMMAND --help` explains each command with examples.
"""
_log = logging.getLogger(__name__)
_COMMANDS = (say, convert, export, voices, models, styles, doctor, engines, bench)


def main(argv: Sequence[str] | None = None, *, command_context: CommandContext | None = None) -> int:
    """Runs the command line ``argv`` (by default this process's) and returns its exit status."""
    _speak_utf8()
    parser = _build_parser()
    arguments, rest = parser.parse_known_args(argv)
    if arguments.command is None and not rest:
        parser.print_help()
        return 0
    if rest and arguments.command != "bench":
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    arguments.rest = rest
    log = write_log("command")
    for complaint in Settings().complaints:
        print(printable(f"timbre: {complaint}"), file=sys.stderr)
    try:
        return _run(arguments, command_context or CommandContext())
    except StudioError as error:
        return _tell(error)
    except Exception as error:  # noqa: BLE001 - the process's end
        _log.exception("unexpected, in %s", arguments.command)
        return _tell(
            InternalError(
                "Something went wrong inside the program ({kind}: {reason}).",
                remedy="Try again; if it stays, report it together with the log.",
                kind=type(error).__name__,
                reason=error,
            )
        )
    finally:
        stop_log(log)


def _run(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    """The exit status, also of who was told to stop."""
    try:
        status: int = arguments.run(arguments, command_context)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM
    except BrokenPipeError:  # `timbre voices list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def _tell(error: StudioError) -> int:
    """The exit status."""
    note_shown(error)
    print(printable(f"timbre: {error} ({error.code})"), file=sys.stderr)
    return error.exit_status


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="timbre",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"Timbre Studio {studio.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in _COMMANDS:
        command.add_parser(commands)
    return parser


def _speak_utf8() -> None:
    """Texts are in any script, whatever an old console or a bare environment thinks it can show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
