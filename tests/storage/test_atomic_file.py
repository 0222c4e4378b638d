"""Part files: visible under the target's name only when complete; stale ones are removed at the next write."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studio.audio.files import AudioWriter
from studio.errors import CannotWrite, DiskFull
from studio.project.project import Project
from studio.storage import atomic_file
from studio.storage.atomic_file import atomic_path, atomic_write, new_part, sweep_parts

_LEAVE_PART = (
    "import sys, pathlib; from studio.storage.atomic_file import new_part; new_part(pathlib.Path(sys.argv[1])).touch()"
)


def test_an_interrupted_write_leaves_the_old_content(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    atomic_write(target, b"old")
    with contextlib.suppress(KeyboardInterrupt), atomic_path(target) as part:
        part.write_bytes(b"half of the n")
        raise KeyboardInterrupt
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.txt", b"old")]


@pytest.mark.parametrize(("number", "expected"), [(errno.ENOSPC, DiskFull), (errno.EIO, CannotWrite)])
def test_a_failing_disk_leaves_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, expected: type[Exception]
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    target = tmp_path / "a.txt"
    atomic_write(target, b"old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(expected):
        atomic_write(target, b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.txt", b"old")]


def test_a_folder_that_cannot_be_synced_does_not_fail_the_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = atomic_file.sync

    def sync_files_only(path: Path, flags: int = os.O_RDWR) -> None:
        if path.is_dir():
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        sync(path, flags)

    monkeypatch.setattr(atomic_file, "sync", sync_files_only)
    atomic_write(tmp_path / "a.txt", b"new")
    assert (tmp_path / "a.txt").read_bytes() == b"new"


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions and links")
def test_links_are_followed_and_permissions_kept(tmp_path: Path) -> None:
    target, link = tmp_path / "a.txt", tmp_path / "link"
    atomic_write(target, b"old")
    target.chmod(0o600)
    link.symlink_to(target)
    atomic_write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o600


def test_the_longest_file_name_can_be_written(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 255)
    atomic_write(target, b"new")
    assert target.read_bytes() == b"new"


@pytest.fixture
def stale(tmp_path: Path) -> Path:
    """A part file of a process that has ended, beside others that must stay."""
    subprocess.run([sys.executable, "-c", _LEAVE_PART, str(tmp_path)], check=True, cwd=Path(__file__).parents[2])
    (path,) = tmp_path.iterdir()
    (tmp_path / f".timbre.{atomic_file._host()}-{os.getpid()}-00.part").touch()
    (tmp_path / ".of.another.program.part").touch()
    _of_another_computer(path).touch()
    return path


def _of_another_computer(part: Path) -> Path:
    return part.with_name(part.name.replace(atomic_file._host(), "000000"))


def test_only_part_files_of_ended_processes_are_removed(stale: Path) -> None:
    before = set(stale.parent.iterdir())
    sweep_parts(stale.parent)
    assert before - set(stale.parent.iterdir()) == {stale}


def test_a_part_file_of_another_computer_is_removed_after_a_day(stale: Path) -> None:
    other = _of_another_computer(stale)
    os.utime(other, (time.time() - 2 * 24 * 3600,) * 2)
    sweep_parts(stale.parent)
    assert not other.exists()


def test_a_folder_is_swept_once(stale: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new_part(stale.parent)
    assert not stale.exists()
    stale.touch()
    new_part(stale.parent)
    assert stale.exists()


def test_saving_a_project_removes_stale_part_files(stale: Path) -> None:
    with Project.create(stale.parent / "drafts") as project:
        project.save(stale.parent / "b.timbre")
    assert not stale.exists()


def test_writing_audio_removes_stale_part_files(stale: Path) -> None:
    AudioWriter(stale.parent / "a.wav", 24_000).discard()
    assert not stale.exists()
