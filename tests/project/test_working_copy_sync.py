"""Edits are soon written to the database file, not only to its write-ahead log."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import threading
import time
from pathlib import Path

from project_samples import insert

from studio.project.project import Project
from studio.project.storage import Checkpoints


def texts_in_copy(draft: Path, copy: Path) -> list[str]:
    """Return the texts of the lines in the database file, without its write-ahead log."""
    shutil.copyfile(draft, copy)
    with contextlib.closing(sqlite3.connect(copy)) as connection, contextlib.suppress(sqlite3.Error):
        return [text for (text,) in connection.execute("SELECT text FROM lines ORDER BY rank")]
    return []  # copied during a write


def test_edits_reach_the_database_file_without_saving(project: Project, tmp_path: Path) -> None:
    for texts in (["One."], ["One.", "Two."]):
        insert(project, texts[-1])
        deadline = time.monotonic() + 60
        while texts_in_copy(project.draft_path, tmp_path / "copy") != texts:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_closing_at_the_moment_of_a_sync_does_not_hang(tmp_path: Path) -> None:
    path = tmp_path / "a.draft"
    checkpoints = Checkpoints(path)

    class ClosedMeanwhile(threading.Event):
        def clear(self) -> None:
            checkpoints._is_closed.set()
            self.set()
            super().clear()

    checkpoints._is_requested = ClosedMeanwhile()
    checkpoints.request()
    assert checkpoints._thread is not None
    checkpoints._thread.join(timeout=30)
    assert not checkpoints._thread.is_alive()
