"""Transactions roll back once, and a full disk is recognised however SQLite reports it."""

from __future__ import annotations

import contextlib
import errno
import shutil
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest

from studio.storage import sqlite


def test_a_transaction_that_raises_changes_nothing(tmp_path: Path) -> None:
    with contextlib.closing(sqlite.connect(tmp_path / "a.sqlite3")) as connection:
        connection.execute("CREATE TABLE names (name TEXT PRIMARY KEY)")
        connection.execute("INSERT INTO names VALUES ('Anna')")
        with contextlib.suppress(sqlite3.IntegrityError), sqlite.transaction(connection):
            connection.execute("INSERT INTO names VALUES ('Ben')")
            connection.execute("INSERT INTO names VALUES ('Anna')")
        assert [row["name"] for row in connection.execute("SELECT name FROM names")] == ["Anna"]


def test_a_full_disk_is_not_hidden_by_the_rollback(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite3"
    with contextlib.closing(sqlite.connect(path)) as connection:
        connection.execute("CREATE TABLE names (name TEXT)")
        connection.execute("PRAGMA max_page_count = 2")
        with pytest.raises(sqlite3.OperationalError) as caught, sqlite.transaction(connection):
            connection.execute("INSERT INTO names VALUES (?)", ("x" * 100_000,))
        assert sqlite.is_disk_full(caught.value, path)


@pytest.mark.parametrize(("free", "is_full"), [(0, True), (1 << 30, False)])
def test_an_input_output_error_counts_as_full_without_free_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, is_full: bool
) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))
    assert sqlite.is_disk_full(error, tmp_path / "a.sqlite3") is is_full


def test_an_operating_system_error_is_full_by_its_number() -> None:
    assert sqlite.is_disk_full(OSError(errno.ENOSPC, ""), Path("a"))
    assert not sqlite.is_disk_full(OSError(errno.EACCES, ""), Path("a"))


def test_the_kind_of_an_error_is_its_primary_code() -> None:
    error = sqlite3.OperationalError()
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY_SNAPSHOT
    assert sqlite.error_kind(error) == sqlite3.SQLITE_BUSY
    assert sqlite.error_kind(ValueError()) == 0
