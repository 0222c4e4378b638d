"""The measures: faults found, places, word times, costs, time to first audio, and lines after retries."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from measurements.planted_faults.prompts import PromptClip
from measurements.planted_faults.takes import KINDS, MeasuredTake, TakeMaker
from measurements.planted_faults.truth import aligned_words
from studio.audio.waveform import Waveform
from studio.pipeline.alignment import AlignmentReader
from studio.pipeline.enrolment import source_tokens
from studio.pipeline.request import RequestControl, SynthesisReport, SynthesisRequest, VoiceReference
from studio.take_checks.policy import DEFAULT_RETRIES, find_best
from studio.take_checks.records import TakeCheck, Verdict
from studio.take_checks.requests import CheckRequest
from training.synthesizers import flite
from training.synthesizers.phones import LABELS, SILENCE

Check = Callable[[CheckRequest], TakeCheck]
Checked = list[tuple[MeasuredTake, TakeCheck]]

_NEAR_SECONDS = 0.3
_FLITE_SENTENCES = 40
_NUM_LINES, _NUM_SCRIPTS = 200, 500


def check_all(takes: Iterable[MeasuredTake], check: Check, model: Path, recognizer: str) -> tuple[Checked, float]:
    """Check all takes; return the results and the CPU seconds for each second of audio."""
    results: Checked = []
    audio = 0.0
    started = time.process_time()
    for take in takes:
        request = CheckRequest(
            samples=take.samples,
            sample_rate=take.sample_rate,
            text=take.text,
            language="en",
            evidence=take.evidence,
            prompt_clip=take.prompt,
            model_folder=model,
            recognizer=recognizer,
        )
        results.append((take, check(request)))
        audio += len(take.samples) / take.sample_rate
    return results, (time.process_time() - started) / max(audio, 1e-9)


def fault_table(results: Checked) -> dict[str, Any]:
    """Return, for each kind, the numbers of takes, of faults found, and of faults found at the right place."""
    table: dict[str, Any] = {}
    for kind in KINDS:
        takes = [(take, check) for take, check in results if take.kind == kind]
        found = [(take, check) for take, check in takes if check.verdict in (Verdict.DOUBTFUL, Verdict.BAD)]
        placed = [_is_placed(take, check) for take, check in found if take.place and take.place[1] < 1e8]
        table[kind] = {"takes": len(takes), "found": len(found), "placed": sum(placed), "with_place": len(placed)}
    good = [(take, check) for take, check in results if take.kind == "good" and take.is_really_good]
    alarms = [check for _, check in good if check.verdict is not Verdict.GOOD]
    natural = [check for take, check in results if take.kind == "good" and not take.is_really_good]
    table["good"] = {
        "takes": len(good),
        "called_good": len(good) - len(alarms),
        "alarms": Counter(problem.kind.value for check in alarms for problem in check.problems),
    }
    table["natural faults"] = {
        "takes": len(natural),
        "found": sum(check.verdict is not Verdict.GOOD for check in natural),
    }
    return table


def _is_placed(take: MeasuredTake, check: TakeCheck) -> bool:
    """Return whether the middle of a problem is within the fault, or 0.3 s from it."""
    assert take.place is not None
    start, end = take.place
    return any(
        start - _NEAR_SECONDS <= (problem.from_seconds + problem.to_seconds) / 2 <= end + _NEAR_SECONDS
        for problem in check.problems
    )


def take_word_errors(results: Checked) -> dict[str, float]:
    """Compare the word times of good takes with those of their speech tokens."""
    starts: list[float] = []
    ends: list[float] = []
    for take, check in results:
        if take.kind == "good" and take.is_really_good and len(check.words) == len(take.words):
            starts += [a.from_seconds - b.from_seconds for a, b in zip(check.words, take.words, strict=True)]
            ends += [a.to_seconds - b.to_seconds for a, b in zip(check.words, take.words, strict=True)]
    return _border_errors(starts, ends)


def flite_word_errors(
    maker: TakeMaker, texts: Sequence[str], clip: PromptClip, check: Check, recognizer: str
) -> dict[str, float]:
    """Compare the word times of flite's own speech, read by the model, with flite's times."""
    starts: list[float] = []
    ends: list[float] = []
    respellings = maker.synthesizer.stages.text_tokenizer.respellings
    assert respellings is not None
    tokenizer = maker.synthesizer.stages.frontend().speech_tokenizer
    for number, text in enumerate(texts[:_FLITE_SENTENCES]):
        voice = ("rms", "slt", "awb", "kal16")[number % 4]
        spoken = flite.say(text, voice=voice, f0_mean_hz=flite.VOICES[voice].f0_mean_hz, duration_stretch=1.0)
        heard = [
            (LABELS[each.label], each.start_seconds, each.end_seconds)
            for each in spoken.segments
            if each.label != SILENCE
        ]
        true = aligned_words(heard, text, respellings)
        samples = Waveform(spoken.samples, spoken.sample_rate).resampled(24_000).samples
        tokens = list(source_tokens(Waveform(samples, 24_000), tokenizer))
        evidence = maker.evidence(maker.as_generated(text, clip, tokens), tokens)
        request = CheckRequest(samples, 24_000, text, "en", evidence, model_folder=maker.model, recognizer=recognizer)
        result = check(request)
        if len(result.words) != len(true.words):
            continue
        for found, word in zip(result.words, true.words, strict=True):
            starts.append(found.from_seconds - word.from_seconds)
            ends.append(found.to_seconds - word.to_seconds)
    return _border_errors(starts, ends)


def _border_errors(starts: Sequence[float], ends: Sequence[float]) -> dict[str, float]:
    both = _errors([*starts, *ends])
    if starts:
        both |= {f"p95_of_{name}_ms": _errors(each)["p95_ms"] for name, each in (("starts", starts), ("ends", ends))}
    return both


def _errors(errors: Sequence[float]) -> dict[str, float]:
    if not errors:
        return {"borders": 0}
    sizes = np.abs(np.array(errors))
    return {
        "borders": len(errors),
        "median_ms": round(1000 * float(np.median(sizes)), 1),
        "p95_ms": round(1000 * float(np.quantile(sizes, 0.95)), 1),
    }


def synthesis_cost(maker: TakeMaker, texts: Sequence[str], clip: PromptClip) -> float:
    """Return the CPU seconds of synthesis for each second of audio."""
    _speak(maker, texts[0], clip, 0)
    started, audio = time.process_time(), 0.0
    for seed, text in enumerate(texts):
        audio += _speak(maker, text, clip, seed).audio_seconds
    return (time.process_time() - started) / audio


def first_audio(maker: TakeMaker, texts: Sequence[str], clip: PromptClip) -> dict[str, float]:
    """Compare the time to first audio with and without evidence, alternately with the same seeds."""
    times: dict[bool, list[float]] = {True: [], False: []}
    _speak(maker, texts[0], clip, 0)
    for seed, text in enumerate(texts):
        for is_checked in (True, False) if seed % 2 else (False, True):
            with nullcontext() if is_checked else _without_alignment():
                times[is_checked].append(_speak(maker, text, clip, seed).first_audio_seconds)
    ratios = np.array(times[True]) / np.array(times[False])
    return {
        "with_checks_ms": round(1000 * float(np.median(times[True]))),
        "without_ms": round(1000 * float(np.median(times[False]))),
        "median_ratio": round(float(np.median(ratios)), 3),
        "pairs": len(ratios),
    }


def lines_after_retries(results: Checked) -> dict[str, float]:
    """Return how many lines of a script are wrong after retries, if one in ten is faulty, and the mean of many scripts."""
    scripts = [_script_after_retries(results, np.random.default_rng(seed)) for seed in range(_NUM_SCRIPTS)]
    means = np.mean(scripts, axis=0)
    names = ("wrong_before", "retried", "wrong_after")
    return {
        "lines": _NUM_LINES,
        **dict(zip(names, scripts[0], strict=True)),
        **{f"mean_{name}": round(float(mean), 2) for name, mean in zip(names, means, strict=True)},
        "scripts": _NUM_SCRIPTS,
        "scripts_with_one_wrong_line_or_none": sum(wrong <= 1 for _, _, wrong in scripts),
    }


def _script_after_retries(results: Checked, random: np.random.Generator) -> tuple[int, int, int]:
    """Return the numbers of lines that are wrong at first, spoken again, and wrong in the end.

    A line with a verdict other than good gets another take, which is good or has a natural fault as often as the takes of
    the measurement. The take that the program would choose is kept.
    """
    natural = [(take.is_really_good, check) for take, check in results if take.kind == "good"]
    spoilt = [(False, check) for take, check in results if take.kind in KINDS]
    wrong_before = retried = wrong_after = 0
    for line in range(_NUM_LINES):
        first = spoilt if line % 10 == 0 else natural
        takes = [first[int(random.integers(len(first)))]]
        wrong_before += not takes[0][0]
        while takes[-1][1].verdict is not Verdict.GOOD and len(takes) <= DEFAULT_RETRIES:
            takes.append(natural[int(random.integers(len(natural)))])
        retried += len(takes) > 1
        wrong_after += not takes[find_best([check for _, check in takes])][0]
    return wrong_before, retried, wrong_after


def _without_alignment() -> ExitStack:
    stack = ExitStack()
    for name in ("new_trace", "attention"):
        stack.enter_context(mock.patch.object(AlignmentReader, name, return_value=None))
    return stack


def _speak(maker: TakeMaker, text: str, clip: PromptClip, seed: int) -> SynthesisReport:
    request = SynthesisRequest(text, VoiceReference(clip.path, transcript=clip.transcript), seed=seed)
    chunks = maker.synthesizer.stream(request, control=RequestControl())
    while True:
        try:
            next(chunks)
        except StopIteration as end:
            report: SynthesisReport = end.value
            return report
