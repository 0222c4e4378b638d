"""Runs the steps of the check by importance within the available time, each in a process that may crash.

Results are saved after each step, and a later run resumes. Does not import torch.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from measurements.gpu.json_process import Entry, ProcessLost
from measurements.gpu.ratios import ROWS

# After an invalid memory access the GPU rejects all later work of the process.
_POISON = ("CUDA error", "CUDNN_STATUS", "CUBLAS_STATUS", "device-side assert")
_STARTING_SECONDS = 180.0
_EARLY_FORMS = ("bfloat16", "int8", "float16", "float32")
# Parts of the quick check, most important first, with the seconds below which a part is not started.
QUICK_PARTS = {
    "machine": 5.0,
    "captured_graphs": 15.0,
    "int8": 20.0,
    "speech_lm": 45.0,
    "flow": 45.0,
    "vocoder": 20.0,
    "profile": 20.0,
}
_STAGES = ("speech-lm", "flow", "vocoder", "speech-tokenizer", "speaker-encoder")


@dataclass(frozen=True)
class Step:
    """``section`` of the result: a list if its name ends in "[]". Skipped if less than ``least_seconds`` are left."""

    section: str
    name: str
    measure: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    least_seconds: float = 10.0
    most_seconds: float = 400.0


@dataclass(frozen=True)
class Form:
    """A candidate as listed by the check."""

    stage: str
    name: str
    precision: str
    is_built: bool

    @property
    def is_early(self) -> bool:
        """Whether it is probably the fastest engine, or a reference. All others are tested later."""
        return not self.is_built and (self.name.startswith("cuda-graph") or self.precision == "float32")

    @property
    def order(self) -> tuple[int, bool, int]:
        form = _EARLY_FORMS.index(self.precision) if self.precision in _EARLY_FORMS else len(_EARLY_FORMS)
        return _STAGES.index(self.stage), not self.name.startswith("cuda-graph"), form

    def step(self) -> Step:
        longest = 1800.0 if self.is_built else 200.0
        return Step(
            "candidates[]",
            f"{self.stage} {self.name}",
            "candidate",
            {"stage": self.stage, "name": self.name},
            least_seconds=60.0 if self.is_built else 15.0,
            most_seconds=longest,
        )


def preparing(generation: str | None, *, for_official: bool) -> Iterator[Step]:
    """``generation`` of the random model to write, if any."""
    if generation is not None:
        order = {"generation": generation, "for_official": for_official}
        # The official program needs a text model as well, so a check that is continued with it writes the model again.
        name = "model with its text model" if for_official else "model"
        yield Step("model", name, "model", order, least_seconds=30.0)
    yield Step("forms", "forms", "forms")
    yield Step("recording", "recording", "recording")


def quick() -> Iterator[Step]:
    for name, seconds in QUICK_PARTS.items():
        yield Step("quick[]", name, "quick", {"part": name}, least_seconds=seconds)


def early(forms: Sequence[Form], precisions: Sequence[str]) -> Iterator[Step]:
    """The most important steps. ``precisions`` of the official side; empty without it."""
    wanted = sorted((form for form in forms if form.is_early), key=lambda form: form.order)
    yield from (form.step() for form in wanted)
    yield from whole_requests("")
    for form in wanted:
        if form.stage == "flow" and form.precision != "float32":
            yield _long_lines(form)
    yield from _ratios("", precisions)


def late(forms: Sequence[Form]) -> Iterator[Step]:
    wanted = sorted((form for form in forms if not form.is_early), key=lambda form: (form.is_built, form.order))
    yield from (form.step() for form in wanted)
    for form in sorted(wanted, key=lambda form: not form.is_built):
        if form.stage == "flow":
            yield _long_lines(form)


def again(precisions: Sequence[str]) -> Iterator[Step]:
    """Repeat requests and comparisons with an engine found late to be faster."""
    yield from whole_requests(" again")
    yield from _ratios(" again", precisions)


def whole_requests(suffix: str) -> Iterator[Step]:
    yield Step(f"R13{suffix}", f"R13{suffix}", "peak_memory", least_seconds=20.0)
    yield Step(f"requests{suffix}", f"requests{suffix}", "requests", least_seconds=30.0)


def _ratios(suffix: str, precisions: Sequence[str]) -> Iterator[Step]:
    for precision in precisions:
        for row in ROWS:
            order = {"row": row.name, "precision": precision}
            name = f"{row.name} against official {precision}{suffix}"
            yield Step(f"against_official{suffix}[]", name, "against_official", order, least_seconds=20.0)


def _long_lines(form: Form) -> Step:
    return Step("E9[]", f"E9 {form.name}", "long_lines", {"name": form.name}, least_seconds=15.0)


class Notes:
    """Results by model and step, saved atomically.

    ``facts`` describe the conditions of the measurements. Results with other facts are discarded.
    """

    def __init__(self, path: Path, facts: Entry) -> None:
        self._path = path
        self._facts = facts
        self.machine: Entry = {}
        self._found: dict[str, dict[str, Entry]] = {}
        try:
            kept = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            return
        if kept["facts"] == json.loads(json.dumps(facts)):
            self.machine, self._found = kept["machine"], kept["found"]

    def of(self, model: str) -> dict[str, Entry]:
        """The results of ``model`` by the names of steps, in their order."""
        return self._found.setdefault(model, {})

    def candidates(self, model: str) -> list[Entry]:
        """The results of all candidates that were tried."""
        return [entry for entry in self.of(model).values() if entry["section"] == "candidates[]" and "name" in entry]

    def is_known(self, model: str, step: Step) -> bool:
        """Whether the step has succeeded; failed and skipped steps are repeated by a later run."""
        entry = self.of(model).get(step.name)
        return entry is not None and not {"error", "left_out", "unfinished"} & set(entry)

    def put(self, model: str, step: Step, entry: Entry) -> None:
        self.of(model)[step.name] = entry | {"section": step.section}
        self.write()

    def write(self) -> None:
        write_json(self._path, {"facts": self._facts, "machine": self.machine, "found": self._found})

    def result(self) -> Entry:
        """Return the results as text, by sections."""
        models: Entry = {}
        for model, steps in self._found.items():
            sections: Entry = models.setdefault(model, {})
            for name, entry in steps.items():
                section = entry["section"]
                result = {"step": name} | {key: value for key, value in entry.items() if key != "section"}
                if section.endswith("[]"):
                    sections.setdefault(section[:-2], []).append(result)
                elif section != "forms":
                    sections[section] = result
            _add_speedups(sections.get("candidates", []))
        return self._facts | {"machine": self.machine, "models": models}


def _add_speedups(candidates: Iterable[Entry]) -> None:
    """Return the speed relative to plain float32."""
    references: dict[str, float] = {}
    timed = [entry for entry in candidates if "timing" in entry]
    for entry in timed:
        if entry["is_reference"]:
            references[entry["stage"]] = entry["timing"]["seconds_per_audio_second"]
    for entry in timed:
        if entry["stage"] in references:
            seconds = entry["timing"]["seconds_per_audio_second"]
            entry["timing"] = entry["timing"] | {"times_float32": references[entry["stage"]] / seconds}


class Asked(Protocol):
    @property
    def greeting(self) -> Entry: ...

    def ask(self, order: Entry, *, most_seconds: float) -> Iterator[Entry]: ...

    def close(self) -> None: ...


class CheckRun:
    """Runs the steps of a model. ``start`` starts the process for a model, with a time limit in seconds.

    ``most_seconds``: time limit of the whole run, from now on.
    """

    def __init__(
        self,
        notes: Notes,
        start: Callable[[str, float], Asked],
        *,
        most_seconds: float,
        on_change: Callable[[], None] = lambda: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.notes = notes
        self._start = start
        self._on_change = on_change
        self._now = now
        self._end = now() + most_seconds
        self._process: Asked | None = None
        self._model = ""

    def take(self, model: str, steps: Iterable[Step]) -> None:
        for step in steps:
            if not self.notes.is_known(model, step):
                self._take(model, step)
                self._on_change()

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def _take(self, model: str, step: Step) -> None:
        left = self._end - self._now()
        if left < step.least_seconds:
            self.notes.put(model, step, {"left_out": f"{max(0.0, left):.0f} s were left"})
            return
        began = self._now()
        self._say(f"{model}: {step.name} …")
        entry: Entry = {}
        try:
            process = self._process_of(model, left)
            order = {"measure": step.measure, "arguments": dict(step.arguments), "known": self.notes.candidates(model)}
            most_seconds = min(step.most_seconds, self._end - self._now())
            for entry in process.ask(order, most_seconds=most_seconds):
                self.notes.put(model, step, entry | {"unfinished": True})
        except ProcessLost as loss:
            self._process = None
            entry = entry | {"error": {"kind": "ProcessLost", "message": str(loss)}}
        entry = entry | {"step_seconds": round(self._now() - began, 2)}
        self.notes.put(model, step, entry)
        if "error" in entry:
            self._say(f"  {entry['error']['message'][-200:]}")
            if any(word in json.dumps(entry["error"]) for word in _POISON):
                self.close()

    def _process_of(self, model: str, left: float) -> Asked:
        if self._process is None or self._model != model:
            self.close()
            self._process = self._start(model, min(left, _STARTING_SECONDS))
            self._model = model
            self.notes.machine = self._process.greeting
        return self._process

    @staticmethod
    def _say(words: str) -> None:
        print(words, file=sys.stderr, flush=True)


def write_json(path: Path, value: Entry) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(value, indent=1), "utf-8")
    part.replace(path)
