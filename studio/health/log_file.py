"""The log file in the user's log folder, with rotation and a limited size.

The code of each error shown to the user is logged, so that the doctor can list recent errors without file names and
texts.
"""

from __future__ import annotations

import contextlib
import logging
import re
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler

from studio import paths
from studio.errors import StudioError

_MAX_BYTES = 1_000_000
_NUM_OLD_FILES = 3
_NUM_RECENT = 5
_FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"
_SHOWN = re.compile(r"^(?P<when>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d+ .* shown: (?P<code>[a-z0-9-]+)$")
_log = logging.getLogger(__name__)


class _LogFile(RotatingFileHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Ignore the error. A full disk, for example, is reported by the operation that loses data."""


@dataclass(frozen=True, slots=True)
class ShownError:
    when: str
    code: str


def write_log(name: str) -> logging.Handler | None:
    """Start logging the package ``studio`` to ``name``.log. Return None if the folder cannot be created.

    The window and the commands have separate files. Processes with the same name write to one file; its rotation may
    then lose some lines, but never raises.
    """
    path = paths.log_folder() / f"{name}.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    # The file is created when the first line is logged, because most commands log nothing.
    handler = _LogFile(path, maxBytes=_MAX_BYTES, backupCount=_NUM_OLD_FILES, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter(_FORMAT))
    handler.setLevel(logging.INFO)
    logger = logging.getLogger("studio")
    logger.addHandler(handler)
    logger.setLevel(min(logger.level or logging.INFO, logging.INFO))
    return handler


def stop_log(handler: logging.Handler | None) -> None:
    if handler is not None:
        logging.getLogger("studio").removeHandler(handler)
        handler.close()


def note_shown(error: StudioError) -> None:
    """Log the code of an error. Called where the error is shown to the user."""
    _log.info("shown: %s", error.code)


def recent_errors() -> tuple[ShownError, ...]:
    """Return the last few errors of all log files, newest first."""
    found: list[ShownError] = []
    with contextlib.suppress(OSError):
        for path in paths.log_folder().glob("*.log*"):
            with contextlib.suppress(OSError):
                lines = path.read_text("utf-8", errors="replace").splitlines()
                found += [ShownError(m["when"], m["code"]) for line in lines if (m := _SHOWN.match(line))]
    return tuple(sorted(found, key=lambda error: error.when, reverse=True)[:_NUM_RECENT])
