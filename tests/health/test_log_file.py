"""The log file: bounded, with error codes, and never an obstacle."""

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


def test_a_file_is_begun_with_the_first_line(log: Path) -> None:
    assert not log.exists()
    logging.getLogger("studio.app").info("the window stands")
    assert "studio.app: the window stands" in log.read_text("utf-8")


def test_a_log_never_grows_beyond_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMBRE_LOGS", str(tmp_path))
    monkeypatch.setattr(log_file, "_MAX_BYTES", 2000)
    handler = write_log("window")
    for number in range(500):
        logging.getLogger("studio").info("line %d", number)
    stop_log(handler)
    sizes = [path.stat().st_size for path in tmp_path.glob("window.log*")]
    assert len(sizes) == 4
    assert max(sizes) <= 2000


def test_shown_errors_are_kept_by_code_and_time_the_newest_first(log: Path) -> None:
    assert recent_errors() == ()
    for _ in range(4):
        note_shown(ModelNotFound("There is no model {name}.", name="of Anna"))
    logging.getLogger("studio").error("a traceback of something else")
    note_shown(DiskFull("The disk is full."))
    codes = [error.code for error in recent_errors()]
    assert sorted(codes) == ["disk-full", *4 * ["model-not-found"]]
    assert recent_errors()[0].when >= recent_errors()[-1].when
    assert "Anna" not in log.read_text("utf-8")


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TIMBRE_LOGS", str(tmp_path / "file"))
    assert write_log("window") is None
    stop_log(None)
    assert recent_errors() == ()
    assert paths.log_folder().is_file()


def test_a_disk_that_fills_up_is_no_reason_to_fail(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("logging.handlers.RotatingFileHandler.shouldRollover", fail)
    logging.getLogger("studio").info("something")
    assert capsys.readouterr().err == ""
