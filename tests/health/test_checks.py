"""Checks of accelerators, built engines and audio formats."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from studio.engines.manifest import FailureKind
from studio.engines.store import MAX_FAILURES, EngineStore
from studio.health import checks
from studio.health.checks import (
    CheckVerdict,
    check_accelerators,
    check_libraries,
    check_media,
    check_plans,
    check_services,
)
from studio.health.log_file import ShownError
from studio.health.report import HealthReport
from studio.messages import message

posix = pytest.mark.skipif(sys.platform == "win32", reason="the fake ffmpeg is a shell script")


def installed(monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    known = {name.replace("_", "-"): version for name, version in versions.items()}
    monkeypatch.setattr(checks, "_version", lambda name: known.get(name, ""))


def test_two_builds_of_onnx_runtime_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, onnxruntime="1.31.1", onnxruntime_gpu="1.31.1")
    check = check_accelerators()
    assert check.verdict is CheckVerdict.LIMITED
    assert "both installed" in str(check.finding)
    assert "pip uninstall onnxruntime onnxruntime-gpu" in str(check.remedy)
    installed(monkeypatch, onnxruntime_gpu="1.31.1", vllm="0.32.0")
    assert (check_accelerators().verdict, str(check_accelerators().finding)) == (
        CheckVerdict.FINE,
        "onnxruntime-gpu 1.31.1, vllm 0.32.0",
    )
    installed(monkeypatch, onnxruntime="1.31.1")
    assert str(check_accelerators().finding) == "none installed"
    assert check_accelerators().is_absent


def test_a_service_that_is_not_installed_is_not_marked_as_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    (first, *_) = found = list(check_services())
    assert all(check.is_absent for check in found)
    assert HealthReport((first,)).as_text().startswith("-     speech service: not installed")


def test_a_frozen_program_reports_its_libraries_as_included(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "numpy " in str(check_libraries().finding)
    installed(monkeypatch)
    assert str(check_libraries().finding) == "included in the program"


def test_built_engines_are_counted_by_outcome(tmp_path: Path) -> None:
    store = EngineStore(tmp_path)
    assert "none yet" in str(check_plans(store).finding)
    for _ in range(MAX_FAILURES):
        store.begin("a-build")
        store.fail("a-build", FailureKind.CRASHED, message("it crashed"))
    store.begin("another")
    store.fail("another", FailureKind.FAILED, message("a full disk"))
    check = check_plans(store)
    assert check.verdict is CheckVerdict.LIMITED
    assert "timbre engines rebuild" in str(check.remedy)
    assert "0 verified, 0 rejected, 1 failed" in str(check.finding)


@pytest.fixture
def install_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Hide PyAV, and return a function that installs an ffmpeg script."""
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "av" else real(name))
    monkeypatch.setenv("PATH", str(tmp_path))

    def install(script: str) -> None:
        (tmp_path / "ffmpeg").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "ffmpeg").chmod(0o755)

    return install


def test_pyav_is_reported_if_installed() -> None:
    assert check_media().verdict is CheckVerdict.FINE
    assert "PyAV" in str(check_media().finding)


@posix
def test_ffmpeg_is_reported_without_pyav(install_ffmpeg: Callable[[str], None]) -> None:
    install_ffmpeg("echo ffmpeg version 5.1.8-0+deb12u1 Copyright and so on")
    assert check_media().verdict is CheckVerdict.FINE
    assert str(check_media().finding) == "all formats are supported (ffmpeg 5.1.8-0+deb12u1)"


@posix
def test_an_ffmpeg_that_does_not_start_is_reported(install_ffmpeg: Callable[[str], None]) -> None:
    install_ffmpeg("echo error while loading shared libraries >&2; exit 127")
    assert check_media().verdict is CheckVerdict.LIMITED
    assert "does not start" in str(check_media().finding)
    assert "Install ffmpeg" in str(check_media().remedy)


@pytest.mark.usefixtures("install_ffmpeg")
def test_without_pyav_and_ffmpeg_a_remedy_is_given() -> None:
    assert check_media().verdict is CheckVerdict.LIMITED
    assert "m4a, mp4 and webm are not" in str(check_media().finding)
    assert "Install ffmpeg" in str(check_media().remedy)


def test_recent_errors_are_explained_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = [ShownError(f"2026-11-22 12:0{number}", "unknown-preset") for number in (3, 2, 1)]
    monkeypatch.setattr(checks, "recent_errors", lambda: (*shown, ShownError("2026-11-22 11:00", "disk-full")))
    words = str(checks.check_recent_errors().finding)
    assert "(unknown-preset, 3 times, last 2026-11-22 12:03)" in words
    assert "(disk-full, 2026-11-22 11:00)" in words
    assert words[0].isupper()


def test_the_libraries_of_the_service_and_the_cluster_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_CLUSTER_LIBRARIES", ("no_such_library",))
    service, cluster, _ = check_services()
    assert "fastapi" in str(service.finding)
    assert "[cluster]" in str(cluster.finding)
    assert {service.verdict, cluster.verdict} == {CheckVerdict.FINE}
