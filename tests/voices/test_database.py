"""The voice database: concurrent processes, full and read-only disks, older versions."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.errors import CannotWrite, DiskFull
from studio.storage import sqlite as sqlite_storage
from studio.voices import database

_VALUES = "INSERT INTO voices(name_key, name, clip, sha256, clip_seconds, notes, created) VALUES"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.sqlite3"


@pytest.fixture
def other(path: Path) -> Iterator[sqlite3.Connection]:
    """The connection of another process."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as connection:
        yield connection


def _add(path: Path, name: str) -> None:
    with database.transaction(path) as connection:
        connection.execute(f"{_VALUES} (?, ?, 'c', 's', 1, '', 't')", (name, name))


def _names(path: Path) -> list[str]:
    with database.reading(path) as connection:
        return [row["name"] for row in connection.execute("SELECT name FROM voices ORDER BY name")]


def _create_wal_database(path: Path, *names: str, version: int | None = None) -> None:
    """Create a database as earlier versions of the program did."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        for statement in database._MIGRATIONS[:version]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version or len(database._MIGRATIONS)}")
        for name in names:
            connection.execute(f"{_VALUES} (?, ?, 'c', 's', 1, '', 't')", (name, name))


def _journal_mode(path: Path) -> str:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        mode: str = connection.execute("PRAGMA journal_mode").fetchone()[0]
        return mode


def test_writing_waits_for_another_process(other: sqlite3.Connection, path: Path) -> None:
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.1, lambda: other.execute("COMMIT"))
    timer.start()
    _add(path, "Anna")
    timer.join()
    assert _names(path) == ["Anna"]


def test_writing_gives_up_after_the_time_limit(
    other: sqlite3.Connection, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.05)
    with pytest.raises(CannotWrite, match="Another program is using the voice library"):
        _add(path, "Anna")
    other.execute("ROLLBACK")


def test_reading_does_not_wait_for_a_writer(
    other: sqlite3.Connection, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _add(path, "Anna")
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.0)
    other.execute("BEGIN IMMEDIATE")
    other.execute("DELETE FROM voices")
    assert _names(path) == ["Anna"]
    other.execute("COMMIT")
    assert _names(path) == []


def test_reading_creates_and_changes_nothing(path: Path) -> None:
    assert _names(path) == []
    assert list(path.parent.iterdir()) == []
    _add(path, "Anna")
    content = path.read_bytes()
    assert _names(path) == ["Anna"]
    assert list(path.parent.iterdir()) == [path]
    assert path.read_bytes() == content


def test_reading_an_older_version_does_not_migrate_the_file(path: Path) -> None:
    _create_wal_database(path, "Anna", version=1)
    with database.reading(path) as connection:
        (row,) = connection.execute("SELECT name, consent_by, quality FROM voices")
        assert tuple(row) == ("Anna", "", None)
        assert connection.execute("SELECT count(*) FROM trash").fetchone()[0] == 0
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == 1


def test_writing_converts_a_wal_database(path: Path) -> None:
    _create_wal_database(path, "Anna")
    _add(path, "Ben")
    assert _journal_mode(path) == "delete"
    assert _names(path) == ["Anna", "Ben"]


def test_writing_works_while_another_process_reads_a_wal_database(other: sqlite3.Connection, path: Path) -> None:
    _create_wal_database(path, "Anna")
    other.execute("BEGIN")
    other.execute("SELECT * FROM voices").fetchall()
    _add(path, "Ben")
    assert _names(path) == ["Anna", "Ben"]


def test_a_full_disk_while_writing_is_reported_and_loses_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _add(path, "Anna")
    connect = sqlite_storage.connect

    def connect_on_full_disk(path: str | Path, **options: float) -> sqlite3.Connection:
        connection = connect(path, **options)
        connection.execute("PRAGMA max_page_count = 6")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(sqlite_storage, "connect", connect_on_full_disk)
        with pytest.raises(DiskFull, match="The disk is full: the voice could not be saved"):
            _add(path, "B" * 100_000)
    assert _names(path) == ["Anna"]


def test_an_io_error_on_a_full_disk_is_reported_as_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = sqlite3.OperationalError("disk I/O error")
    failure.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    usage = type(sqlite_storage.shutil.disk_usage(path.parent))
    for free, expected in ((4096, DiskFull), (1 << 30, CannotWrite)):
        monkeypatch.setattr(sqlite_storage.shutil, "disk_usage", lambda _folder, free=free: usage(1 << 30, 0, free))
        with pytest.raises(expected), database.transaction(path):
            raise failure


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A separate 1 MB file system; needs root on Linux."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0 or not _mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", folder):
        pytest.skip("mounting is not permitted")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def _mount(*options: str | Path) -> bool:
    try:
        return subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def test_reading_works_on_a_full_disk(small_disk: Path) -> None:
    path = small_disk / "library.sqlite3"
    _add(path, "Anna")
    with contextlib.suppress(OSError), (small_disk / "rest").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    assert _names(path) == ["Anna"]
    with pytest.raises(DiskFull):
        _add(path, "Ben")
    (small_disk / "rest").unlink()
    _add(path, "Ben")
    assert _names(path) == ["Anna", "Ben"]


def test_reading_works_on_a_read_only_disk(small_disk: Path) -> None:
    path = small_disk / "library.sqlite3"
    _add(path, "Anna")
    if not _mount("-o", "remount,ro", small_disk):
        pytest.skip("remounting is not permitted")
    assert _names(path) == ["Anna"]
    with pytest.raises(CannotWrite):
        _add(path, "Ben")
