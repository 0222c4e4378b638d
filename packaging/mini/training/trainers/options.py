"""Options of a training run, and the named settings of each stage."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

BUILD_FOLDER = Path(__file__).resolve().parents[4] / "build" / "mini"
TAKES_FOLDER, READINGS_FOLDER = "takes", "readings"  # beside the corpus

SettingsT = TypeVar("SettingsT")


class TrainingFailed(Exception):
    """A training run cannot continue. The message contains the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """One run of one stage.

    ``work`` contains ``<name>.pt``, which is resumed if it exists, and ``<name>.jsonl``. ``name`` is the name of the
    stage, or another name for a second network of the same kind, such as the speaker encoder of the evaluation.
    ``settings`` are the settings of the stage, as text.
    """

    corpus: Path
    work: Path
    minutes: float = 90.0
    seed: int = 0
    device: str = "cpu"
    name: str | None = None
    speakers: str = "all"
    settings: Mapping[str, str] = field(default_factory=dict)

    def with_settings(self, defaults: SettingsT) -> SettingsT:
        """Return ``defaults``, a frozen dataclass of numbers, strings and booleans, with the settings of this run.

        Raise ``TrainingFailed`` for an unknown name or a value of another type.
        """
        known = {each.name: getattr(defaults, each.name) for each in dataclasses.fields(defaults)}  # type: ignore[arg-type]
        changes: dict[str, Any] = {}
        for name, text in self.settings.items():
            if name not in known:
                raise TrainingFailed(f"This stage has no setting {name}. Its settings are: {', '.join(sorted(known))}.")
            try:
                changes[name] = _parsed(text, known[name])
            except ValueError:
                kind = type(known[name]).__name__
                raise TrainingFailed(f"{name} must be of type {kind}, not {text!r}.") from None
        return dataclasses.replace(defaults, **changes)  # type: ignore[type-var]


def _parsed(text: str, like: object) -> Any:
    if isinstance(like, bool):
        if text not in ("true", "false"):
            raise ValueError(text)
        return text == "true"
    if isinstance(like, tuple):
        return tuple(_parsed(part, like[0]) for part in text.split(","))
    assert isinstance(like, (int, float, str)), "settings are numbers, strings and booleans"
    return type(like)(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpus", type=Path, default=BUILD_FOLDER / "corpus", help="folder of the synthetic speech")
    parser.add_argument("--work", type=Path, default=BUILD_FOLDER / "work", help="folder of checkpoints and logs")
    parser.add_argument(
        "--minutes",
        type=float,
        default=90.0,
        help="training time of the stage, in all runs together: CPU time, or elapsed time on a GPU",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="cpu, or cuda")
    parser.add_argument("--name", help="name of checkpoint and log (default: the name of the stage)")
    parser.add_argument("--speakers", choices=("all", "odd", "even"), default="all", help="speaker encoder only")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the stage")


def options_from(arguments: argparse.Namespace) -> TrainingOptions:
    """Raise ``TrainingFailed`` for a setting without a value."""
    settings: dict[str, str] = {}
    for assignment in arguments.set:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise TrainingFailed(f"--set needs NAME=VALUE, not {assignment!r}.")
        settings[name] = value
    return TrainingOptions(
        corpus=arguments.corpus,
        work=arguments.work,
        minutes=arguments.minutes,
        seed=arguments.seed,
        device=arguments.device,
        name=arguments.name,
        speakers=arguments.speakers,
        settings=settings,
    )
