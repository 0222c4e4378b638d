"""Measure the repair of words inside takes of studio-mini, with planted wrong words.

    python3 packaging/measure.py word-repairs --work FOLDER [--takes 100] [--json FILE]

For each take, a sentence is spoken with another word in place of one of its words. The word is then corrected as by
*Say changed words*, and for comparison the whole corrected sentence is spoken again. The recogniser of the model judges
whether the word is right. Joins are examined by the checks of takes, and for clicks: a jump of the samples beyond the
largest one elsewhere in both takes. ``word_repairs.md`` lists the results. FOLDER keeps the cache and the takes that are
done, so that an interrupted measurement resumes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from studio.model.stages import FloatArray
    from studio.pipeline.request import SentenceEvidence, SynthesisReport, SynthesisRequest, VoiceReference
    from studio.pipeline.synthesizer import Synthesizer
    from studio.take_checks.engine import TakeCheckEngine
    from studio.take_checks.records import TakeCheck
    from studio.take_checks.words import Word

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # busy waiting of threads would count as CPU time
    os.environ.setdefault(_name, "1")

_NICENESS = 5
_VOICES = ("Ada", "Angus", "Linda", "Max", "Miles")
_MIN_LETTERS = 4  # of a replaced word
_KEPT_SECONDS = 0.2  # distance from the words from which the recording must be the same
_MARGIN_SECONDS = 0.08  # spoken again on each side of the words
_JOIN_SECONDS = 0.02  # searched for clicks on each side of a join
_NORMAL_95 = 1.96


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for the cache and the results so far")
    parser.add_argument("--takes", type=int, default=100, help="number of repairs (default 100)")
    parser.add_argument("--json", type=Path, help="file for the results in JSON")
    parsed = parser.parse_args(arguments)
    os.environ["TIMBRE_CACHE"] = str(parsed.work / "cache")
    os.nice(_NICENESS)
    done = parsed.work / "repairs.jsonl"
    parsed.work.mkdir(parents=True, exist_ok=True)
    repairs = [json.loads(line) for line in done.read_text("utf-8").splitlines()] if done.exists() else []
    if len(repairs) < parsed.takes:
        trial = Trial()
        with done.open("a", encoding="utf-8") as file:
            for number in range(len(repairs), parsed.takes):
                repairs.append(trial.repair(number))
                print(json.dumps(repairs[-1]), file=file, flush=True)
    result = _summary(repairs[: parsed.takes])
    print(json.dumps(result, indent=1))
    if parsed.json:
        parsed.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 0


class Trial:
    """The model, the checks and the sentences."""

    def __init__(self) -> None:
        from measurements.planted_faults.sentences import MEASURING, TUNING  # noqa: PLC0415 - after the environment
        from studio.paths import resources  # noqa: PLC0415
        from studio.pipeline.loading import load_synthesizer  # noqa: PLC0415
        from studio.pipeline.request import EngineOptions, VoiceReference  # noqa: PLC0415
        from studio.take_checks.engine import open_engine  # noqa: PLC0415
        from training.corpus.texts import test_sentences  # noqa: PLC0415

        self._folder = resources() / "models" / "studio-mini"
        self._synthesizer: Synthesizer = load_synthesizer(self._folder, EngineOptions(num_threads=1, engines="plain"))
        self._checks: TakeCheckEngine = open_engine()
        clips = [resources() / "voices" / f"{name}.wav" for name in _VOICES]
        self._voices: list[VoiceReference] = [
            VoiceReference(clip, clip.with_suffix(".txt").read_text("utf-8").strip()) for clip in clips
        ]
        texts = dict.fromkeys((*MEASURING, *TUNING, *test_sentences("en")))
        self._sentences = [text for text in texts if _inner_words(text)]

    def repair(self, number: int) -> dict[str, Any]:
        """Plant a wrong word, repair it, and return what was found."""
        import numpy as np  # noqa: PLC0415 - after the environment is set

        from studio.pipeline.request import SynthesisRequest  # noqa: PLC0415
        from studio.project.take_repair import changed_spans, join_new_words, replaced_tokens  # noqa: PLC0415

        generator = np.random.default_rng(number)
        text = self._sentences[number % len(self._sentences)]
        others = [word.text for word in _inner_words(self._sentences[(number + 7) % len(self._sentences)])]
        words = _inner_words(text)
        word, other = words[generator.integers(len(words))], others[generator.integers(len(others))]
        wrong = text[: word.start] + other + text[word.end :]
        request = SynthesisRequest(
            wrong,
            self._voices[number % len(self._voices)],
            seed=number,
            is_played=False,
            trims_leading_silence=True,
        )
        old, report = _speak(self._synthesizer, request)
        before = self._check(wrong, old, report.evidence)
        spans = changed_spans(before.words, wrong, text)
        if not spans:
            return {"number": number, "text": text, "word": word.text, "planted": other, "is_found": False}
        again = _request(request, text=text, seed=1000 + number)
        known = replaced_tokens(report.evidence, spans)
        spoken, new_report = _speak(self._synthesizer, _request(again, known_tokens=known))
        rate = report.sample_rate
        repaired = join_new_words(old, spoken, rate, report.evidence, new_report.evidence)
        whole, whole_report = _speak(self._synthesizer, again)
        start, end = _differing(old, repaired.samples, rate)
        first, last = repaired.spans[0]
        after = self._check(text, repaired.samples, repaired.evidence)
        of_whole = self._check(text, whole, whole_report.evidence)
        return {
            "number": number,
            "text": text,
            "word": word.text,
            "planted": other,
            "is_found": True,
            "is_right": _is_right(after, word),
            "is_right_in_whole_take": _is_right(of_whole, word),
            "is_heard_as_planted": _is_right(before, word, other),
            "num_problems_elsewhere": _num_elsewhere(after, word),
            "num_problems_elsewhere_in_whole_take": _num_elsewhere(of_whole, word),
            "num_problems_elsewhere_before": _num_elsewhere(before, word, other),
            "problems_at_joins": [
                problem.kind.value
                for problem in after.problems
                if not problem.text and any(problem.from_seconds <= at <= problem.to_seconds for at in (start, end))
            ],
            "has_click": any(
                _jump(repaired.samples, rate, at) > max(_largest_jump(old), _largest_jump(spoken))
                for at in (start, end)
            ),
            "span": [round(first, 3), round(last, 3)],
            "same_until": round(start, 3),
            "same_from": round(end, 3),
            "seconds": round(len(repaired.samples) / rate, 3),
        }

    def _check(self, text: str, samples: FloatArray, evidence: tuple[SentenceEvidence, ...]) -> TakeCheck:
        from studio.take_checks.requests import CheckRequest  # noqa: PLC0415 - after the environment is set

        return self._checks.check(
            CheckRequest(
                samples=samples,
                sample_rate=self._synthesizer.description.sample_rate,
                text=text,
                evidence=evidence,
                prompt_clip=None,
                model_folder=self._folder,
                recognizer="auto",
            )
        )


def _inner_words(text: str) -> list[Word]:
    from studio.take_checks.words import split_words  # noqa: PLC0415 - after the environment is set

    return [word for word in split_words(text)[1:-1] if len(word.text) >= _MIN_LETTERS]


def _request(request: SynthesisRequest, **values: Any) -> SynthesisRequest:
    from dataclasses import replace  # noqa: PLC0415

    return replace(request, **values)


def _speak(synthesizer: Synthesizer, request: SynthesisRequest) -> tuple[FloatArray, SynthesisReport]:
    import numpy as np  # noqa: PLC0415 - after the environment is set

    from studio.pipeline.request import RequestControl  # noqa: PLC0415

    chunks, samples = synthesizer.stream(request, control=RequestControl()), []
    while True:
        try:
            samples.append(next(chunks).samples)
        except StopIteration as end:
            return np.concatenate(samples), end.value


def _is_right(check: TakeCheck, word: Word, spoken: str | None = None) -> bool:
    """Return whether no problem is at the place of ``word``, where ``spoken`` may stand."""
    end = word.start + len(spoken or word.text)
    return not any(each.text_start < end and each.text_end > word.start for each in check.problems)


def _num_elsewhere(check: TakeCheck, word: Word, spoken: str | None = None) -> int:
    end = word.start + len(spoken or word.text)
    return sum(not (each.text_start < end and each.text_end > word.start) for each in check.problems)


def _differing(one: FloatArray, other: FloatArray, rate: int) -> tuple[float, float]:
    """Return the time in ``other`` of the first and after the last sample that is not one of ``one``."""
    import numpy as np  # noqa: PLC0415 - after the environment is set

    length = min(len(one), len(other))
    start = np.flatnonzero(one[:length] != other[:length])
    end = np.flatnonzero(one[::-1][:length] != other[::-1][:length])
    return (
        float(start[0] if len(start) else length) / rate,
        float(len(other) - (end[0] if len(end) else length)) / rate,
    )


def _jump(samples: FloatArray, rate: int, at_seconds: float) -> float:
    around = round(_JOIN_SECONDS * rate)
    at = round(at_seconds * rate)
    return _largest_jump(samples[max(0, at - around) : at + around])


def _largest_jump(samples: FloatArray) -> float:
    """Return the largest second difference, which is large at clicks."""
    import numpy as np  # noqa: PLC0415 - after the environment is set

    return float(np.abs(np.diff(samples, 2)).max(initial=0.0))


def _summary(repairs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    found = [each for each in repairs if each["is_found"]]

    def share(measure: str | Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        num = sum(bool(each[measure] if isinstance(measure, str) else measure(each)) for each in found)
        return {"number": num, "of": len(found), "interval": _interval(num, len(found))}

    return {
        "num_repairs": len(repairs),
        "words_found": len(found),
        "words_right": share("is_right"),
        "words_right_in_whole_takes": share("is_right_in_whole_take"),
        "planted_words_heard": share("is_heard_as_planted"),
        "rest_is_same": share(_is_rest_same),
        "with_problems_at_joins": share("problems_at_joins"),
        "with_clicks": share("has_click"),
        "problems_elsewhere": sum(each["num_problems_elsewhere"] for each in found),
        "problems_elsewhere_before": sum(each["num_problems_elsewhere_before"] for each in found),
        "problems_elsewhere_in_whole_takes": sum(each["num_problems_elsewhere_in_whole_take"] for each in found),
    }


def _is_rest_same(repair: dict[str, Any]) -> bool:
    """Return whether all samples are those of the recording outside 0.2 s around the words."""
    first, last = repair["span"]
    distances = first + _MARGIN_SECONDS - repair["same_until"], repair["same_from"] - last + _MARGIN_SECONDS
    return bool(round(max(distances), 2) <= _KEPT_SECONDS)


def _interval(number: int, total: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share."""
    if not total:
        return 0.0, 1.0
    square = _NORMAL_95**2
    centre = (number + square / 2) / (total + square)
    half = _NORMAL_95 / (total + square) * math.sqrt(number * (total - number) / total + square / 4)
    return round(max(0.0, centre - half), 3), round(min(1.0, centre + half), 3)
