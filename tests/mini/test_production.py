"""One command from nothing: every step in its order, what has been done not done again; and the card at the end."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
import train

from training.production import RECOGNIZER, STAGES, ProductionOptions, produce
from training.shipping import model_card
from training.shipping.model_card import write_card
from training.trainers.options import TrainingFailed


def options(folder: Path, minutes: float = 100.0) -> ProductionOptions:
    return ProductionOptions(
        corpus=folder / "corpus",
        work=folder / "work",
        to=folder / "model",
        minutes=minutes,
        hours=1.0,
        word_hours=0.5,
        processes=1,
        seed=0,
        device="cpu",
    )


class Recorded:
    def __init__(self, fails_at: str = "") -> None:
        self.steps: list[list[str]] = []
        self._fails_at = fails_at

    def __call__(self, step: Sequence[str]) -> int:
        self.steps.append(list(step))
        return int(self._fails_at in step)

    @property
    def names(self) -> list[str]:
        return [Path(step[0]).stem if "evaluate" in step[0] else step[1] for step in self.steps]


def trained(work: Path, name: str, minutes: float) -> None:
    work.mkdir(exist_ok=True)
    (work / f"{name}.pt").write_bytes(b"")
    (work / f"{name}.jsonl").write_text(json.dumps({"step": 900, "seconds": 60.0 * minutes}) + "\n", "utf-8")


def test_everything_in_order(tmp_path: Path) -> None:
    run = Recorded()
    assert produce(options(tmp_path), run) == 0
    assert run.names == [
        "corpus", "speaker_encoder", "speaker_encoder", "f0", "tokenizer", "vocoder", "flow", "speech_lm",
        "ship", "takes", "recognizer", "ship", "evaluate", "card",
    ]  # fmt: skip
    judge = run.steps[2]
    assert judge[judge.index("--seed") + 1] != run.steps[1][run.steps[1].index("--seed") + 1]
    assert "odd" in judge


def test_the_minutes_are_shared_out() -> None:
    assert sum(stage.share for stage in (*STAGES, RECOGNIZER)) == pytest.approx(1.0)


def test_what_was_trained_is_trained_no_longer_than_its_share(tmp_path: Path) -> None:
    trained(tmp_path / "work", "f0", 10.0)
    trained(tmp_path / "work", "flow", 5.0)
    run = Recorded()
    produce(options(tmp_path), run)
    assert "f0" not in run.names
    flow = run.steps[run.names.index("flow")]
    assert float(flow[flow.index("--minutes") + 1]) == pytest.approx(14.0)


def test_however_few_the_minutes_every_network_begins(tmp_path: Path) -> None:
    run = Recorded()
    produce(options(tmp_path, minutes=1.0), run)
    assert {stage.arguments[0] for stage in (*STAGES, RECOGNIZER)} <= set(run.names)


def test_a_step_that_fails_is_the_last(tmp_path: Path) -> None:
    run = Recorded(fails_at="vocoder")
    assert produce(options(tmp_path), run) == 1
    assert run.names[-1] == "vocoder"


def measured(path: Path) -> Path:
    measures = [
        {"says": "sentences identified", "value": 0.5, "asked": ">= 0.83", "is_met": False, "aside": "12 of 24"},
        {"says": "seconds to the first audio", "value": 0.4, "asked": "< 1", "is_met": True, "aside": ""},
        {"says": "dB relative to the default", "value": None, "asked": None, "is_met": None, "aside": ""},
    ]
    content = {
        "measured": "2026-01-02",
        "is_quick": False,
        "measures": measures,
        "not_measured": {"timbre": "No judge."},
    }
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_the_card_tells_what_holds_and_what_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "flow.pt").write_bytes(bytes(2_500_000))
    trained(tmp_path / "work", "flow", 75.0)
    card = write_card(folder, measured(tmp_path / "measured.json"), tmp_path / "work").read_text("utf-8")
    assert "1 of 2 required measures hold" in card
    assert "| sentences identified | 0.5 | >= 0.83 | 12 of 24; **does not hold** |" in card
    assert "Not measured: timbre. No judge." in card
    assert "| flow | 900 | 75 |" in card
    assert "2.5 MB" in card
    assert "“Please whisper.”" in card
    assert "demonstration" in card


def test_a_card_needs_measures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model").mkdir()
    with pytest.raises(TrainingFailed, match="evaluate"):
        write_card(tmp_path / "model", tmp_path / "measured.json", tmp_path)
    assert model_card.main(["--to", str(tmp_path / "none"), "--work", str(tmp_path)]) == 1
    assert "no model folder" in capsys.readouterr().err


def test_help_names_the_commands_beside_the_stages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        train.main(["--help"])
    said = capsys.readouterr().out
    assert {"all", "corpus", "ship", "card"} <= set(re.findall(r"\w+", said))
    assert "train.py all" in said
