"""The GPU check, run on the CPU with a miniature model."""

from __future__ import annotations

import json
import math
import mmap
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import gpu_check
import pytest

from measurements.gpu.json_process import ProcessLost
from measurements.gpu.material import official_cuts
from measurements.gpu.official import OfficialProcess, Whereabouts
from measurements.gpu.our_side import make_material
from measurements.gpu.plan import QUICK_PARTS
from measurements.gpu.ratios import ROWS, Row, compare
from measurements.gpu.whole_requests import PeakMemory, taken_bytes
from studio.engines.machine import processor
from studio.model.checkpoint import open_checkpoint

# What the official package looks like from outside, as far as it is asked: each token is drawn, each chunk is silence.
OFFICIAL = """
import time, torch

class LM:
    stop_token_ids = [9999]

    def sampling(self, scores, decoded, number):
        return 0

    def inference(self, text, text_len, prompt_text, max_token_text_ratio, min_token_text_ratio, **rest):
        decoded = []
        for _ in range(int(text.shape[1] * max_token_text_ratio)):
            token = self.sampling(None, decoded, 25)
            if token in self.stop_token_ids:
                return
            yield token
            decoded.append(token)
            time.sleep(0.0002)

class Flow:
    def inference(self, token, token_len, finalize, streaming, **rest):
        assert int(token_len) == token.shape[1]
        assert streaming is not finalize
        time.sleep(0.001)

class Model:
    device, fp16, token_hop_len = torch.device("cpu"), False, 25

    def __init__(self):
        self.llm, self.flow = LM(), Flow()
        self.tts_speech_token_dict, self.llm_end_dict, self.hift_cache_dict = {}, {}, {}

    def tts(self, text, stream, **request):
        print("official programs print", flush=True)
        assert self.token_hop_len == 25
        tokens = list(self.llm.inference(text, None, **request))
        self.token_hop_len *= 2
        for _ in range(3 if stream else 1):
            yield {"tts_speech": torch.zeros(1, 960 * len(tokens) // (3 if stream else 1))}

class CosyVoice3:
    sample_rate = 24000

    def __init__(self, model, fp16):
        assert not fp16
        self.model = Model()
"""


@pytest.fixture
def official(tmp_path: Path) -> Whereabouts:
    package = tmp_path / "official" / "cosyvoice" / "cli"
    package.mkdir(parents=True)
    (package / "cosyvoice.py").write_text(OFFICIAL, "utf-8")
    (tmp_path / "matcha").mkdir()
    return Whereabouts(tmp_path / "official", tmp_path / "matcha", num_threads=1)


@pytest.mark.slow
def test_everything_is_in_the_json(
    reference: Path,
    tmp_path: Path,
    official: Whereabouts,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))  # few_candidates
    model, out = reference / "cosyvoice3" / "checkpoint", tmp_path / "gpu.json"
    arguments = ["--folder", str(tmp_path / "scratch"), "--model", str(model), "--device", "cpu", "--small"]
    arguments += ["--out", str(out), "--modules", "few_candidates", "--threads", "1"]
    assert gpu_check.main(arguments) == 0, "begun without the official program"
    assert "against_official" not in json.loads(out.read_text())["models"][model.resolve().name]
    capsys.readouterr()
    arguments += ["--official", str(official.official), "--matcha", str(official.matcha)]
    assert gpu_check.main(arguments) == 0, "and continued with it"
    taken = [line for line in capsys.readouterr().err.splitlines() if line.endswith(" …")]
    assert taken, "the comparisons"
    assert all("against official" in step for step in taken), "what was known is not repeated"
    found = json.loads(out.read_text())
    assert found["machine"]["place"]["kind"] == "cpu"
    checked = found["models"][model.resolve().name]
    entries = {(entry["stage"], entry["name"]): entry for entry in checked["candidates"]}
    plain = entries["speech-lm", "torch-float32"]
    assert plain["verification"]["complaint"] is None
    assert plain["tokens_per_second"] > 0
    assert entries["speech-lm", "cuda-graph-bfloat16"]["unusable"] == "no NVIDIA GPU is in use"
    assert checked["E9"][0]["not_tried"] == "no NVIDIA GPU is in use"
    assert checked["R13"]["peak_bytes"] > 0
    assert [plan["precision"] for plan in checked["R13"]["planned"]] == ["float32", "bfloat16"]
    assert all(plan["line_seconds"] > 10 for plan in checked["R13"]["planned"]), "of a miniature"
    stages = {"speech-tokenizer", "speaker-encoder", "speech-lm", "flow", "vocoder"}
    assert set(checked["R13"]["engines"]) == stages
    requests = checked["requests"]
    assert requests["first_audio_seconds"]["known_voice"] > 0
    assert requests["real_time_factor_streaming"] > 0
    assert set(requests["audio_seconds_per_second"]) == {"1", "2"}
    assert all(speed > 0 for speed in requests["audio_seconds_per_second"].values())
    rows = {row["name"]: row for row in checked["against_official"]}
    assert set(rows) == {row.name for row in ROWS} >= {"R1", "R3", "R4", "R5", "R8", "R12"}
    assert all(row["ratio"] > 0 and len(row["rounds"]["ours"]) == 2 for row in rows.values())
    capsys.readouterr()
    assert gpu_check.main(arguments) == 0
    assert " …" not in capsys.readouterr().err, "all is known"


@pytest.mark.slow
def test_the_quick_check_runs_every_part(reference: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, out = reference / "cosyvoice3" / "checkpoint", tmp_path / "gpu.json"
    arguments = ["--folder", str(tmp_path / "scratch"), "--model", str(model), "--device", "cpu", "--small"]
    assert gpu_check.main([*arguments, "--quick", "--threads", "1", "--out", str(out)]) == 0, capsys.readouterr().err
    found = {entry["step"]: entry for entry in json.loads(out.read_text())["models"][model.resolve().name]["quick"]}
    assert list(found) == list(QUICK_PARTS)
    assert found["captured_graphs"]["errors"] == []
    assert found["captured_graphs"]["num_graphs"] > 0
    assert all(
        matrix["relative_error"] < 1e-5
        for name, matrix in found["int8"].items()
        if name != "step_seconds" and name != "step"
    )
    assert found["speech_lm"]["float32"]["graph_error"] < 1e-4
    assert found["speech_lm"]["float32"]["same_tokens"] == 1.0
    assert found["flow"]["graph float32"]["relative_error"] < 1e-4
    assert found["vocoder"]["GraphedVocoder"]["cold_ms"] > 0
    assert found["profile"]["flow_chunk"]["num_kernels"] > 0


@pytest.mark.slow
def test_a_model_that_cannot_be_opened_is_a_line_of_the_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    status = gpu_check.main(["--folder", str(tmp_path), "--model", str(empty), "--device", "cpu", "--tokens", "5"])
    assert status == 1
    error = json.loads(capsys.readouterr().out)["models"]["empty"]["recording"]["error"]
    assert error["kind"] in ("ModelNotFound", "UnknownGeneration")


def test_threads_of_what_is_started_sleep_while_they_wait() -> None:
    """Spinning made the flow of a busy processor ten times slower, and its ratios nonsense."""
    names = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    question = (
        "import gpu_check, os, sys; "
        f"sys.exit('torch' in sys.modules or [os.environ[n] for n in {names}] != ['PASSIVE', '10000'])"
    )
    folder = Path(gpu_check.__file__).parent
    assert subprocess.run([sys.executable, "-c", question], cwd=folder, env=environment, check=False).returncode == 0


def test_packages_that_are_missing_are_named_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu_check, "PACKAGES", ("torch", "no_such_package"))
    assert gpu_check.main(["--folder", str(tmp_path)]) == 20
    assert "Missing packages: no_such_package" in capsys.readouterr().err


def started(reference: Path, official: Whereabouts, log: Path) -> OfficialProcess:
    model = reference / "cosyvoice3" / "checkpoint"
    return OfficialProcess(official, model, "cosyvoice3", make_material(open_checkpoint(model)), is_half=False, log=log)


@pytest.mark.slow
def test_the_official_side_answers_every_measure(reference: Path, official: Whereabouts, tmp_path: Path) -> None:
    with started(reference, official, tmp_path / "log") as process:
        for row in ROWS:
            small = {"prompt": 30, "count": 40, "number": 2}
            answer = process.measured(row.measure, {name: small[name] for name in row.arguments})
            assert answer["seconds"] > 0, answer
        assert process.measured("stream", {"prompt": 30, "count": 40})["audio_seconds"] == pytest.approx(1.6, abs=0.01)
        assert "error" in process.measured("no_such_measure", {})
        assert process.measured("first_audio", {"prompt": 30, "count": 40})["seconds"] > 0, "and goes on"
    assert "official programs print" in (tmp_path / "log").read_text(), "not among the answers"


@pytest.mark.slow
def test_an_official_side_that_does_not_come_up_says_why(
    reference: Path, official: Whereabouts, tmp_path: Path
) -> None:
    (official.official / "cosyvoice" / "cli" / "cosyvoice.py").write_text("raise ImportError('no transformers')")
    with pytest.raises(ProcessLost, match="no transformers"):
        started(reference, official, tmp_path / "log")


class Timed:
    """Takes as long as it is told."""

    def __init__(self, *seconds: float) -> None:
        self._seconds = iter(seconds)

    def measured(self, measure: str, arguments: dict[str, int]) -> dict[str, Any]:
        second = next(self._seconds)
        return {"error": "no memory"} if math.isnan(second) else {"seconds": second}


def test_a_ratio_is_that_of_the_medians() -> None:
    row = Row("R0", "a measure", "stream", {"prompt": 1}, gate=2, target=3, stretch=9)
    entry = compare(row, Timed(9.0, 30.0, 6.0), Timed(3.0, 2.0, 900.0), rounds=3)
    assert entry["ratio"] == pytest.approx(3.0)
    assert entry["reached"] == ["gate", "target"]
    assert entry["rounds"]["ours"] == [3.0, 2.0, 900.0]
    assert compare(row, Timed(1.0), Timed(math.nan), rounds=1)["error"] == "ours: no memory"


@pytest.mark.parametrize(("prompt", "count"), [(250, 250), (240, 250), (75, 75), (30, 32), (75, 20)])
def test_official_cuts_are_those_of_the_official_schedule(prompt: int, count: int) -> None:
    """On its grid, doubling, and all tokens once."""
    cuts = list(official_cuts(prompt, count))
    assert [cut.start for cut in cuts] == [0, *(cut.stop for cut in cuts[:-1])]
    assert cuts[-1].stop == count
    assert [cut.is_last for cut in cuts] == [False] * (len(cuts) - 1) + [True]
    assert all((prompt + cut.stop) % 25 == 0 and cut.known == cut.stop + 3 for cut in cuts[:-1])


def test_peak_memory_is_what_was_held_meanwhile() -> None:
    """Also where it was given back before the end."""
    counts, seen = iter([100, 100, 700]), threading.Event()

    def taken() -> int:
        count = next(counts, 0)
        if not count:
            seen.set()
        return count

    with PeakMemory(taken) as peak:
        assert seen.wait(60)
    assert peak.num_bytes == 600


def test_what_a_process_holds_is_taken() -> None:
    """A mapping of its own: an allocation may be served from memory that was given back before."""
    before = taken_bytes(processor(1))
    with mmap.mmap(-1, 64 << 20) as held:
        held.write(bytes(1) * len(held))
        assert taken_bytes(processor(1)) - before > 32 << 20
