"""Options of `timbre export` for audiobooks: chapter files, M4B, and the details of the work."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from studio.audio.encoding import MP3_192, WAV_16
from studio.export.book import BookDetails, read_cover
from studio.export.standards import ACX, STANDARDS


def add_book_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("audiobooks", "chapters are the headings of the document or project")
    group.add_argument("--chapters", action="store_true", help="write one file per chapter instead of one per line")
    group.add_argument(
        "--m4b", action="store_true", help="write an audiobook (M4B) with chapters instead of one file per line"
    )
    group.add_argument("--title", metavar="TEXT", help="title of the work (default: that of the document)")
    group.add_argument("--author", metavar="TEXT", help="author of the work (default: that of the document)")
    group.add_argument("--narrator", metavar="TEXT", help="narrator of the work")
    group.add_argument("--cover", type=Path, metavar="IMAGE", help="cover of the M4B file, JPEG or PNG")

    group.add_argument(
        "--standard",
        choices=tuple(STANDARDS),
        metavar="|".join(STANDARDS),
        help="master chapters, M4B and joined files to this standard: acx (as MP3 of 192 kbit/s at 44.1 kHz, unless "
        "another format is chosen) or r128; check with `timbre levels`",
    )
    group.add_argument(
        "--room-tone", type=Path, metavar="FILE", help="recording for the pauses with --standard acx (default: noise)"
    )


def choose_format(arguments: argparse.Namespace) -> None:
    """Set the format and the sample rate if the options do not."""
    is_acx = arguments.standard == ACX.name
    arguments.format = arguments.format or (MP3_192 if is_acx else WAV_16)
    arguments.rate = arguments.rate or (44_100 if is_acx else 24_000)


def book_details(arguments: argparse.Namespace, found: BookDetails) -> BookDetails:
    """Return the details ``found`` in the script; options take precedence."""
    named = {name: value for name in ("title", "author", "narrator") if (value := getattr(arguments, name)) is not None}
    cover = found.cover if arguments.cover is None else read_cover(arguments.cover)
    return replace(found, **named, cover=cover)
