"""`timbre doctor`: checks the installation."""

from __future__ import annotations

import argparse
import json

from studio.cli.command_context import CommandContext
from studio.cli.options import Commands, add_command
from studio.errors import type_of_code
from studio.health.report import examine

EXAMPLES = """\
examples:
  timbre doctor
  timbre doctor --json > doctor.json      for a bug report; contains no texts, no voices and no user names
  timbre doctor --codes                   all error codes with exit statuses, causes and remedies

The exit status is 0 if synthesis will work, otherwise 1. The window shows the same under Help.

Exit statuses of all commands: 0 success, 2 wrong usage, 20 failed set-up, 130 interrupted, 143 terminated.
Errors have their own.
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "doctor",
        run,
        help_text="check the installation",
        description="Check everything the program needs, with a remedy for each problem.",
        examples=EXAMPLES,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--codes", action="store_true", help="explain the error codes instead")


def run(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    if arguments.codes:
        return _explain_codes(as_json=arguments.json)
    report = examine(command_context.require_sound_card, command_context.open_library)
    print(json.dumps(report.as_json(), ensure_ascii=False) if arguments.json else report.as_text())
    return 0 if report.can_speak else 1


def _explain_codes(*, as_json: bool) -> int:
    errors = [
        {
            "code": code,
            "exit_status": error.exit_status,
            "cause": str(error.cause),
            "remedy": str(error.usual_remedy),
        }
        for code, error in type_of_code.items()
    ]
    if as_json:
        print(json.dumps(errors, ensure_ascii=False))
    else:
        print("\n\n".join("{code} (status {exit_status})\n  {cause}\n  {remedy}".format(**each) for each in errors))
    return 0
