"""What the program writes down about its work: a file in the user's log folder that never grows beyond bounds.

Each error a person was shown leaves a line with its code, so that the doctor can tell of the last ones without
repeating what they said about files and texts.
"""

from __future__ import annotations

import contextlib
import logging
import re
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler

from studio import paths
from studio.errors import StudioError

_MOST_BYTES = 1_000_000
_NUM_OLD_FILES = 3
_NUM_RECENT = 5
_FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"
_SHOWN = re.compile(r"^(?P<when>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d+ .* shown: (?P<code>[a-z0-9-]+)$")
_log = logging.getLogger(__name__)


class _LogFile(RotatingFileHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """A full disk is told where something is lost by it, not here."""


@dataclass(frozen=True, slots=True)
class ShownError:
    when: str
    code: str


def write_log(name: str) -> logging.Handler | None:
    """From now on what ``studio`` logs is kept in ``name``.log; None where the folder cannot be written.

    Windows and commands have files of their own. Several processes with one name share it line by line; the
    turning over of a full file may then cost some lines, and never fails the work.
    """
    path = paths.log_folder() / f"{name}.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    # Opened with the first line: most commands have nothing to say.
    handler = _LogFile(path, maxBytes=_MOST_BYTES, backupCount=_NUM_OLD_FILES, encoding="utf-8", delay=True)
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
    """To be called where an error is shown to a person."""
    _log.info("shown: %s", error.code)


def recent_errors() -> tuple[ShownError, ...]:
    """The last few, the newest first, of all logs that are kept."""
    found: list[ShownError] = []
    with contextlib.suppress(OSError):
        for path in paths.log_folder().glob("*.log*"):
            with contextlib.suppress(OSError):
                lines = path.read_text("utf-8", errors="replace").splitlines()
                found += [ShownError(m["when"], m["code"]) for line in lines if (m := _SHOWN.match(line))]
    return tuple(sorted(found, key=lambda error: error.when, reverse=True)[:_NUM_RECENT])
