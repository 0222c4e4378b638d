"""Locks of files that other processes and windows use."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from studio.storage.file_lock import FileLock


def test_a_lock_is_held_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "file.lock"
    lock = FileLock(path)
    with pytest.raises(BlockingIOError):
        FileLock(path)
    lock.release()
    lock.release()  # without effect
    FileLock(path).release(removes_file=True)
    assert not path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_released_lock_is_free_although_a_forked_process_has_its_descriptor(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "file.lock")
    child = os.fork()
    if child == 0:  # pragma: no cover - a process that is about to start another program
        time.sleep(60)
        os._exit(0)
    try:
        lock.release()
        FileLock(tmp_path / "file.lock").release()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_lock_that_is_released_in_time_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "file.lock"
    held = FileLock(path)
    threading.Timer(0.2, held.release).start()
    FileLock(path, wait_seconds=30).release()


def test_waiting_for_a_lock_ends(tmp_path: Path) -> None:
    path = tmp_path / "file.lock"
    held = FileLock(path)
    with pytest.raises(BlockingIOError):
        FileLock(path, wait_seconds=0.1)
    held.release()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not delete an open file")
def test_a_lock_that_was_waited_for_is_not_on_a_deleted_file(tmp_path: Path) -> None:
    path = tmp_path / "file.lock"
    held = FileLock(path)
    threading.Timer(0.2, lambda: held.release(removes_file=True)).start()
    lock = FileLock(path, wait_seconds=30)
    with pytest.raises(BlockingIOError):
        FileLock(path)
    lock.release()
