"""The folder of the Python environment: its programs, its stamp, and the lock of a set-up."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from set_up.failure import SetUpFailed

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_LOCK = "set-up.lock"
_UNFINISHED = "set-up.unfinished"
_STAMP = "set-up.json"


@dataclass(frozen=True)
class Stamp:
    """Purpose of an environment.

    A change of ``foundation`` requires a new environment, a change of requirements only pip.
    """

    foundation: str
    requirements: str
    extras: frozenset[str]

    def serves(self, wanted: Stamp) -> bool:
        return (
            self.foundation == wanted.foundation
            and self.requirements == wanted.requirements
            and self.extras >= wanted.extras
        )


class Environment:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._programs = folder / ("Scripts" if os.name == "nt" else "bin")

    def program(self, name: str) -> Path:
        return self._programs / (f"{name}.exe" if os.name == "nt" else name)

    @property
    def python(self) -> Path:
        return self.program("python")

    @property
    def log(self) -> Path:
        return self.folder / "set-up.log"

    @property
    def stamp(self) -> Stamp | None:
        """The stamp of a complete set-up, otherwise None."""
        try:
            record = json.loads((self.folder / _STAMP).read_text(encoding="utf-8"))
            stamp = Stamp(record["foundation"], record["requirements"], frozenset(record["extras"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return stamp if self.python.exists() else None

    @property
    def was_interrupted(self) -> bool:
        return (self.folder / _UNFINISHED).exists()

    @property
    def python_version(self) -> str | None:
        """The Python version of the environment, such as 3.11; None if the environment or its Python is missing."""
        try:
            lines = (self.folder / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
        except OSError:
            return None
        values = dict(line.partition(" = ")[::2] for line in lines)
        return ".".join(values.get("version", "").split(".")[:2]) if self.python.exists() else None

    def has(self, package: str) -> bool:
        """Return whether pip has installed ``package`` (name in lower case)."""
        return any(self.folder.glob(f"[Ll]ib/**/site-packages/{package.replace('-', '_')}-*.dist-info"))

    def begin(self) -> None:
        """Mark the environment as interrupted until :meth:`finish`."""
        (self.folder / _UNFINISHED).touch()
        (self.folder / _STAMP).unlink(missing_ok=True)

    def finish(self, stamp: Stamp) -> None:
        record = {
            "foundation": stamp.foundation,
            "requirements": stamp.requirements,
            "extras": sorted(stamp.extras),
        }
        new = self.folder / f"{_STAMP}.new"
        new.write_text(json.dumps(record, indent=1), encoding="utf-8")
        (self.folder / _UNFINISHED).unlink(missing_ok=True)
        new.replace(self.folder / _STAMP)

    def clear(self) -> None:
        """Delete everything except the lock and the mark of :meth:`begin`."""
        try:
            for entry in self.folder.iterdir():
                if entry.name in (_LOCK, _UNFINISHED):
                    continue
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()
        except OSError as error:
            raise SetUpFailed(
                f"The old environment in {self.folder} cannot be removed: {error.strerror}.",
                remedy="Close every running Timbre Studio and start again, or delete that folder yourself.",
            ) from error

    @contextmanager
    def sole_set_up(self, *, on_wait: Callable[[], None]) -> Iterator[int]:
        """Lock the environment for one set-up; others wait here. Yields the file descriptor of the lock."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / _LOCK).open("a+b")
        except OSError as error:
            raise SetUpFailed(
                f"The environment cannot be created in {self.folder}: {error.strerror}.",
                remedy="Move the checkout to a writable folder.",
            ) from error
        with lock:
            if not _try_lock(lock):
                on_wait()
                while not _try_lock(lock):
                    time.sleep(0.5)
            yield lock.fileno()  # closing the file releases the lock


def _try_lock(file: IO[bytes]) -> bool:
    try:
        if sys.platform == "win32":
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
