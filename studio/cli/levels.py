"""`timbre levels`: check of audio files against a standard."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from studio.cli.command_context import CommandContext
from studio.cli.options import Commands, add_command
from studio.cli.progress import print_message
from studio.export.level_check import CheckedAudio, check_file, fix_file
from studio.export.standards import ACX, STANDARDS, AudioStandard, Criterion, standard_named
from studio.provenance.signing import chosen_signing
from studio.settings_store import Settings

EXAMPLES = """\
examples:
  timbre levels book/*.mp3
  timbre levels book.m4b --standard r128 --json
  timbre levels book/*.mp3 --fix        correct the files that fail; originals are kept in the folder "originals"

acx: RMS -23 to -18 dB, peak at most -3 dB, noise floor at most -60 dB, 0.5 to 1 s before and 1 to 5 s after the speech,
at most 120 minutes, 44.1 kHz. r128: -23 LUFS within 0.5 LU, true peak at most -1 dBTP.

The exit status is 0 if all files meet the standard, otherwise 1. A "!" marks a value outside the standard.
"""
_COLUMNS = {
    Criterion.RMS: "RMS",
    Criterion.PEAK: "peak",
    Criterion.TRUE_PEAK: "true peak",
    Criterion.FLOOR: "floor",
    Criterion.LOUDNESS: "LUFS",
    Criterion.HEAD: "head",
    Criterion.TAIL: "tail",
    Criterion.LENGTH: "length",
    Criterion.SAMPLE_RATE: "Hz",
}
_NAME_WIDTH = 32
_WIDTH = 10


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "levels",
        run,
        help_text="check the levels of audio files",
        description="Measure audio files, by chapter if they have chapters, and compare them with a standard.",
        examples=EXAMPLES,
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="audio files of any supported format")
    parser.add_argument(
        "--standard", choices=tuple(STANDARDS), default=ACX.name, metavar="|".join(STANDARDS), help="default acx"
    )
    parser.add_argument("--fix", action="store_true", help="master the files that fail, and check them again")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace, _: CommandContext) -> int:
    standard = standard_named(arguments.standard)
    checked: list[CheckedAudio] = []
    for path in arguments.files:
        found = check_file(path, standard)
        if arguments.fix and not all(each.is_met for each in found):
            original = fix_file(path, standard, signing=chosen_signing(Settings()))
            print_message(f"timbre: corrected {path}, original kept as {original}")
            found = check_file(path, standard)
        checked += found
    if arguments.json:
        facts = {"standard": standard.name, "files": [each.as_json() for each in checked]}
        print(json.dumps(facts, ensure_ascii=False))
    else:
        print(_table(checked, standard))
    return 0 if all(each.is_met for each in checked) else 1


def _table(checked: list[CheckedAudio], standard: AudioStandard) -> str:
    columns = [each for each in Criterion if each in standard.limits]
    titles = "".join(f"{_COLUMNS[each]:>{_WIDTH}}" for each in columns)
    rows = [f"{standard.title:<{_NAME_WIDTH}}{titles}"]
    for audio in checked:
        cells = "".join(f"{_cell(audio, each):>{_WIDTH}}" for each in columns)
        rows.append(f"{audio.name[: _NAME_WIDTH - 1]:<{_NAME_WIDTH}}{cells}  {'ok' if audio.is_met else 'FAILS'}")
    return "\n".join(rows)


def _cell(audio: CheckedAudio, criterion: Criterion) -> str:
    finding = audio.finding(criterion)
    if finding is None or finding.value is None:
        return "silence!"
    digits = 0 if criterion is Criterion.SAMPLE_RATE else 2
    return f"{finding.value:.{digits}f}{' ' if finding.is_met else '!'}"
