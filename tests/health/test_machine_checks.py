"""The check of audio formats: PyAV, ffmpeg, or neither."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from studio.health.check import Verdict
from studio.health.machine_checks import check_media

posix = pytest.mark.skipif(sys.platform == "win32", reason="programs here are scripts")


@pytest.fixture
def computer_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Without PyAV, and with an ffmpeg that says something when it is asked for its version."""
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "av" else real(name))
    monkeypatch.setenv("PATH", str(tmp_path))

    def put(answer: str) -> None:
        (tmp_path / "ffmpeg").write_text(f"#!/bin/sh\n{answer}\n")
        (tmp_path / "ffmpeg").chmod(0o755)

    return put


def test_pyav_is_named_where_it_is() -> None:
    assert check_media().verdict is Verdict.FINE
    assert "PyAV" in str(check_media().finding)


@posix
def test_else_the_ffmpeg_of_the_computer_is(computer_with: Callable[[str], None]) -> None:
    computer_with("echo ffmpeg version 5.1.8-0+deb12u1 Copyright and so on")
    assert check_media().verdict is Verdict.FINE
    assert str(check_media().finding) == "all formats are supported (ffmpeg 5.1.8-0+deb12u1)"


@posix
def test_one_that_does_not_start_is_no_help(computer_with: Callable[[str], None]) -> None:
    computer_with("echo error while loading shared libraries >&2; exit 127")
    assert check_media().verdict is Verdict.LIMITED
    assert "does not start" in str(check_media().finding)
    assert "Install ffmpeg" in str(check_media().remedy)


@pytest.mark.usefixtures("computer_with")
def test_without_both_the_remedy_is_told() -> None:
    assert check_media().verdict is Verdict.LIMITED
    assert "m4a, mp4 and webm are not" in str(check_media().finding)
    assert "Install ffmpeg" in str(check_media().remedy)
