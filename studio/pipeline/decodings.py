"""The flow's solvers of a loaded model: the exact one, and those of the qualities “fast” and “draft”.

Each quality is a limit for the distance to the exact solver. The smallest number of steps within the limit is chosen by
a comparison, once per weights, engine and processor, on clips of bundled voices. A line that is played does not wait for
it: it is decoded exactly, and the comparison follows when the model is idle.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
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
from studio.pipeline.request import Cancelled, FlowQuality, RequestControl
from studio.pipeline.utterance import DecoderStages

_log = logging.getLogger(__name__)
# Returns the speech to measure for the exact flow.
Speech = Callable[[FlowDecoder], Sequence[MeasuredSpeech]]
# Increase when the comparison changes.
_VERSION = "5"


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
        records: Records,
    ) -> None:
        self.exact = exact
        self._new_cost_model = new_cost_model
        self._frame_rate = frame_rate
        self._records = records
        self._chosen: dict[Quality, Decoding] = {}
        self._postponed: set[Quality] = set()
        self._measuring = threading.Lock()

    @property
    def has_postponed(self) -> bool:
        """Whether ``choose`` has postponed the measurement of a quality."""
        return bool(self._postponed)

    def choose(
        self, quality: Quality, speech: Speech, control: RequestControl, *, may_measure: bool = True
    ) -> Decoding:
        """Return the cheapest decoding within the limit of ``quality``, or the exact one if no other is within it.

        The comparison takes a few seconds to a minute, once, on the ``speech`` for the exact flow; its progress is the
        stage "quality". If it is missing and ``may_measure`` is False, it is postponed, and the exact decoding is returned.
        Raise ``Cancelled``.
        """
        if quality not in self._chosen:
            found = self._search(quality, self._records_by_steps())
            if isinstance(found, int) and not may_measure:
                self._postponed.add(quality)
                return self.exact
            self._chosen[quality] = self._measured(quality, speech, control) if isinstance(found, int) else found
        return self._chosen[quality]

    def measure_postponed(self, speech: Speech, control: RequestControl) -> None:
        """Make the measurements that ``choose`` has postponed. Raise ``Cancelled``."""
        while self._postponed:
            quality = self._postponed.pop()
            try:
                self._chosen[quality] = self._measured(quality, speech, control)
            except Cancelled:
                self._postponed.add(quality)
                raise

    def _measured(self, quality: Quality, speech: Speech, control: RequestControl) -> Decoding:
        """Return the decoding for ``quality`` after the comparisons that it requires."""
        with self._measuring:
            records = self._records_by_steps()
            exact_flow = self.exact.stages.flow
            measured: Sequence[MeasuredSpeech] = ()
            exact: TimedMel | None = None
            while isinstance(found := self._search(quality, records), int):
                flow = exact_flow.with_steps(found)
                assert flow is not None
                if exact is None:
                    measured = speech(exact_flow)
                    control.report_progress("quality", 0.0)
                    timed_flow(flow, measured[:1], control)  # the first run in a process is slower
                    exact = timed_flow(exact_flow, measured, control)
                result = compare_timed(exact, timed_flow(flow, measured, control), self._frame_rate)
                records[found] = self._records.add(self._facts(found), *result)
                control.report_progress("quality", len(records) / (len(records) + 1))
                _log.info("flow in %s steps: %s", found, _quality(quality, records[found]))
            return found

    def _records_by_steps(self) -> dict[int, Record]:
        found = {num_steps: self._records.read(self._facts(num_steps)) for num_steps in REDUCED_STEPS}
        return {num_steps: record for num_steps, record in found.items() if record is not None}

    def _search(self, quality: Quality, records: Mapping[int, Record]) -> Decoding | int:
        """Return the decoding with the fewest steps within the limit, or the number of steps to measure next.

        Because the distance falls with the number of steps, half of the candidates are excluded each time.
        """
        limit = QUALITY_DISTANCE_DB[quality]
        exact_flow = self.exact.stages.flow
        candidates = [steps for steps in REDUCED_STEPS if exact_flow.with_steps(steps) is not None]
        chosen: FlowQuality | None = None
        chosen_steps = 0
        while candidates:
            middle = len(candidates) // 2
            num_steps = candidates[middle]
            if num_steps not in records:
                return num_steps
            found = _quality(quality, records[num_steps])
            if found.distortion_db <= limit:
                chosen, chosen_steps = found, num_steps
                candidates = candidates[:middle]
            else:
                candidates = candidates[middle + 1 :]
        flow = exact_flow.with_steps(chosen_steps) if chosen is not None else None
        if chosen is None or flow is None:
            return self.exact
        stages = replace(self.exact.stages, flow=flow, cost_model=self._new_cost_model())
        return Decoding(stages, self.exact.prompt_cache.for_solver(flow), chosen)

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
