"""`timbre completion`: completion of commands and options in a shell."""

from __future__ import annotations

import argparse

from studio.cli.command_context import CommandContext
from studio.cli.options import Commands, add_command
from studio.errors import IncompleteInstallation
from studio.system.installation import repair_hint

EXAMPLES = """\
examples:
  timbre completion bash > ~/.local/share/bash-completion/completions/timbre
  timbre completion zsh > ~/.zfunc/_timbre                  in a folder of $fpath
  timbre completion fish > ~/.config/fish/completions/timbre.fish
"""
_SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "completion",
        run,
        help_text="print a script that completes commands in a shell",
        description="Print a script with which a shell completes the commands and options of `timbre`.",
        examples=EXAMPLES,
    )
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=f"one of {', '.join(_SHELLS)}")


def run(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    from studio.cli.main import build_parser  # noqa: PLC0415 - it imports this module

    try:
        import shtab  # noqa: PLC0415 - no other command needs it
    except ImportError as error:
        raise IncompleteInstallation(
            "The completion needs a library that is not installed ({reason}).",
            remedy="{how}",
            reason=error,
            how=repair_hint(),
        ) from error
    print(shtab.complete(build_parser(), arguments.shell))
    return 0
