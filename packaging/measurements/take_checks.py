"""Measure the checks of takes with planted faults and good takes of studio-mini.

    python3 packaging/measure.py take-checks --work FOLDER [--set tuning] [--recognizer auto] [--json FILE]

Faults are planted in takes. ``--set tuning`` uses the bundled voices and is for choosing limits; the other set has
other voices and sentences (``take_checks.md`` lists the results). FOLDER keeps the takes, about 300 and 560, so that an
interrupted measurement resumes, and checks can be measured again quickly. The program lowers its own priority. It needs
flite and the packages of ``packaging/mini/requirements.txt``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studio.take_checks.records import TakeCheck
    from studio.take_checks.requests import CheckRequest

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # busy waiting of threads would count as CPU time
    os.environ.setdefault(_name, "1")

_NICENESS = 15
_STEPS = ("faults", "words", "cost", "first-audio", "retries")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for takes and the cache")
    parser.add_argument("--set", choices=("tuning", "measuring"), default="measuring", help="which takes to check")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other takes (default 0)")
    parser.add_argument("--recognizer", default="off", help="id of a recogniser, auto or off")
    parser.add_argument("--only", default="", metavar="STEP,...", help=f"some of: {', '.join(_STEPS)}")
    parser.add_argument("--as-made", action="store_true", help="measure the takes that exist, without making more")
    parser.add_argument("--json", type=Path, help="file for the results in JSON")
    parsed = parser.parse_args(arguments)
    steps = parsed.only.split(",") if parsed.only else list(_STEPS)
    if unknown := [step for step in steps if step not in _STEPS]:
        parser.error(f"unknown step {unknown[0]}")
    os.environ["TIMBRE_CACHE"] = str(parsed.work / "cache")
    os.nice(_NICENESS)
    result = _measure(parsed, steps)
    print(json.dumps(result, indent=1))
    if parsed.json:
        parsed.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 0


def _measure(parsed: argparse.Namespace, steps: Sequence[str]) -> dict[str, object]:
    from measurements.planted_faults import measures, sentences  # noqa: PLC0415 - after the environment is set
    from measurements.planted_faults.prompts import measuring_prompts, tuning_prompts  # noqa: PLC0415
    from measurements.planted_faults.takes import TakeMaker, TakeSet, set_threads  # noqa: PLC0415
    from studio.paths import resources  # noqa: PLC0415
    from studio.take_checks.checking import check_take  # noqa: PLC0415
    from studio.take_checks.engine import open_engine  # noqa: PLC0415

    set_threads()
    model = resources() / "models" / "studio-mini"
    folder = parsed.work / (parsed.set if parsed.seed == 0 else f"{parsed.set}-{parsed.seed}")
    if parsed.set == "tuning":
        clips = tuning_prompts(parsed.work / "tuning-prompts")
        takes = TakeSet(folder, sentences.TUNING, sentences.TUNING_SPECIAL, clips, 160, 120, 20, 30, parsed.seed)
    else:
        clips = measuring_prompts(parsed.work / "prompts")
        takes = TakeSet(folder, sentences.MEASURING, sentences.MEASURING_SPECIAL, clips, 80, 120, 40, 40, parsed.seed)
    if not parsed.as_made:
        takes.make(lambda: TakeMaker(model), lambda name: print(name, file=sys.stderr, flush=True))
    check: Callable[[CheckRequest], TakeCheck] = check_take if parsed.recognizer == "off" else open_engine().check
    result: dict[str, object] = {
        "measured": time.strftime("%Y-%m-%d"),
        "set": parsed.set,
        "seed": parsed.seed,
        "recognizer": parsed.recognizer,
    }
    if {"faults", "words", "cost", "retries"} & set(steps):
        results, cpu_seconds = measures.check_all(takes.takes(), check, model, parsed.recognizer)
        result["faults"] = measures.fault_table(results)
        result["check_cpu_seconds_per_second"] = round(cpu_seconds, 5)
        if "words" in steps:
            result["words_of_takes"] = measures.take_word_errors(results)
        if "retries" in steps:
            result["retries"] = measures.lines_after_retries(results)
    if {"words", "cost", "first-audio"} & set(steps):
        maker, clip = TakeMaker(model), takes.clips[0]
        if "words" in steps:
            result["words_of_flite"] = measures.flite_word_errors(
                maker, takes.sentences, clip, check, parsed.recognizer
            )
        if "cost" in steps:
            result["synthesis_cpu_seconds_per_second"] = round(
                measures.synthesis_cost(maker, takes.sentences[:8], clip), 4
            )
        if "first-audio" in steps:
            result["first_audio"] = measures.first_audio(maker, takes.sentences[:20], clip)
    return result
