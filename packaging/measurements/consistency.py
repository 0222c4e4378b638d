"""Measure the consistency of voices: drift planted in takes of the bundled voices, found and spoken again.

    python3 packaging/measure.py consistency --work FOLDER [--voices Ada,Miles] [--lines 300] [--json FILE]

The lines are sentences of the English passages of the tests, in turn by each voice, as studio-mini speaks them. In a
tenth, another seed's take at 1.15 times the pace and 2 semitones higher replaces the take: the model cannot do this by
itself, so the sound is resampled and stretched. FOLDER keeps the takes, so that an interrupted measurement resumes. The
intervals are Wilson's, 95 %.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import soundfile

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "project" / "attribution"))

from annotated_passages import FILES, read_passages, share  # type: ignore[import-not-found]  # beside the tests

from studio import paths
from studio.audio.resampling import Samples, resample
from studio.audio.time_stretch import stretched
from studio.pipeline.request import EngineOptions, RequestControl, SentenceEvidence, SynthesisRequest, VoiceReference
from studio.pipeline.synthesizer import Synthesizer
from studio.project.changes import EditDetails
from studio.project.check_records import evidence_from, evidence_json
from studio.project.consistency import analyse, best_targets, targets_of_take
from studio.project.importing.blocks import Block, lines_of_blocks
from studio.project.lines import Line
from studio.project.script import Script
from studio.project.splitting import SplitMode
from studio.project.takes import Take, TakeParameters
from studio.take_checks.engine import open_engine
from studio.take_checks.policy import find_best
from studio.take_checks.records import TakeCheck, TakeMeasures, VoiceTarget
from studio.take_checks.requests import CheckRequest

_MODEL = paths.resources() / "models" / "studio-mini"
_RATE = 24_000
_EVERY = 10  # line whose take drifts
_PACE, _SEMITONES = 1.15, 2.0
# Numbers of the seeds of the first takes, of those that drift, and of those that replace them.
_FIRST, _OTHER_MOOD, _AGAIN = (0, 3, 4), (9, 10, 11), (1, 2)
_CHARACTERS = (20, 140)  # of a line
_END_SECONDS = 0.15  # silence after the last word
_STORED_TAKES = 3000

Spoken = tuple[Samples, tuple[SentenceEvidence, ...]]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for the takes")
    parser.add_argument("--voices", default="Ada,Miles", help="bundled voices (default Ada,Miles)")
    parser.add_argument("--lines", type=int, default=300, help="number of lines (default 300)")
    parser.add_argument("--json", type=Path, help="file for the results in JSON")
    parsed = parser.parse_args(arguments)
    parsed.work.mkdir(parents=True, exist_ok=True)
    book = _Book(parsed.work, parsed.voices.split(","), parsed.lines)
    result = _measure(book)
    print(json.dumps(result, indent=1))
    if parsed.json:
        parsed.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 0


class _Book:
    """The lines of the measurement, and their takes by number of the attempt."""

    def __init__(self, folder: Path, voices: Sequence[str], num_lines: int) -> None:
        self._folder = folder
        self._voices = voices
        self._texts = _texts()
        self._synthesizer: Synthesizer | None = None
        self._engine = open_engine()
        self._kept: dict[tuple[str, tuple[int, ...]], int] = {}
        self.lines = [
            Line(str(number), self._text(number // len(voices)), voices[number % len(voices)], chosen_take=str(number))
            for number in range(num_lines)
        ]

    def number_in_voice(self, line: Line) -> int:
        return int(line.id) // len(self._voices)

    def spoken(self, line: Line, attempt: int) -> Spoken:
        """Return a take of a line, which is synthesised at the first call."""
        path = self._folder / f"{line.voice}-{self.number_in_voice(line)}-{attempt}.wav"
        if not path.with_suffix(".json").exists():
            samples, evidence = self._synthesize(line, attempt)
            soundfile.write(path, samples, _RATE, subtype="FLOAT")
            path.with_suffix(".json").write_text(evidence_json(evidence), "utf-8")
        samples, _ = soundfile.read(path, dtype="float32")
        return samples, evidence_from(path.with_suffix(".json").read_text("utf-8"))

    def kept(self, line: Line, attempts: tuple[int, ...]) -> Spoken:
        """Return the take that the program keeps of ``attempts``: the first without problems, or the best."""
        if (line.id, attempts) not in self._kept:
            checks: list[TakeCheck] = []
            for attempt in attempts:
                checks.append(self.check(line, self.spoken(line, attempt)))
                if not checks[-1].needs_review:
                    break
            self._kept[line.id, attempts] = attempts[find_best(checks)]
        return self.spoken(line, self._kept[line.id, attempts])

    def check(self, line: Line, spoken: Spoken, targets: tuple[VoiceTarget, ...] = ()) -> TakeCheck:
        samples, evidence = spoken
        clip = paths.resources() / "voices" / f"{line.voice}.wav"
        return self._engine.check(
            CheckRequest(samples, _RATE, line.text, "en", evidence, clip, _MODEL, targets=targets)
        )

    def _text(self, number: int) -> str:
        return self._texts[number * 37 % len(self._texts)]

    def _synthesize(self, line: Line, attempt: int) -> Spoken:
        if self._synthesizer is None:
            from studio.pipeline.loading import load_synthesizer  # noqa: PLC0415 - not if all takes are stored

            self._synthesizer = load_synthesizer(_MODEL, EngineOptions(engines="plain", num_threads=1))
        clip = paths.resources() / "voices" / f"{line.voice}.wav"
        voice = VoiceReference(clip, clip.with_suffix(".txt").read_text("utf-8").strip())
        seed = self.number_in_voice(line) + 1000 * attempt
        chunks = self._synthesizer.stream(
            SynthesisRequest(line.text, voice, seed=seed, is_played=False), control=RequestControl()
        )
        samples = []
        while True:
            try:
                samples.append(next(chunks).samples)
            except StopIteration as end:
                print(line.id, attempt, file=sys.stderr, flush=True)
                return np.concatenate(samples), end.value.evidence


def _texts() -> list[str]:
    """Return sentences of the passages, the same for each measurement."""
    passages = [passage for name in FILES["English"] for passage in read_passages(name)]
    blocks = [Block(text) for passage in passages for text in passage.paragraphs]
    shortest, longest = _CHARACTERS
    lines = lines_of_blocks(blocks, SplitMode.SENTENCE)
    return [line.text for line in lines if shortest <= len(line.text) <= longest]


def _measure(book: _Book) -> dict[str, object]:
    plain = {line.id: book.check(line, book.kept(line, _FIRST)) for line in book.lines}
    drifting = [line for line in book.lines if book.number_in_voice(line) % _EVERY == _EVERY // 2]
    plants: Mapping[str, Callable[[Line], Spoken]] = {
        "pace, pitch and mood": lambda line: _changed(book.kept(line, _OTHER_MOOD), _PACE, _SEMITONES),
        "pace": lambda line: _changed(book.kept(line, _FIRST), _PACE, 0.0),
        "pitch": lambda line: _changed(book.kept(line, _FIRST), 1.0, _SEMITONES),
        "mood": lambda line: book.kept(line, _OTHER_MOOD),
    }
    planted = {
        name: plain | {line.id: book.check(line, plant(line)) for line in drifting} for name, plant in plants.items()
    }
    found = {name: _found(book, checks, drifting) for name, checks in planted.items()}
    print(json.dumps(found, indent=1), file=sys.stderr, flush=True)
    return {
        "measured": time.strftime("%Y-%m-%d"),
        "lines": len(book.lines),
        "found": found,
        "repaired": _repaired(book, plain, planted["pace, pitch and mood"], drifting),
        "stored": _stored(book, plain),
    }


def _found(book: _Book, checks: Mapping[str, TakeCheck], drifting: Sequence[Line]) -> dict[str, str]:
    flagged = {each.line.id for each in analyse(_script(book, checks)).drifting}
    expected = {line.id for line in drifting}
    return {
        "found": share(len(flagged & expected), len(expected)),
        "others": share(len(flagged - expected), len(book.lines) - len(expected)),
    }


def _repaired(
    book: _Book, plain: Mapping[str, TakeCheck], before: Mapping[str, TakeCheck], drifting: Sequence[Line]
) -> dict[str, object]:
    """Speak the lines that are found again, as the program does, and compare the paces."""
    script = _script(book, before)
    script, _ = EditDetails(replace(script.details, targets=best_targets(script))).apply(script)
    after = dict(before)
    num_takes = 0
    for each in analyse(script).drifting:
        targets = targets_of_take(script, each.take)
        if each.line in drifting:
            first = _changed(book.kept(each.line, _OTHER_MOOD), _PACE, _SEMITONES)
        else:
            first = book.kept(each.line, _FIRST)
        checks = [book.check(each.line, first, targets)]
        for attempt in _AGAIN:
            if checks[-1].needs_review:
                checks.append(book.check(each.line, book.spoken(each.line, attempt), targets))
        num_takes += len(checks) - 1
        after[each.line.id] = checks[find_best(checks)]
    shifts = [_paces(book, checks, plain) for checks in (before, after)]
    paces = [_paces(book, checks) for checks in (plain, before, after)]
    return {
        "new takes": num_takes,
        "outside afterwards": len(analyse(_script(book, after, script)).drifting),
        "deviation from the pace without drift, before": round(float(np.std(shifts[0])), 4),
        "after": round(float(np.std(shifts[1])), 4),
        "smaller by": round(1.0 - float(np.std(shifts[1]) / np.std(shifts[0])), 3),
        "deviation of the pace without drift": round(float(np.std(paces[0])), 4),
        "with drift": round(float(np.std(paces[1])), 4),
        "repaired": round(float(np.std(paces[2])), 4),
    }


def _paces(book: _Book, checks: Mapping[str, TakeCheck], others: Mapping[str, TakeCheck] | None = None) -> np.ndarray:
    """Return the logarithm of the pace of each line, relative to ``others`` or to the median of its voice."""
    logs = {line.id: _log_pace(checks[line.id].measures) for line in book.lines}
    if others is not None:
        values = [logs[line.id] - _log_pace(others[line.id].measures) for line in book.lines]
    else:
        voices = {line.voice for line in book.lines}
        medians = {
            voice: np.nanmedian([logs[line.id] for line in book.lines if line.voice == voice]) for voice in voices
        }
        values = [logs[line.id] - medians[line.voice] for line in book.lines]
    return np.array([value for value in values if math.isfinite(value)])


def _log_pace(measures: TakeMeasures | None) -> float:
    rate = None if measures is None else measures.syllables_per_second
    return math.nan if rate is None else math.log(rate)


def _stored(book: _Book, checks: Mapping[str, TakeCheck]) -> dict[str, float]:
    """Return the seconds to compare many takes whose measures are stored."""
    script = _script(book, checks)
    lines, takes = [], {}
    for number in range(_STORED_TAKES):
        line = replace(script.lines[number % len(script.lines)], id=f"stored-{number}")
        (take,) = script.takes_of(script.lines[number % len(script.lines)].id)
        lines.append(line)
        takes[line.id] = (replace(take, line_id=line.id),)
    start = time.process_time()
    analyse(Script(lines=tuple(lines), takes=takes))
    return {"takes": _STORED_TAKES, "seconds": round(time.process_time() - start, 2)}


def _script(book: _Book, checks: Mapping[str, TakeCheck], like: Script | None = None) -> Script:
    takes = {line.id: (_take(line, checks[line.id]),) for line in book.lines}
    script = Script(lines=tuple(book.lines), takes=takes)
    return script if like is None else replace(script, details=like.details)


def _take(line: Line, check: TakeCheck) -> Take:
    parameters = TakeParameters(line.text, 0, "", "zero-shot", line.voice or "", "", "studio-mini", "")
    seconds = max((word.to_seconds for word in check.words), default=0.0) + _END_SECONDS
    return Take(line.id, line.id, 1, datetime.now(UTC), seconds, _RATE, parameters, check=check)


def _changed(spoken: Spoken, pace: float, semitones: float) -> Spoken:
    """Return a take at ``pace`` times the pace and ``semitones`` higher."""
    samples, evidence = spoken
    factor = 2.0 ** (semitones / 12.0)
    higher = resample(samples, round(_RATE * factor), _RATE)
    return np.concatenate(list(stretched([higher], pace / factor, _RATE))), tuple(
        replace(
            each,
            from_seconds=each.from_seconds / pace,
            to_seconds=each.to_seconds / pace,
            token_seconds=each.token_seconds / pace,
        )
        for each in evidence
    )
