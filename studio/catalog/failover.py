"""Installation from the first of several sources that works.

Decision: a source that fails is left at its first failure, and the wait comes after all sources have failed. Reason: a
blocked server does not answer after seven attempts either, and other servers offer the same files. Alternative: all
attempts at one source, which takes minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import httpx2

from studio.catalog.installation import Installation
from studio.catalog.known import KnownModel, SourceKind
from studio.catalog.network import RetryPolicy
from studio.catalog.progress import CancelToken, OnProgress, Phase, Progress, SourceSkipped, ignore_progress
from studio.catalog.source_order import SourceOrder
from studio.catalog.sources import ModelSource, source_title
from studio.errors import SourceRefused, SourceUnreachable, StudioError, WrongDownload

# Signed addresses expire and connections close, so a file is requested twice before its source is left.
_ATTEMPTS_PER_SOURCE = 2
_PROGRESS_BYTES = 1 << 20


class FailoverInstallation:
    """Installation of ``model`` from ``order``. ``stop.skip_source`` moves on to the next source at once.

    Raise ``SourceRefused`` if none of the sources that are tried automatically offers the model.
    """

    def __init__(
        self,
        model: KnownModel,
        order: SourceOrder,
        *,
        variants: frozenset[str] = frozenset(),
        stop: CancelToken | None = None,
        on_progress: OnProgress = ignore_progress,
        first_wait_seconds: float = 1.0,
    ) -> None:
        self.stop = stop or CancelToken()
        self._model = model
        self._automatic = _having(model, order.automatic)
        if not self._automatic:
            raise SourceRefused(
                "{model} is not available from {sources}.",
                remedy="Choose another source (Settings, Models).",
                model=model.name,
                sources=[source_title(source) for source in order.automatic],
            )
        self._sources = self._automatic + _having(model, order.others)
        self._variants = variants
        self._on_progress = on_progress
        self._first_wait_seconds = first_wait_seconds
        self._retry = RetryPolicy(first_wait_seconds)
        self._errors: dict[tuple[SourceKind, str], StudioError] = {}  # errors by source since the last progress
        self._last_error: StudioError | None = None
        self._least_bytes: int | None = None  # missing bytes at the start of the current attempt
        self._source = self._sources[0]

    def run(self) -> Path:
        """Return the folder of the model. Downloaded data is kept after a failure.

        Raise the errors of ``Installation.run``.
        """
        # A source that the user asked for joins the automatic ones.
        tried = list(self._automatic)
        while True:
            try:
                return self._install(alone=len(tried) == 1)
            except SourceSkipped:
                self.stop.forget_skip()
                self._source = _after(self._source, self._sources)
                if self._source not in tried:
                    tried.append(self._source)
                self._errors.clear()
                continue
            except (SourceUnreachable, SourceRefused, WrongDownload) as error:
                self._last_error = self._errors[_key(self._source)] = error
                if len(tried) == 1:
                    raise
            if all(_key(source) in self._errors for source in tried):
                self._wait_or_give_up(tried)
            self._source = _after(self._source, tried)

    def _install(self, *, alone: bool) -> Path:
        self._least_bytes = None
        attempts = {} if alone else {"num_attempts": _ATTEMPTS_PER_SOURCE, "num_list_attempts": 1}
        return Installation(
            self._model,
            self._source,
            variants=self._variants,
            stop=self.stop,
            on_progress=self._report,
            first_wait_seconds=self._first_wait_seconds,
            **attempts,
        ).run()

    def _wait_or_give_up(self, tried: Sequence[ModelSource]) -> None:
        """Wait before the next round of all sources. Raise the error after the last one."""
        errors = [self._errors[_key(source)] for source in tried]
        is_worth_waiting = any(isinstance(error, SourceUnreachable) for error in errors)
        seconds = self._retry.next_delay_seconds() if is_worth_waiting else None
        if seconds is None:
            raise _total_failure(tried, errors)
        error = _total_failure(tried, errors)
        try:
            self.stop.countdown(
                seconds, lambda left: self._on_progress(Progress(Phase.WAITING, error=error, wait_seconds=left))
            )
        except SourceSkipped:  # the next source is tried next in any case
            self.stop.forget_skip()
        self._errors.clear()

    def _report(self, progress: Progress) -> None:
        if progress.phase is Phase.RECEIVING:
            if self._least_bytes is None:
                self._least_bytes = progress.done_bytes
            if progress.done_bytes - self._least_bytes > _PROGRESS_BYTES:
                self._retry.reset()
                self._errors.clear()
                self._last_error = None
        error = progress.error or (self._last_error if progress.phase is Phase.LISTING else None)
        self._on_progress(replace(progress, source=source_title(self._source), error=error))


def _having(model: KnownModel, sources: Sequence[ModelSource]) -> tuple[ModelSource, ...]:
    return tuple(source for source in sources if source.kind in model.repositories)


def _key(source: ModelSource) -> tuple[SourceKind, str]:
    return source.kind, source.endpoint


def _after(source: ModelSource, sources: Sequence[ModelSource]) -> ModelSource:
    position = sources.index(source) if source in sources else -1
    return sources[(position + 1) % len(sources)]


def _total_failure(tried: Sequence[ModelSource], errors: Sequence[StudioError]) -> StudioError:
    if not all(isinstance(error, SourceUnreachable) for error in errors):
        return errors[0]
    return SourceUnreachable(
        "None of the sources of models can be reached: {hosts}.",
        remedy="Check the internet connection. Downloaded data is kept. Or import the model from a folder.",
        hosts=[httpx2.URL(source.endpoint).host for source in tried],
    )
