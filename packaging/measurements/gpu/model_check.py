"""The check of one model in a separate process, with requests and results as lines of JSON.

``gpu_check.py`` starts it, so that a crash of a library costs only one step.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

# Remove this file's folder: its modules may shadow packages.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import torch

from measurements.gpu.candidates import Entry, Exam, described, fastest, forget
from measurements.gpu.json_process import ProcessLost
from measurements.gpu.official import OfficialProcess, Whereabouts
from measurements.gpu.our_side import OurSide, make_material
from measurements.gpu.quick import SMALL as SMALL_PARTS
from measurements.gpu.quick import QuickCheck, Sizes
from measurements.gpu.ratios import ROWS, compare, small
from measurements.gpu.whole_requests import SMALL, PeakMemory, Scope, Spoken, check_requests, taken_bytes
from measurements.random_models.checkpoint import write_random_checkpoint
from measurements.random_models.reference_sizes import released_plan
from studio.engines.candidate import MODULES, EngineBackend, EngineTarget, all_candidates, find_references
from studio.engines.machine import device_named, free_bytes
from studio.engines.memory_plan import CONTEXT_BYTES, GPU_STAGES, plan_memory
from studio.engines.reference_io import read_reference, record_reference
from studio.engines.stage import Device, Stage
from studio.engines.task import TrialSize
from studio.model.checkpoint import open_checkpoint
from studio.model.config import Precision, SpeechLMConfig
from studio.model.device_kind import DeviceKind
from studio.model.torch_device import configure_torch, set_device

_EXTENT = TrialSize(num_tokens=250, num_seeds=0, num_rounds=3, timing_seconds=10.0)
_SMALL_EXTENT = TrialSize(num_tokens=26, num_seeds=0, num_rounds=1, timing_seconds=5.0)
# E9: thirty seconds, twenty times.
_LONG_LINES = (750, 20)
_SMALL_LONG_LINES = (60, 2)
# R13: a line of 20 s with a voice of 10 s.
_MEMORY_LINE = {"prompt": 250, "count": 500}
_SMALL_MEMORY_LINE = {"prompt": 30, "count": 32}
_SECONDS_A_ROW = 25.0
# The precisions of the official implementation, and the comparable ones of our language models.
_OFFICIAL_PRECISIONS = {
    "float32": (Precision.FLOAT32,),
    "float16": (Precision.FLOAT16, Precision.BFLOAT16),
}


@dataclass
class ModelCheck:
    """Measures of one model. Each method yields its result, and some also intermediate results."""

    folder: Path
    scratch: Path
    place: Device
    extent: TrialSize
    modules: tuple[str, ...]
    is_small: bool
    rounds: int
    official: Whereabouts | None
    known: Sequence[Entry] = ()
    _stages: tuple[Mapping[Stage, str], OurSide] | None = field(default=None, repr=False)
    _official: tuple[str, OfficialProcess] | None = field(default=None, repr=False)
    _official_failures: dict[str, ProcessLost] = field(default_factory=dict, repr=False)

    def model(self, generation: str, *, for_official: bool) -> Iterator[Entry]:
        """Write full-size random weights unless they exist."""
        write_random_checkpoint(self.folder, generation, for_official=for_official)
        yield {"bytes": sum(path.stat().st_size for path in self.folder.glob("*.pt"))}

    def quick(self, part: str) -> Iterator[Entry]:
        """Run a part of the quick check, which needs no model folder."""
        yield from self._quick.part(part)

    def forms(self) -> Iterator[Entry]:
        yield {
            "forms": [
                {
                    "stage": candidate.stage.value,
                    "name": candidate.name,
                    "precision": candidate.precision.value,
                    "is_built": bool(candidate.phases),
                }
                for candidate in self._candidates
            ]
        }

    def recording(self) -> Iterator[Entry]:
        """Record the float32 reference."""
        made = record_reference(self._subject, find_references(self._candidates), self.extent)
        made.write(self._recording_path)
        yield {"num_tokens": len(made.speech_tokens)}

    def candidate(self, stage: str, name: str) -> Iterator[Entry]:
        self._let_go()
        yield self._exam.entry(self._exam.candidate(Stage(stage), name))

    def long_lines(self, name: str) -> Iterator[Entry]:
        """Measure long lines (E9)."""
        self._let_go()
        num_tokens, num_seeds = _SMALL_LONG_LINES if self.is_small else _LONG_LINES
        judged = next((entry for entry in self.known if (entry["stage"], entry["name"]) == ("flow", name)), {})
        facts: Entry = {"name": name, "precision": judged.get("precision")}
        if "verification" not in judged:
            yield facts | {"not_tried": str(judged.get("unusable") or judged.get("error") or "it was not verified")}
            return
        facts["relative_mel_error"] = judged["verification"]["relative_error"]
        facts["refused"] = judged["verification"]["complaint"]
        for found in self._exam.long_lines(name, num_tokens, num_seeds):
            yield facts | found

    def peak_memory(self) -> Iterator[Entry]:
        """R13: peak memory from loading to the end of a line, with the fastest verified engines."""
        self._let_go()
        line = _SMALL_MEMORY_LINE if self.is_small else _MEMORY_LINE
        with PeakMemory(lambda: taken_bytes(self.place)) as peak:
            side = self._side()
            side.measured("stream", line)
        # What the doctor computes for this GPU, to compare with the measured peak.
        checkpoint = self._subject.checkpoint
        file_bytes = {stage: self._subject.weight_bytes(stage) for stage in GPU_STAGES}
        available = self.place.total_bytes - CONTEXT_BYTES - self.place.kind.traits.reserved_bytes
        plans = plan_memory(checkpoint.flow, checkpoint.generation.frame_rate, file_bytes, available)
        planned = [asdict(plan) | {"precision": plan.precision.value} for plan in plans]
        yield {"peak_bytes": peak.num_bytes, "planned": planned, "engines": self._names_in_words(), **line}

    def requests(self) -> Iterator[Entry]:
        side = self._side()
        spoken = Spoken(self.folder, self.place, side.stages, self._names())
        engines: Entry = {"engines": self._names_in_words()}
        for found in check_requests(spoken, self.scratch, SMALL if self.is_small else Scope()):
            yield engines | found

    def against_official(self, row: str, precision: str) -> Iterator[Entry]:
        """Compare one row; R3 uses our fastest language model in a precision comparable with the official one."""
        wanted = next(known for known in ROWS if known.name == row)
        side = self._side()
        if wanted.measure == "llm_decode":
            side = self._with_lm_like(side, precision)
        official = self._official_in(precision)
        wanted = small(wanted) if self.is_small else wanted
        try:
            found = compare(wanted, official, side, rounds=self.rounds, most_seconds=_SECONDS_A_ROW)
        except ProcessLost:
            self._end_official()
            raise
        yield found | {"precision": precision, "engines": self._names_in_words()}

    @cached_property
    def _subject(self) -> EngineTarget:
        return EngineTarget(open_checkpoint(self.folder), self.place)

    @cached_property
    def _quick(self) -> QuickCheck:
        sizes = open_checkpoint(self.folder) if self.folder.is_dir() else released_plan(self.folder.name)
        assert isinstance(sizes.speech_lm, SpeechLMConfig)
        device = torch.device(self.place.torch_name)
        return QuickCheck(sizes.speech_lm, sizes.flow, sizes.vocoder, device, SMALL_PARTS if self.is_small else Sizes())

    @cached_property
    def _candidates(self) -> tuple[EngineBackend, ...]:
        return all_candidates(self.modules)

    @property
    def _recording_path(self) -> Path:
        return self.scratch / f"recording-{self.folder.name}.safetensors"

    @cached_property
    def _exam(self) -> Exam:
        recording = read_reference(self._recording_path)
        if recording is None:
            raise FileNotFoundError("the float32 reference recording is missing")
        built = self.scratch / f"built-{self.folder.name}"
        return Exam(self._subject, self._candidates, recording, self.extent, built)

    def _names(self) -> dict[Stage, str]:
        """The fastest verified candidates, or plain float32."""
        references = find_references(self._candidates)
        return {stage: reference.name for stage, reference in references.items()} | fastest(self.known)

    def _names_in_words(self) -> dict[str, str]:
        return {stage.value: name for stage, name in self._names().items()}

    def _side(self) -> OurSide:
        names = self._names()
        if self._stages is None or self._stages[0] != names:
            self._let_go()
            stages = self._exam.opened_by_name(names)
            checkpoint = self._subject.checkpoint
            side = OurSide(stages, checkpoint, self.place, make_material(checkpoint))
            side.warm()
            self._stages = names, side
        return self._stages[1]

    def _with_lm_like(self, side: OurSide, precision: str) -> OurSide:
        name = fastest(self.known, precisions=_OFFICIAL_PRECISIONS[precision]).get(Stage.SPEECH_LM)
        if name is None or name == self._names()[Stage.SPEECH_LM]:
            return side
        return replace(side, stages={**side.stages, **self._exam.opened_by_name({Stage.SPEECH_LM: name})})

    def _official_in(self, precision: str) -> OfficialProcess:
        if self._official is not None and self._official[0] == precision:
            return self._official[1]
        self._end_official()
        assert self.official is not None, "a comparison needs an official implementation"
        if precision in self._official_failures:
            raise self._official_failures[precision]  # starting it again would fail slowly for each measure
        try:
            process = self._started_official(self.official, precision)
            self._official = precision, process
            process.measured("warm", {})
        except ProcessLost as loss:
            self._official_failures[precision] = loss
            raise
        return process

    def _started_official(self, where: Whereabouts, precision: str) -> OfficialProcess:
        checkpoint = self._subject.checkpoint
        return OfficialProcess(
            where,
            self.folder,
            checkpoint.generation.name,
            make_material(checkpoint),
            is_half=precision != "float32",
            log=self.scratch / f"official-{self.folder.name}-{precision}.log",
        )

    def _end_official(self) -> None:
        if self._official is not None:
            self._official[1].close()
            self._official = None

    def _let_go(self) -> None:
        """Close the opened stages, so that a candidate has all memory."""
        self._stages = None
        self._end_official()
        forget()


def machine(place: Device) -> Entry:
    return {
        "place": asdict(place) | {"kind": place.kind.value},
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "system": platform.platform(),
        "free_bytes": free_bytes(place),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("settings", type=json.loads)
    asked = parser.parse_args().settings
    # Answers use a duplicate of standard output; prints of libraries go to standard error.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(entry: Entry) -> None:
        print(json.dumps(_finite(entry)), file=answers, flush=True)

    place = device_named(asked["device"], num_threads=asked["threads"])
    configure_torch(place.num_threads)
    if place.kind is DeviceKind.CUDA:
        set_device(torch.device(place.torch_name))
    check = _check(asked, place)
    tell(machine(place))
    for line in sys.stdin:
        tell(_answered(check, json.loads(line), tell))
    check._let_go()


def _check(asked: Entry, place: Device) -> ModelCheck:
    extent = _SMALL_EXTENT if asked["small"] else _EXTENT
    official = None
    if asked["official"] is not None:
        paths = {name: Path(path) for name, path in asked["official"].items() if path is not None and name != "python"}
        num_threads = None if place.kind is DeviceKind.CUDA else place.num_threads
        official = Whereabouts(**paths, python=asked["official"]["python"], num_threads=num_threads)
    return ModelCheck(
        folder=Path(asked["folder"]),
        scratch=Path(asked["scratch"]),
        place=place,
        extent=replace(extent, num_tokens=asked["tokens"]) if asked["tokens"] else extent,
        modules=tuple(asked["modules"] or MODULES),
        is_small=asked["small"],
        rounds=asked["rounds"],
        official=official,
    )


def _answered(check: ModelCheck, order: Entry, tell: Callable[[Entry], None]) -> Entry:
    check.known = order["known"]
    found: Entry = {}
    try:
        for so_far in getattr(check, order["measure"])(**order["arguments"]):
            found = so_far
            tell({"so_far": found})
    except Exception as error:  # noqa: BLE001 - reported; the next step runs
        traceback.print_exc()
        found = found | {"error": described(error)}
    return found


def _finite(value: Any) -> Any:
    """Replace infinities and NaN by None, for JSON."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


if __name__ == "__main__":
    main()
