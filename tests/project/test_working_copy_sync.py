"""Edits are soon synced to the disk, in the background."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import threading
import time
from pathlib import Path

import pytest
from project_samples import insert
from waiting import wait_until

from studio.project import storage
from studio.project.project import Project
from studio.project.storage import Checkpoints

# Contains two numbers that change when SQLite starts the write-ahead log again.
_LOG_HEADER_BYTES = 32


def log_of(project: Project) -> Path:
    return project.draft_path.with_name(f"{project.draft_path.name}-wal")


def texts_in_copy(draft: Path, copy: Path) -> list[str]:
    """Return the texts of the lines in the database file, without its write-ahead log."""
    shutil.copyfile(draft, copy)
    with contextlib.closing(sqlite3.connect(copy)) as connection, contextlib.suppress(sqlite3.Error):
        return [text for (text,) in connection.execute("SELECT text FROM lines ORDER BY rank")]
    return []  # copied during a write


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """The inodes of the synced files, each with the name of the thread."""
    found: list[tuple[int, str]] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        found.append((os.fstat(descriptor).st_ino, threading.current_thread().name))

    monkeypatch.setattr(os, "fsync", fsync)
    return found


@pytest.mark.slow
def test_each_edit_is_synced_in_the_background(project: Project, synced: list[tuple[int, str]]) -> None:
    for text in ("One.", "Two."):
        synced.clear()
        insert(project, text)
        log = log_of(project).stat().st_ino
        wait_until(lambda log=log: (log, "checkpoints") in synced)


@pytest.mark.slow
def test_an_edit_after_a_sync_does_not_wait_for_the_disk(project: Project, synced: list[tuple[int, str]]) -> None:
    """SQLite would wait if it started the write-ahead log again."""
    headers = set()
    for text in ("One.", "Two.", "Three."):
        synced.clear()
        insert(project, text)
        headers.add(log_of(project).read_bytes()[:_LOG_HEADER_BYTES])
        wait_until(lambda: synced)
        time.sleep(0.05)  # for a checkpoint after the sync
    assert len(headers) == 1


@pytest.mark.slow
def test_a_long_log_is_copied_to_the_database_file(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_MAX_LOG_BYTES", 0)
    for texts in (["One."], ["One.", "Two."]):
        insert(project, texts[-1])
        wait_until(lambda texts=texts: texts_in_copy(project.draft_path, tmp_path / "copy") == texts)


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
