"""The flow's solvers of a loaded model: the exact one, and those of the qualities “fast” and “draft”.

Each quality is a limit for the distance to the exact solver. The smallest number of steps within the limit is chosen by
a comparison, once per weights, engine and processor, on the voice of the first request that asks for the quality.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from studio.model.config import REDUCED_STEPS
from studio.model.limits import QUALITY_DISTANCE_DB
from studio.model.measurements import Record, Records
from studio.model.options import Quality
from studio.model.stages import FlowDecoder
from studio.pipeline.comparison import MeasuredSpeech, TimedMel, compare_timed, timed_flow
from studio.pipeline.pacing import CostModel
from studio.pipeline.prompt_cache import PromptCache
from studio.pipeline.request import FlowQuality, RequestControl
from studio.pipeline.utterance import DecoderStages

_log = logging.getLogger(__name__)
# Increase when the comparison changes.
_VERSION = "4"


@dataclass(frozen=True, slots=True)
class Decoding:
    """Stages, their costs, and prompt states in one quality."""

    stages: DecoderStages
    prompt_cache: PromptCache
    quality: FlowQuality = FlowQuality()


class Decodings:
    """The decodings of a model: ``exact`` with the released solver, and one for each other quality. Thread-safe."""

    def __init__(
        self,
        exact: Decoding,
        new_cost_model: Callable[[], CostModel],
        frame_rate: float,
        records: Records | None = None,
    ) -> None:
        self.exact = exact
        self._new_cost_model = new_cost_model
        self._frame_rate = frame_rate
        self._records = records or Records()
        self._chosen: dict[Quality, Decoding] = {}
        self._lock = threading.Lock()

    def choose(
        self, quality: Quality, speech: Callable[[FlowDecoder], Sequence[MeasuredSpeech]], control: RequestControl
    ) -> Decoding:
        """Return the cheapest decoding within the limit of ``quality``, or the exact one if no other is within it.

        The comparison takes a few seconds, once, on the ``speech`` for the exact flow; its progress is the stage
        "quality". Raise ``Cancelled``.
        """
        with self._lock:
            if quality not in self._chosen:
                self._chosen[quality] = self._choose(quality, speech, control)
            return self._chosen[quality]

    def _choose(
        self, quality: Quality, speech: Callable[[FlowDecoder], Sequence[MeasuredSpeech]], control: RequestControl
    ) -> Decoding:
        exact_flow = self.exact.stages.flow
        measured: Sequence[MeasuredSpeech] | None = None
        exact: TimedMel | None = None
        for num_steps in REDUCED_STEPS:
            flow = exact_flow.with_steps(num_steps)
            if flow is None:
                break
            record = self._records.read(self._facts(num_steps))
            if record is None:
                if measured is None or exact is None:
                    measured = speech(exact_flow)
                    control.report_progress("quality", 0.0)
                    timed_flow(flow, measured, control)  # the first run in a process is slower
                    exact = timed_flow(exact_flow, measured, control)
                result = compare_timed(exact, timed_flow(flow, measured, control), self._frame_rate)
                record = self._records.add(self._facts(num_steps), *result)
            found = _quality(quality, record)
            _log.info("flow in %s steps: %s", num_steps, found)
            if found.distortion_db <= QUALITY_DISTANCE_DB[quality]:
                stages = replace(self.exact.stages, flow=flow, cost_model=self._new_cost_model())
                return Decoding(stages, self.exact.prompt_cache.for_solver(flow), found)
        return self.exact

    def _facts(self, num_steps: int) -> dict[str, str]:
        return {
            "stage": "flow",
            "name": f"{num_steps}-steps",
            "version": _VERSION,
            "flow": self.exact.stages.flow.prompt_key(),
            "torch": torch.__version__,
            "instructions": torch.backends.cpu.get_cpu_capability(),
        }


def _quality(quality: Quality, record: Record) -> FlowQuality:
    distance_db, timing = record.verification.mel_distance_db, record.timing
    assert distance_db is not None, record.key
    assert timing is not None, record.key
    return FlowQuality(quality, distance_db, 1.0 / timing.speedup)
