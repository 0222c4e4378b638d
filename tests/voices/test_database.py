"""The list of voices as a file that several programs use, also on a full or read-only disk."""

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
from studio.voices import database

_VALUES = "INSERT INTO voices(name_key, name, clip, sha256, clip_seconds, notes, created) VALUES"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.sqlite3"


@pytest.fixture
def other(path: Path) -> Iterator[sqlite3.Connection]:
    """Another program."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as connection:
        yield connection


def _add(path: Path, name: str) -> None:
    with database.transaction(path) as connection:
        connection.execute(f"{_VALUES} (?, ?, 'c', 's', 1, '', 't')", (name, name))


def _names(path: Path) -> list[str]:
    with database.reading(path) as connection:
        return [row["name"] for row in connection.execute("SELECT name FROM voices ORDER BY name")]


def _make_write_ahead_logged(path: Path, *names: str, version: int | None = None) -> None:
    """A list as earlier versions of the program wrote it."""
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


def test_writing_waits_while_another_program_makes_the_file(other: sqlite3.Connection, path: Path) -> None:
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
    with pytest.raises(CannotWrite, match="Another program is busy"):
        _add(path, "Anna")
    other.execute("ROLLBACK")


def test_reading_does_not_wait_for_another_program_that_writes(
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


def test_a_list_of_an_early_version_is_read_without_migrating_the_file(path: Path) -> None:
    _make_write_ahead_logged(path, "Anna", version=1)
    with database.reading(path) as connection:
        (row,) = connection.execute("SELECT name, consent_by, quality FROM voices")
        assert tuple(row) == ("Anna", "", None)
        assert connection.execute("SELECT count(*) FROM trash").fetchone()[0] == 0
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == 1


def test_writing_converts_a_write_ahead_logged_list(path: Path) -> None:
    _make_write_ahead_logged(path, "Anna")
    _add(path, "Ben")
    assert _journal_mode(path) == "delete"
    assert _names(path) == ["Anna", "Ben"]


def test_writing_works_while_another_program_reads_a_write_ahead_logged_list(
    other: sqlite3.Connection, path: Path
) -> None:
    _make_write_ahead_logged(path, "Anna")
    other.execute("BEGIN")
    other.execute("SELECT * FROM voices").fetchall()
    _add(path, "Ben")
    assert _names(path) == ["Anna", "Ben"]


def test_a_write_ahead_logged_list_is_read_where_no_file_can_be_created(path: Path) -> None:
    _make_write_ahead_logged(path, "Anna")
    path.with_name(f"{path.name}-shm").mkdir()  # SQLite cannot create its shared memory, as on a full disk
    assert _names(path) == ["Anna"]


def test_what_a_crash_left_in_the_log_is_read_where_no_file_can_be_created(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    _make_write_ahead_logged(path, "Anna")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as running:
        running.execute(f"{_VALUES} ('Ben', 'Ben', 'c', 's', 1, '', 't')")
        for name in (path.name, f"{path.name}-wal"):
            (elsewhere / name).write_bytes((tmp_path / name).read_bytes())
    (elsewhere / f"{path.name}-shm").mkdir()
    assert _names(elsewhere / path.name) == ["Anna", "Ben"]


def test_a_full_disk_while_saving_is_told_as_such_and_loses_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _add(path, "Anna")
    connect = database._connect

    def connect_on_full_disk(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute("PRAGMA max_page_count = 6")
        return connection

    monkeypatch.setattr(database, "_connect", connect_on_full_disk)
    with pytest.raises(DiskFull, match="The disk is full: the voice could not be saved"):
        _add(path, "B" * 100_000)
    assert _names(path) == ["Anna"]


def test_an_input_output_error_on_a_full_disk_is_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = sqlite3.OperationalError("disk I/O error")
    failure.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    usage = type(database.shutil.disk_usage(path.parent))
    for free, expected in ((4096, DiskFull), (1 << 30, CannotWrite)):
        monkeypatch.setattr(database.shutil, "disk_usage", lambda _folder, free=free: usage(1 << 30, 0, free))
        with pytest.raises(expected), database.transaction(path):
            raise failure


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own; only where the tests run as root of Linux."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0 or not _mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", folder):
        pytest.skip("this system permits no mounting")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def _mount(*options: str | Path) -> bool:
    try:
        return subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.parametrize("is_of_earlier_version", [False, True])
def test_a_full_disk_is_readable_and_refuses_writing(small_disk: Path, is_of_earlier_version: bool) -> None:
    path = small_disk / "library.sqlite3"
    _make_write_ahead_logged(path, "Anna") if is_of_earlier_version else _add(path, "Anna")
    with contextlib.suppress(OSError), (small_disk / "rest").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    assert _names(path) == ["Anna"]
    with pytest.raises(DiskFull):
        _add(path, "Ben")
    (small_disk / "rest").unlink()
    _add(path, "Ben")
    assert _names(path) == ["Anna", "Ben"]


@pytest.mark.parametrize("is_of_earlier_version", [False, True])
def test_a_read_only_disk_is_readable_and_refuses_writing(small_disk: Path, is_of_earlier_version: bool) -> None:
    path = small_disk / "library.sqlite3"
    _make_write_ahead_logged(path, "Anna") if is_of_earlier_version else _add(path, "Anna")
    if not _mount("-o", "remount,ro", small_disk):
        pytest.skip("this system permits no remounting")
    assert _names(path) == ["Anna"]
    with pytest.raises(CannotWrite):
        _add(path, "Ben")
