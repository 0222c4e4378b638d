"""`timbre doctor`: what is here, what is missing, and what to do about it."""

from __future__ import annotations

import argparse
import json

from studio.cli.command_context import CommandContext
from studio.health.error_reference import code_meanings
from studio.health.report import examine

EXAMPLES = """\
examples:
  timbre doctor
  timbre doctor --json > doctor.json      to go with a bug report; it names no texts, no voices and not you
  timbre doctor --codes                   every error there is: what it means, and what to do

The exit status is 0 if speaking will work, 1 if not. The window has the same under Help.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "doctor",
        help="find out what is missing",
        description="Looks at everything the program needs, and says what to do about what is missing.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--codes", action="store_true", help="explain the codes of errors instead")


def run(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    if arguments.codes:
        return _explain_codes(as_json=arguments.json)
    report = examine(command_context.require_sound_card, command_context.open_library)
    print(json.dumps(report.as_json(), ensure_ascii=False) if arguments.json else report.as_text())
    return 0 if report.can_speak else 1


def _explain_codes(*, as_json: bool) -> int:
    meanings = code_meanings()
    if as_json:
        facts = [
            {
                "code": meaning.code,
                "exit_status": meaning.exit_status,
                "cause": str(meaning.cause),
                "remedy": str(meaning.remedy),
            }
            for meaning in meanings
        ]
        print(json.dumps(facts, ensure_ascii=False))
    else:
        told = (f"{m.code} (status {m.exit_status})\n  {m.cause}\n  {m.remedy}" for m in meanings)
        print("\n\n".join(told))
    return 0
