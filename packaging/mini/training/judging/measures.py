"""All measures by name, in the order of the table, and the function that runs them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from training.judging import dialects, intelligibility, likeness, speed, stages, style_effects
from training.judging.examination import Examination, NotMeasured
from training.judging.outcome import Outcome, table

Measure = Callable[[Examination], list[Outcome]]

MEASURES: dict[str, Measure] = {
    "identification": intelligibility.identification,
    "words": intelligibility.words,
    "copy": stages.copy_synthesis,
    "flow": stages.flow,
    "tokenizer": stages.tokenizer,
    "speech_lm": stages.speech_lm,
    "timbre": likeness.timbre,
    "pitch": likeness.pitch,
    "durations": intelligibility.durations,
    "wishes": style_effects.style_effects,
    "dialects": dialects.dialects,
    "speed": speed.speed,
    "seams": speed.seams,
}


@dataclass(slots=True)
class Results:
    """Results of the measures. ``left_out`` contains the reason for each measure that was not possible."""

    outcomes: list[Outcome] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def examine(examination: Examination, names: Sequence[str], report: Callable[[str], None]) -> Results:
    """Run the named measures, and call ``report`` after each."""
    results = Results()
    for name in names:
        started = time.monotonic()
        try:
            found = MEASURES[name](examination)
        except NotMeasured as why:
            results.left_out[name] = str(why)
            continue
        results.outcomes += found
        report(f"{name}, {time.monotonic() - started:.0f} s\n{table(found)}")
    return results
