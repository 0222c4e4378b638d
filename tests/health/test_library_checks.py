"""Checks of accelerators and built engines, without importing anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.engines.manifest import FailureKind
from studio.engines.store import MOST_FAILURES, EngineStore
from studio.health import library_checks
from studio.health.check import Verdict
from studio.health.library_checks import check_accelerators, check_libraries, check_plans
from studio.messages import wording


def installed(monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    known = {name.replace("_", "-"): version for name, version in versions.items()}
    monkeypatch.setattr(library_checks, "_version", lambda name: known.get(name, ""))


def test_both_builds_of_onnx_runtime_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, onnxruntime="1.31.1", onnxruntime_gpu="1.31.1")
    check = check_accelerators()
    assert check.verdict is Verdict.LIMITED
    assert "both installed" in str(check.finding)
    assert "pip uninstall onnxruntime onnxruntime-gpu" in str(check.remedy)
    installed(monkeypatch, onnxruntime_gpu="1.31.1", vllm="0.32.0")
    assert (check_accelerators().verdict, str(check_accelerators().finding)) == (
        Verdict.FINE,
        "onnxruntime-gpu 1.31.1, vllm 0.32.0",
    )
    installed(monkeypatch, onnxruntime="1.31.1")
    assert str(check_accelerators().finding) == "none installed"


def test_a_program_without_packages_says_that_they_are_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "numpy " in str(check_libraries().finding)
    installed(monkeypatch)
    assert str(check_libraries().finding) == "included in the program"


def test_plans_are_counted_by_what_became_of_them(tmp_path: Path) -> None:
    store = EngineStore(tmp_path)
    assert "none yet" in str(check_plans(store).finding)
    for _ in range(MOST_FAILURES):
        store.begin("a-build")
        store.fail("a-build", FailureKind.CRASHED, wording("it crashed"))
    store.begin("another")
    store.fail("another", FailureKind.FAILED, wording("a full disk"))
    check = check_plans(store)
    assert check.verdict is Verdict.LIMITED
    assert "timbre engines rebuild" in str(check.remedy)
    assert "0 verified, 0 rejected, 1 failed" in str(check.finding)
