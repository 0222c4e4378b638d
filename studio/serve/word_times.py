"""Times of the words in served speech, from the process that checks takes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from studio.audio.resampling import Samples
from studio.pipeline.request import AudioChunk, SentenceEvidence, SynthesisReport
from studio.serve.schemas import SpokenWord
from studio.take_checks.process import TakeCheckProcess
from studio.take_checks.requests import CheckRequest
from studio.take_checks.service import TakeCheckService

_log = logging.getLogger(__name__)

# A short text loads the recogniser, while the first speech is synthesised.
_FIRST = CheckRequest(np.zeros(1_600, np.float32), 16_000, "a", evidence=(SentenceEvidence("a", 0.0, 0.1),))


def open_aligning_checks() -> TakeCheckService:
    """Return checks for which clients wait, beside those of takes."""
    return TakeCheckService(partial(TakeCheckProcess, is_awaited=True))


class WordAligner:
    """Aligns texts with their speech by the model in ``folder``. Its process is opened on first use."""

    def __init__(self, open_checks: Callable[[], TakeCheckService], folder: Path) -> None:
        self._open_checks = open_checks
        self._folder = folder
        self._checks: TakeCheckService | None = None

    def close(self) -> None:
        """End the check process, if it runs."""
        if self._checks is not None:
            self._checks.close()

    def open(self) -> TakeCheckService:
        """Start the process, if it was not started before."""
        if self._checks is None:
            self._checks = self._open_checks()
            self._checks.submit(replace(_FIRST, model_folder=self._folder))
        return self._checks

    async def words(self, request: CheckRequest) -> list[SpokenWord] | None:
        """Return the times of the words of ``request``, or None if they cannot be determined."""
        checks = self.open()
        check = await asyncio.wrap_future(checks.submit(replace(request, model_folder=self._folder)))
        if not check.words:
            _log.info("no word times: %s", check.error_code or "the speech is not aligned with its text")
            return None
        return [
            SpokenWord(word=each.text, start=round(each.from_seconds, 3), end=round(each.to_seconds, 3))
            for each in check.words
        ]


class RequestedWords:
    """Word times for one request. ``add`` collects its audio."""

    def __init__(self, aligner: WordAligner, *, speed: float, language: str = "") -> None:
        aligner.open()
        self._aligner = aligner
        self._language = language
        self._speed = speed
        self._samples: list[Samples] = []

    def add(self, chunk: AudioChunk) -> None:
        self._samples.append(chunk.samples)

    async def words(self, text: str, report: SynthesisReport) -> list[SpokenWord] | None:
        """Return the words of ``text``, which the collected audio contains. See ``WordAligner.words``."""
        return await self._aligner.words(
            CheckRequest(
                samples=np.concatenate([np.zeros(0, np.float32), *self._samples]),
                sample_rate=report.sample_rate,
                text=text,
                language=self._language,
                evidence=report.evidence,
                speed=self._speed,
            )
        )
