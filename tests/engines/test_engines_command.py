"""``timbre engines``, run in this process."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import engine_fakes
import noise_models
import pytest
from trial_inputs import TRIAL_SIZE, small_recording

from studio.cli.main import main as timbre
from studio.engines import __main__ as command
from studio.engines.candidate import EngineTarget
from studio.engines.machine import processor
from studio.engines.manager import EngineManager
from studio.engines.reference_io import reference_file_name
from studio.engines.store import EngineStore
from studio.model.checkpoint import open_checkpoint

MODEL = noise_models.V3


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    target = EngineTarget(open_checkpoint(MODEL), processor(1))
    small_recording().write(EngineStore().folder / "recorded" / reference_file_name(target, TRIAL_SIZE))
    monkeypatch.setattr(
        command, "EngineManager", partial(EngineManager, start_trial=engine_fakes.ThreadTrial, trial_size=TRIAL_SIZE)
    )
    return tmp_path


def engines(*words: str, candidates: str = "ONE_BUILT") -> int:
    given = ["--model", str(MODEL), "--device", "cpu", "--threads", "1", "--modules", f"engine_fakes:{candidates}"]
    return command.main([words[0], *given, *words[1:]])


def test_list_before_any_trial(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert engines("list") == 0
    shown = capsys.readouterr().out
    assert "speaker encoder  fake float32   not measured" in shown
    assert "2 not tested yet: run `timbre engines build`." in shown


@pytest.mark.parametrize(
    ("stage", "title"), [("speech-lm", "language model"), ("flow", "flow"), ("vocoder", "vocoder")]
)
def test_untried_stages_show_no_precision(
    cache: Path, capsys: pytest.CaptureFixture[str], stage: str, title: str
) -> None:
    """Loading the model compares 8 and 16 bits with float32 first; the flow ran in bfloat16 and float32 was named."""
    arguments = ["--model", str(MODEL), "--device", "cpu", "--threads", "1", "--stage", stage]
    assert command.main(["why", *arguments]) == 0
    shown = capsys.readouterr().out
    assert f"{title}: PyTorch, precision chosen on loading" in shown
    assert "8 and 16 bits are compared with float32 on loading" in shown


def test_build_list_why_and_clear(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert engines("build") == 0
    reported = capsys.readouterr()
    assert "2 of 2: speaker-encoder, built: writing" in reported.err
    assert "6 kB" in reported.out
    assert engines("why") == 0
    assert "not fake float32: it is slower:" in capsys.readouterr().out
    assert engines("list", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["candidates"]
    assert [(row["name"], row["in_use"]) for row in rows] == [("plain", False), ("built", True)]
    assert rows[1]["speedup"] > 1.05
    assert engines("clear") == 0
    assert "6 kB freed" in capsys.readouterr().out
    assert EngineStore().all_manifests() == []


def test_why_lists_each_failure(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engines("build", candidates="BAD")
    capsys.readouterr()
    engines("why", "--stage", "speaker-encoder", candidates="BAD")
    shown = capsys.readouterr().out
    for words in ("not finite", "from float32 by 10.00%", "The plan cannot be built", "is not installed"):
        assert words in shown


def test_verify_does_not_rebuild(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engines("build")
    engine_fakes.ThreadTrial.tasks.clear()
    capsys.readouterr()
    assert engines("verify", "--engine", "built") == 0
    assert [task.is_built for task in engine_fakes.ThreadTrial.tasks] == [True]
    assert "writing" not in capsys.readouterr().err
    engine_fakes.ThreadTrial.tasks.clear()
    assert engines("rebuild", "--engine", "built") == 0
    assert [task.is_built for task in engine_fakes.ThreadTrial.tasks] == [False]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("list", "--engine", "other"), "There is no engine other for these stages. Choose one of: built, plain."),
        (("list", "--device", "RTX 9999"), "No GPU that PyTorch can use matches “RTX 9999”"),
    ],
)
def test_unknown_engine_name_is_reported(
    cache: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], expected: str
) -> None:
    assert engines(*words) == 2
    rejection = capsys.readouterr().err
    assert expected in rejection
    assert rejection.endswith("(unusable-setting)\n")


def test_command_passes_its_options_on(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[list[str]] = []

    class Process:
        def __init__(self, words: list[str]) -> None:
            reported.append(words)

        def __enter__(self) -> Process:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def wait(self) -> int:
            return 7

    monkeypatch.setattr("studio.cli.engines.subprocess.Popen", Process)
    status = timbre(["engines", "why", "--model", str(MODEL), "--stage", "flow", "--threads", "2", "--json"])
    assert status == 7
    assert reported[0][1:] == [
        "-m", "studio.engines", "why", "--model", str(MODEL), "--device", "auto", "--threads", "2", "--stage", "flow", "--json",
    ]  # fmt: skip
