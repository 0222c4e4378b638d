"""Options of the previous version, which are hidden and still work, with a note about their replacements.

Remove an entry, and the code that reads its value, after one version.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from studio.cli.numbers import num_retries, num_threads, positive, share
from studio.cli.progress import print_message

PRECISIONS = ("auto", "float32", "bfloat16", "float16", "int8")

_FLAG = {"action": "store_true"}
_EXPORT_DIALOG = "the export dialog of the window"
_FIT = "Speak > Fit all to slots… in the window"
_SAMPLING = "nothing: released models have fixed sampling"
# The replacement of each option, and its arguments for ``add_argument``.
_OLD: dict[str, tuple[str, dict[str, Any]]] = {
    "--joined": ("--files lines joined", _FLAG),
    "--joined-only": ("--files joined, or a file name for --out", _FLAG),
    "--chapters": ("--files chapters", _FLAG),
    "--m4b": ("--files m4b, or a file name for --out", _FLAG),
    "--per": ("--files characters or --files languages", {"choices": ("script", "character", "language")}),
    "--name": ("a file name for --out", {}),
    "--word-times": ("--subtitles srt-words or vtt-words", _FLAG),
    "--licence": ("the model's own licence", {}),
    "--title": ("--book title=TEXT", {}),
    "--author": ("--book author=TEXT", {}),
    "--narrator": ("--book narrator=TEXT", {}),
    "--cover": ("--book cover=IMAGE", {"type": Path}),
    "--standard": ("--for audiobook or --for acx, or `timbre levels --fix`", {"choices": ("acx", "r128")}),
    "--room-tone": (_EXPORT_DIALOG, {"type": Path}),
    "--true-peak": ("--for", {"type": float, "default": -1.0}),
    "--trim": ("--for game", _FLAG),
    "--fit-retake": (_FIT, {"choices": ("never", "beyond-limits", "always"), "default": "beyond-limits"}),
    "--fit-limits": (_FIT, {"nargs": 2, "type": float}),
    "--fit-short": (_FIT, _FLAG),
    "--transcript": ("`timbre voices add NAME CLIP --transcript TEXT`", {}),
    "--whole": ("nothing: lines are streamed", _FLAG),
    "--keep-leading-silence": ("the setting “Keep leading silence”", _FLAG),
    "--retries": ("the setting “Retries”", {"type": num_retries}),
    "--strict": ("the setting “Strictness”", _FLAG),
    "--precision": ("the setting “Language model precision”", {"choices": PRECISIONS}),
    "--flow-precision": ("the setting “Flow precision”", {"choices": PRECISIONS}),
    "--threads": ("the setting “CPU threads”", {"type": num_threads}),
    "--variant": ("the setting “Prefer the RL-tuned language model”", {"choices": ("rl",)}),
    "--flow-steps": ("--quality", {"type": positive}),
    "--flow-left-context": ("nothing: the flow uses its whole context", {"type": positive}),
    "--approximate-streaming": ("the setting “Start sentences early”", _FLAG),
    "--top-p": (_SAMPLING, {"type": share}),
    "--top-k": (_SAMPLING, {"type": positive}),
    "--repetition-window": (_SAMPLING, {"type": positive}),
    "--repetition-ratio": (_SAMPLING, {"type": share}),
    "--first-hop": ("nothing: the length suits this computer", {"type": positive}),
}


def add_old_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add hidden options."""
    for name in names:
        parser.add_argument(name, help=argparse.SUPPRESS, **_OLD[name][1])
    parser.set_defaults(old_options=(*(parser.get_default("old_options") or ()), *names))


def warn_of_old_options(words: Sequence[str], arguments: argparse.Namespace) -> None:
    given = {word.partition("=")[0] for word in words}
    for name in getattr(arguments, "old_options", ()):
        if name in given:
            print_message(f"note: {name} will be removed in the next version; it is replaced by {_OLD[name][0]}")
