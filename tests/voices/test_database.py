"""The list of voices as a file that several programs and threads use."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from studio.errors import CannotWrite
from studio.voices import database


@pytest.fixture
def other(tmp_path: Path) -> sqlite3.Connection:
    """Somebody who is making the file at this moment: SQLite itself would not wait for that."""
    connection = sqlite3.connect(tmp_path / "library.sqlite3", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    return connection


def test_whoever_comes_while_the_file_is_made_waits(
    other: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        other.execute("COMMIT")

    monkeypatch.setattr(database, "time", SimpleNamespace(monotonic=time.monotonic, sleep=sleep))
    with database.transaction(tmp_path / "library.sqlite3") as connection:
        assert connection.execute("SELECT count(*) FROM voices").fetchone()[0] == 0
    assert len(waits) == 1


def test_who_waits_too_long_says_so(other: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.05)
    with (
        pytest.raises(CannotWrite, match="Another program is busy"),
        database.transaction(tmp_path / "library.sqlite3"),
    ):
        pass
    other.execute("ROLLBACK")
