"""`timbre app`: the help of the command that opens the window. ``studio.start`` opens it without this module."""

from __future__ import annotations

import argparse

from studio.cli.options import Commands

EXAMPLES = """\
examples:
  timbre app                      the same as `timbre`
  timbre app chapters.timbre      open a script
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "app",
        help="open the window",
        description="Open the window, with a script if one is given.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="a script to open")
