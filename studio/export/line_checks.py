"""Checks of the lines that an export speaks, kept beside their cached audio."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from studio import paths
from studio.audio.waveform import Waveform
from studio.catalog.language_check import unlearned_language
from studio.pipeline.request import SynthesisReport, SynthesisRequest, VoiceReference
from studio.project.check_records import check_from, check_json
from studio.project.check_request import check_request
from studio.project.fields import Fields
from studio.project.lines import MAX_SEED
from studio.project.project import Project
from studio.project.takes import Take
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import parse_json, read_json
from studio.take_checks.policy import MAX_RETRIES, CheckPolicy, find_best, retry_seed
from studio.take_checks.records import TakeCheck, TakeMeasures, VoiceTarget
from studio.take_checks.requests import CheckRequest
from studio.take_checks.service import TakeCheckService

_MAX_EARLIER_TAKES = 400  # of all voices


@dataclass(frozen=True, slots=True)
class LineCheck:
    """The check of the best take of a line.

    Attributes:
        seed: The seed of this take.
        num_retries: How often the line was spoken again.
    """

    check: TakeCheck
    seed: int
    num_retries: int = 0


@dataclass(frozen=True, slots=True)
class UtteredLine:
    """Audio of a request, with its report."""

    request: SynthesisRequest
    waveform: Waveform
    report: SynthesisReport


class LineRetries:
    """Checks lines that are spoken outside the window, and requests retries as ``policy`` requires."""

    def __init__(
        self,
        service: TakeCheckService,
        policy: CheckPolicy,
        model_folder: Path,
        known_words: Callable[[str], tuple[str, ...]] = lambda _: (),
    ) -> None:
        """``known_words`` returns the words of the dictionary in a text."""
        self._service = service
        self._policy = policy
        self._model_folder = model_folder
        self._known_words = known_words
        self._earlier: deque[tuple[VoiceReference, TakeMeasures]] = deque(maxlen=_MAX_EARLIER_TAKES)

    @property
    def policy(self) -> CheckPolicy:
        return self._policy

    async def check(self, spoken: UtteredLine, targets: tuple[VoiceTarget, ...] = ()) -> TakeCheck:
        request = CheckRequest(
            samples=spoken.waveform.samples,
            sample_rate=spoken.waveform.sample_rate,
            text=spoken.request.text,
            language=spoken.request.language,
            evidence=spoken.report.evidence,
            prompt_clip=spoken.request.voice.clip,
            model_folder=self._model_folder,
            recognizer=self._policy.recognizer,
            known_words=self._known_words(spoken.request.text),
            strictness=self._policy.strictness,
            earlier_takes=tuple(each for voice, each in self._earlier if voice == spoken.request.voice),
            speed=spoken.request.speed,
            targets=targets,
        )
        check = await asyncio.wrap_future(self._service.submit(request))
        if check.measures is not None and not check.needs_review:
            self._earlier.append((spoken.request.voice, check.measures))
        return check

    def has_learned(self, spoken: UtteredLine) -> bool:
        """Whether the model has learned the language of the line."""
        return not unlearned_language(self._model_folder.name, spoken.request.text)

    async def check_take(self, project: Project, take: Take, prompt_clip: Path | None) -> TakeCheck:
        """Check a take of a project, whose voice has ``prompt_clip``."""
        request = await asyncio.to_thread(
            check_request, project, take, self._policy, prompt_clip=prompt_clip, model_folder=self._model_folder
        )
        return await asyncio.wrap_future(self._service.submit(request))

    async def speak(
        self, seed: int, speak: Callable[[int], Awaitable[UtteredLine]], targets: tuple[VoiceTarget, ...] = ()
    ) -> tuple[UtteredLine, LineCheck]:
        """Speak with ``seed``, and again with seeds derived from it, until a take is good enough. Return the best one.

        ``targets`` are the ranges to which the measures of the takes should belong. A text in a language that the model has
        not learned is spoken once.
        """
        takes: list[UtteredLine] = []
        checks: list[TakeCheck] = []
        while not checks or (self._policy.wants_retry(checks[-1], len(checks) - 1) and self.has_learned(takes[0])):
            takes.append(await speak(retry_seed(seed, len(takes))))
            checks.append(await self.check(takes[-1], targets))
        best = find_best(checks)
        return takes[best], LineCheck(checks[best], retry_seed(seed, best), len(checks) - 1)


class StoredChecks:
    """The checks of cached lines, one file for each line in the folder of their audio."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or paths.cache_folder() / "exported-speech"

    def put(self, key: str, line: LineCheck) -> None:
        values = {
            "seed": line.seed,
            "num_retries": line.num_retries,
            "check": parse_json(check_json(line.check) or "null"),
        }
        with contextlib.suppress(OSError):  # the check is a measurement, which the next export can repeat
            self._folder.mkdir(parents=True, exist_ok=True)
            atomic_write(self._path(key), json.dumps(values, ensure_ascii=False).encode("utf-8"))

    def get(self, key: str) -> LineCheck | None:
        try:
            values = read_json(self._path(key))
        except (OSError, ValueError):
            return None
        replaced: list[str] = []
        fields = Fields({"line": values}, "check", replaced).object("line")
        check = None if fields is None else check_from(fields.object("check"))
        if fields is None or check is None or replaced:
            return None
        return LineCheck(check, fields.whole("seed", 0, MAX_SEED, 0), fields.whole("num_retries", 0, MAX_RETRIES, 0))

    def _path(self, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(key.encode('utf-8')).hexdigest()}.check.json"


def policy_key(policy: CheckPolicy, targets: tuple[VoiceTarget, ...] = ()) -> str:
    """Return what distinguishes the cached audio of lines that are checked with ``targets`` from others."""
    key = f":checked:{policy.mode.value}:{policy.num_retries}:{policy.strictness.value}:{policy.recognizer}"
    if not targets:
        return key
    values = sorted((measure.value, span.centre, span.tolerance) for measure, span in targets[0].items())
    return f"{key}:{hashlib.sha256(repr(values).encode()).hexdigest()}"
