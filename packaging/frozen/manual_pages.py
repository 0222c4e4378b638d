"""Manual pages and shell completions of the command line, for the Debian package.

    python -m frozen.manual_pages VERSION DATE FOLDER

``freeze.py`` runs it with the environment that it freezes, which contains the program and the extra ``freeze``.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from pathlib import Path, PurePosixPath

import shtab
from argparse_manpage.manpage import Manpage

from studio.cli.main import build_parser

_TITLE = "Timbre Studio"


def command_line_files(version: str, date: str) -> dict[PurePosixPath, bytes]:
    """Return the manual pages and completions by path below ``share``. Their bytes depend on nothing else."""
    pages = {PurePosixPath("man", "man1", f"{name}.1.gz"): page for name, page in _pages(version, date).items()}
    files = {path: gzip.compress(page.encode(), mtime=0) for path, page in pages.items()}
    for path, shell in (
        (PurePosixPath("bash-completion", "completions", "timbre"), "bash"),
        (PurePosixPath("zsh", "vendor-completions", "_timbre"), "zsh"),
        (PurePosixPath("fish", "vendor_completions.d", "timbre.fish"), "fish"),
    ):
        files[path] = shtab.complete(build_parser(), shell).encode()
    return files


def _pages(version: str, date: str) -> dict[str, str]:
    parser = build_parser()
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    summaries = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    pages = {}
    for name, command in commands.choices.items():
        if command.add_help:  # `timbre bench` is parsed by another process
            command.prog = f"timbre-{name}"
            pages[command.prog] = _page(command, summaries[name], version, date)
    parser._remove_action(commands)  # the commands have their own pages, which the examples name
    pages["timbre"] = _page(parser, "text-to-speech with any voice", version, date)
    return pages


def _page(parser: argparse.ArgumentParser, summary: str, version: str, date: str) -> str:
    data = {"description": summary, "project_name": _TITLE, "version": version, "manual_title": _TITLE, "date": date}
    return f"{Manpage(parser, data)}\n"


def main(version: str, date: str, folder: str) -> None:
    for place, content in command_line_files(version, date).items():
        path = Path(folder, place)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main(*sys.argv[1:])
