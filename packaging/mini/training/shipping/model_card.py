"""``MODEL_CARD.md`` of the bundled voice: description, measures, sources and licences."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.shipping.instructions import read_instructions
from training.shipping.ship import SHIPPED_FOLDER
from training.trainers.options import BUILD_FOLDER, TrainingFailed

CARD_FILE = "MODEL_CARD.md"
_TEMPLATE = Path(__file__).with_name("model_card.md")
# Files of the networks, with descriptions for the card.
_NETWORKS = {
    "llm.pt": "speech language model: text and a prompt to speech tokens",
    "flow.pt": "flow: speech tokens and a voice to a mel spectrogram",
    "hift.pt": "vocoder: mel spectrogram to sound, pitch predictor included",
    "speech_tokenizer_v3.onnx": "speech tokenizer: a prompt's sound to speech tokens",
    "campplus.onnx": "speaker encoder: a prompt's sound to who speaks",
    "recognizer.onnx": "recogniser for checks of takes: sound to phones",
}


@dataclass(frozen=True, slots=True)
class Training:
    """Return the training time of a stage from its log."""

    stage: str
    steps: int
    minutes: float


def write_card(folder: Path, measured: Path, work: Path) -> Path:
    """Raise ``TrainingFailed`` if there are no measures or no model."""
    if not folder.is_dir():
        raise TrainingFailed(f"There is no model folder {folder}. Write it first: train.py ship")
    if not measured.is_file():
        raise TrainingFailed(f"There is no {measured}. Measure the model first: evaluate.py --json {measured}")
    content = json.loads(measured.read_text("utf-8"))
    path = folder / CARD_FILE
    text = _TEMPLATE.read_text("utf-8").format(
        sizes=_sizes(folder),
        instructions="\n".join(f"- “{each.canonical}” ({each.label_en})" for each in read_instructions().values()),
        verdict=_verdict(content),
        measures=_measures(content),
        training=_training(work),
    )
    path.write_text(text, "utf-8")
    return path


def trainings(work: Path) -> list[Training]:
    """Return the training times of the stages that have logs in ``work``."""
    found = []
    for path in sorted(work.glob("*.jsonl")):
        lines = path.read_text("utf-8").splitlines()
        if lines and path.with_suffix(".pt").is_file():
            last = json.loads(lines[-1])
            found.append(Training(path.stem, int(last["step"]), float(last["seconds"]) / 60.0))
    return found


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py card", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, default=BUILD_FOLDER / "work", help="folder of the trainers' logs")
    parser.add_argument("--measured", type=Path, help="what evaluate.py wrote (WORK/measured.json)")
    parser.add_argument("--to", type=Path, default=SHIPPED_FOLDER, help="the model folder to describe")
    parsed = parser.parse_args(arguments)
    try:
        print(write_card(parsed.to, parsed.measured or parsed.work / "measured.json", parsed.work))
    except TrainingFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


def _sizes(folder: Path) -> str:
    rows = [
        f"| `{name}` | {description} | {(folder / name).stat().st_size / 1e6:.1f} MB |"
        for name, description in _NETWORKS.items()
        if (folder / name).is_file()
    ]
    return "\n".join(["| file | network | size |", "|---|---|---|", *rows])


def _measures(content: Mapping[str, Any]) -> str:
    verdicts = {True: "holds", False: "**does not hold**", None: ""}
    rows = []
    for each in content["measures"]:
        value = "not a number" if each["value"] is None else f"{each['value']:.3g}"
        remark = "; ".join(part for part in (each["aside"], verdicts[each["is_met"]]) if part)
        rows.append(f"| {each['says']} | {value} | {each['asked'] or ''} | {remark} |")
    left_out = [f"- Not measured: {name}. {why}" for name, why in content["not_measured"].items()]
    return "\n".join(["| measure | value | required | |", "|---|---|---|---|", *rows, "", *left_out]).rstrip()


def _verdict(content: Mapping[str, Any]) -> str:
    judged = [each for each in content["measures"] if each["is_met"] is not None]
    held = sum(each["is_met"] for each in judged)
    extent = "a quick look, not the full measurement" if content["is_quick"] else "the full measurement"
    return f"{held} of {len(judged)} required measures hold ({content['measured']}, {extent})."


def _training(work: Path) -> str:
    rows = [f"| {each.stage} | {each.steps} | {each.minutes:.0f} |" for each in trainings(work)]
    return "\n".join(["| network | steps | minutes |", "|---|---|---|", *rows])
