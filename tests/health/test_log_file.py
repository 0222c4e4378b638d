"""The log file: limited size, error codes, and no failure if it cannot be written."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio import paths
from studio.errors import DiskFull, ModelNotFound
from studio.health import log_file
from studio.health.log_file import note_shown, recent_errors, stop_log, write_log


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("TIMBRE_LOGS", str(tmp_path / "logs"))
    handler = write_log("window")
    yield tmp_path / "logs" / "window.log"
    stop_log(handler)


def test_the_file_is_created_with_the_first_line(log: Path) -> None:
    assert not log.exists()
    logging.getLogger("studio.app").info("the window is open")
    assert "studio.app: the window is open" in log.read_text("utf-8")


def test_the_size_of_the_log_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMBRE_LOGS", str(tmp_path))
    monkeypatch.setattr(log_file, "_MAX_BYTES", 2000)
    handler = write_log("window")
    for number in range(500):
        logging.getLogger("studio").info("line %d", number)
    stop_log(handler)
    sizes = [path.stat().st_size for path in tmp_path.glob("window.log*")]
    assert len(sizes) == 4
    assert max(sizes) <= 2000


def test_recent_errors_are_listed_by_code_newest_first(log: Path) -> None:
    assert recent_errors() == ()
    for _ in range(4):
        note_shown(ModelNotFound("There is no model {name}.", name="of Anna"))
    logging.getLogger("studio").error("a traceback of another error")
    note_shown(DiskFull("The disk is full."))
    codes = [error.code for error in recent_errors()]
    assert sorted(codes) == ["disk-full", *4 * ["model-not-found"]]
    assert recent_errors()[0].when >= recent_errors()[-1].when
    assert "Anna" not in log.read_text("utf-8")


def test_an_unwritable_folder_raises_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TIMBRE_LOGS", str(tmp_path / "file"))
    assert write_log("window") is None
    stop_log(None)
    assert recent_errors() == ()
    assert paths.log_folder().is_file()


def test_a_full_disk_raises_no_error(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("logging.handlers.RotatingFileHandler.shouldRollover", fail)
    logging.getLogger("studio").info("something")
    assert capsys.readouterr().err == ""
