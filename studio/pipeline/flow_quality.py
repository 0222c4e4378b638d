"""Selection of the flow's solver for the qualities “fast” and “draft”.

Each quality is a limit for the distance to the exact solver. The smallest number of steps within the limit is chosen by
measurement, once per weights, engine and processor, on the voice of the first request that asks for the quality. The
results are stored in the cache folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from studio import paths
from studio.errors import CannotWrite, DiskFull
from studio.model.config import REDUCED_STEPS
from studio.model.mel_distance import mel_distance_db
from studio.model.options import Quality
from studio.model.stages import FloatArray, FlowDecoder, FlowPrompt
from studio.pipeline.control import RequestControl
from studio.pipeline.request import FlowQuality
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import read_json

_log = logging.getLogger(__name__)
# Increase when the measurement changes.
_VERSION = 2
# Mel-cepstral distances below a decibel are hard to hear even side by side. Engines of 16 bits may differ from float32
# by 0.4 dB, and those of 8 bits by 0.8 dB.
LIMITS_DB = {Quality.FAST: 0.3, Quality.DRAFT: 0.8}
# Length of the speech that is measured, and of the prompt before it, in speech tokens (two seconds, and one).
_MEASURED_TOKENS = 50
_PROMPT_TOKENS = 25
# The time of a shorter run is measured a second time.
_SHORT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class MeasuredSpeech:
    """The speech with which a flow is measured: tokens of the voice's clip, after a part of the clip as prompt."""

    prompt: FlowPrompt
    tokens: tuple[int, ...]

    @classmethod
    def of(cls, prompt: FlowPrompt, flow: FlowDecoder, spoken: Callable[[], tuple[int, ...]]) -> MeasuredSpeech:
        """Divide the clip of ``prompt``. A voice without a clip says the tokens ``spoken``, without a prompt."""
        tokens = prompt.speech_tokens
        if not tokens:
            return cls(prompt, spoken()[:_MEASURED_TOKENS])
        middle = max(len(tokens) - _MEASURED_TOKENS, len(tokens) // 3)
        start = max(0, middle - _PROMPT_TOKENS)
        frames = slice(flow.frames_of_tokens(start), flow.frames_of_tokens(middle))
        part = FlowPrompt(tokens[start:middle], prompt.mel[frames], prompt.embedding)
        return cls(part, tokens[middle:])


@dataclass(frozen=True, slots=True)
class Measurement:
    """A flow compared with the exact one: the distance of the mel, and the share of the time."""

    distance_db: float
    relative_seconds: float


# A mel, and the seconds that it took.
TimedMel = tuple[FloatArray, float]


@dataclass(frozen=True, slots=True)
class ChosenFlow:
    flow: FlowDecoder
    quality: FlowQuality


class FlowQualities:
    """The solvers of a loaded ``exact`` flow. Thread-safe."""

    def __init__(self, exact: FlowDecoder, folder: Path | None = None) -> None:
        self._exact = exact
        self._folder = folder or paths.cache_folder() / "engines"
        self._chosen = {Quality.EXACT: ChosenFlow(exact, FlowQuality())}
        self._lock = threading.Lock()

    def choose(self, quality: Quality, speech: Callable[[], MeasuredSpeech], control: RequestControl) -> ChosenFlow:
        """Return the cheapest flow within the limit of ``quality``, or the exact flow if no other is within it.

        Measuring takes a few seconds of work, once; its progress is the stage "quality". Raise ``Cancelled``.
        """
        with self._lock:
            if quality not in self._chosen:
                self._chosen[quality] = self._choose(quality, speech, control)
            return self._chosen[quality]

    def _choose(self, quality: Quality, speech: Callable[[], MeasuredSpeech], control: RequestControl) -> ChosenFlow:
        exact: TimedMel | None = None
        for num_steps in REDUCED_STEPS:
            flow = self._exact.with_steps(num_steps)
            if flow is None:
                break
            found = self._stored(num_steps)
            if found is None:
                measured = speech()
                if exact is None:
                    control.report_progress("quality", 0.0)
                    timed_run(flow, measured, control)  # the first run in a process is slower
                    exact = timed_run(self._exact, measured, control)
                found = compare(exact, timed_run(flow, measured, control))
                self._store(num_steps, found)
            _log.info("flow in %s: %.2f dB from exact, %.2f of its time", num_steps, *asdict(found).values())
            if found.distance_db <= LIMITS_DB[quality]:
                return ChosenFlow(flow, FlowQuality(quality, found.distance_db, found.relative_seconds))
        return ChosenFlow(self._exact, FlowQuality())

    def _path(self, num_steps: int) -> Path:
        parts = (
            _VERSION, self._exact.prompt_key(), num_steps, torch.__version__, torch.backends.cpu.get_cpu_capability()
        )  # fmt: skip
        return self._folder / f"{hashlib.sha256(repr(parts).encode()).hexdigest()}.json"

    def _stored(self, num_steps: int) -> Measurement | None:
        with contextlib.suppress(OSError, ValueError, TypeError):
            return Measurement(**read_json(self._path(num_steps)))
        return None

    def _store(self, num_steps: int, found: Measurement) -> None:
        if not math.isfinite(found.distance_db):
            return
        try:
            atomic_write(self._path(num_steps), json.dumps(asdict(found)).encode())
        except (DiskFull, CannotWrite) as error:
            _log.warning("cannot store the measurement of a quality: %s", error)


def timed_run(flow: FlowDecoder, speech: MeasuredSpeech, control: RequestControl) -> TimedMel:
    """Return the mel of ``speech`` and the seconds that it takes."""
    seconds = math.inf
    while True:
        control.raise_if_cancelled()
        started = time.perf_counter()
        mel: FloatArray = flow.decode_whole(speech.prompt, speech.tokens).numpy(force=True)
        elapsed = time.perf_counter() - started
        if elapsed > _SHORT_SECONDS or seconds < math.inf:
            return mel, min(seconds, elapsed)
        seconds = elapsed


def compare(exact: TimedMel, found: TimedMel) -> Measurement:
    return Measurement(mel_distance_db(exact[0], found[0]), found[1] / exact[1])
