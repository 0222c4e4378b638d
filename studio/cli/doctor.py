"""`timbre doctor`: what is here, what is missing, and what to do about it."""

from __future__ import annotations

import argparse
import json

from studio.cli.health import Check, Verdict, examine
from studio.cli.surroundings import Surroundings

EXAMPLES = """\
examples:
  timbre doctor
  timbre doctor --json > doctor.json      to go with a bug report; it names folders, but no texts and no voices

The exit status is 0 if speaking will work, 1 if not.
"""
_SIGNS = {Verdict.FINE: "ok  ", Verdict.LIMITED: "note", Verdict.BROKEN: "BAD "}


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


def run(arguments: argparse.Namespace, surroundings: Surroundings) -> int:
    checks = examine(surroundings)
    is_broken = any(check.verdict is Verdict.BROKEN for check in checks)
    if arguments.json:
        print(
            json.dumps(
                {"can_speak": not is_broken, "checks": [_as_json(check) for check in checks]}, ensure_ascii=False
            )
        )
    else:
        for check in checks:
            print(f"{_SIGNS[check.verdict]}  {check.subject}: {check.finding}")
            if check.remedy:
                print(f"      {check.remedy}")
        print("\nSpeaking will not work." if is_broken else "\nSpeaking will work.")
    return 1 if is_broken else 0


def _as_json(check: Check) -> dict[str, str]:
    return {
        "subject": check.subject,
        "verdict": check.verdict.value,
        "finding": check.finding,
        "remedy": check.remedy,
    }
