"""Entry point of the program: starts the window or the command line.

    timbre                       the window
    timbre app [FILE]            the window, with FILE open
    timbre COMMAND ...           see `timbre --help`

This module imports little, because imports delay the first paint of the window, and child processes import it again.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from studio.errors import IncompleteInstallation, StudioError
from studio.messages import message, printable

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``argv``, by default the arguments of this process. Return the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if _opens_window(arguments):
        return _open_window(*arguments[1:])
    gc.disable()  # the imports leave little garbage; ``run_command`` enables it after them
    try:
        from studio.cli.early_worker import worker_starter  # noqa: PLC0415 - not needed by the window

        start_worker = worker_starter(arguments)
        from studio.cli.main import main as run_command  # noqa: PLC0415 - imported while the worker starts

        return run_command(arguments, start_worker=start_worker)
    except KeyboardInterrupt:  # during the import
        gc.enable()
        return _INTERRUPTED


def _opens_window(arguments: list[str]) -> bool:
    """Return whether the window is to open. The command line explains `timbre app` and its wrong use."""
    if not arguments:
        return True
    return arguments[0] == "app" and len(arguments) <= 2 and not any(word.startswith("-") for word in arguments)


def _open_window(file: str | None = None) -> int:
    from studio.app.screen import require_screen  # noqa: PLC0415 - not needed by the command line
    from studio.system.installation import how_to_show_window  # noqa: PLC0415

    try:
        platform = require_screen(os.environ)
        if platform is not None:
            os.environ["QT_QPA_PLATFORM"] = platform
        gc.disable()  # the imports leave little garbage; ``run_app`` collects what follows
        try:
            from studio.app.main import run_app  # noqa: PLC0415 - Qt is not needed by the command line
        except ImportError as error:
            raise IncompleteInstallation(
                "The window cannot be shown: {reason}.",
                remedy=message("{remedy}", remedy=how_to_show_window(error)),
                reason=error,
            ) from error
        return run_app(file)
    except StudioError as error:
        sys.stderr.write(printable(f"timbre: {error} ({error.code})") + "\n")
        return error.exit_status


if __name__ == "__main__":
    sys.exit(main())
