"""The amount of measuring: full or quick."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BenchSize:
    """``cost_seconds``: lengths of speech whose cost per second is compared. ``num_speech_tokens``: steps of the
    language model. ``num_repeats``: repetitions for the median. ``compares_choices``: measure rejected choices too.
    """

    prompt_seconds: tuple[float, ...]
    speech_seconds: float
    cost_seconds: tuple[float, ...]
    num_speech_tokens: int
    num_repeats: int
    compares_choices: bool


FULL = BenchSize(
    prompt_seconds=(3.0, 10.0),
    speech_seconds=10.0,
    cost_seconds=(5.0, 30.0, 120.0),
    num_speech_tokens=200,
    num_repeats=3,
    compares_choices=True,
)
QUICK = BenchSize(
    prompt_seconds=(3.0,),
    speech_seconds=3.0,
    cost_seconds=(5.0,),
    num_speech_tokens=50,
    num_repeats=1,
    compares_choices=False,
)
