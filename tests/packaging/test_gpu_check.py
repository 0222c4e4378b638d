"""The check of engines on a graphics card, run on the processor with a miniature model."""

from __future__ import annotations

import json
from pathlib import Path

import gpu_check
import pytest


@pytest.mark.slow
def test_everything_is_in_the_json(reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_check, "LINES_AT_ONCE", (1, 2))
    monkeypatch.setattr(gpu_check, "_LINE_SECONDS", 2.0)
    monkeypatch.setattr(gpu_check, "_EXPORT_LINE_SECONDS", 1.0)
    monkeypatch.setattr(gpu_check, "_NUM_WARM", 2)
    model, out = reference / "cosyvoice3" / "checkpoint", tmp_path / "gpu.json"
    arguments = ["--folder", str(tmp_path), "--model", str(model), "--place", "cpu", "--tokens", "26"]
    assert gpu_check.main([*arguments, "--out", str(out), "--modules", "few_candidates"]) == 0
    found = json.loads(out.read_text())
    assert found["machine"]["place"]["kind"] == "cpu"
    checked = found["models"]["checkpoint"]
    entries = {(entry["stage"], entry["name"]): entry for entry in checked["candidates"]}
    plain = entries["speech-lm", "torch-float32"]
    assert plain["verification"]["complaint"] is None
    assert plain["tokens_per_second"] > 0
    assert entries["speech-lm", "cuda-graph-bfloat16"]["unusable"] == "there is no graphics card in use"
    assert set(checked["chosen"]) == {"speech-tokenizer", "speaker-encoder", "speech-lm", "flow", "vocoder"}
    requests = checked["requests"]
    assert requests["first_audio_seconds_known_voice"] > 0
    assert set(requests["audio_seconds_per_second"]) == {"1", "2"}
    assert all(speed > 0 for speed in requests["audio_seconds_per_second"].values())


def test_a_model_that_cannot_be_opened_is_a_line_of_the_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    status = gpu_check.main(["--folder", str(tmp_path), "--model", str(empty), "--place", "cpu", "--tokens", "5"])
    assert status == 1
    assert json.loads(capsys.readouterr().out)["models"]["empty"]["error"]["kind"] in (
        "ModelNotFound",
        "UnknownGeneration",
    )
