"""A loaded model that becomes faster while it is used: where pipeline and engines meet.

It speaks with plain torch, or with what was proven before, from the first request on. Beside it a thread looks for
faster engines while nobody speaks (``EngineOptions.engines``), and opens what was found; the next request begins
with it. Memory goes back after a while without requests, and the model with it, to come again with the next one.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from studio.engines.candidate import EngineTarget
from studio.engines.machine import device_named, empty_cache
from studio.engines.manager import EngineManager, OpenedStage
from studio.engines.overview import EngineAction, EngineStatus
from studio.engines.registry import MODULES
from studio.engines.stage import Stage
from studio.engines.store import EngineStore
from studio.model.checkpoint import open_checkpoint
from studio.pipeline.control import RequestControl
from studio.pipeline.loading import StageOverrides, load_synthesizer
from studio.pipeline.precision_selection import AUTO
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    EngineOptions,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.pipeline.synthesizer import Synthesizer
from studio.worker.shared_resource import SharedResource

_log = logging.getLogger(__name__)
Chunks = Generator[AudioChunk, None, SynthesisReport]
Tell = Callable[[EngineStatus], None]

# The names that stages have in descriptions and reports; those of the front end are in none.
_KEYS = {Stage.SPEECH_LM: "speech_lm", Stage.FLOW: "flow", Stage.VOCODER: "vocoder"}
# So long nothing is asked for before trials begin: a person who works comes first.
_QUIET_SECONDS = 20.0
_LEAST_SECONDS_BETWEEN_NEWS = 0.2
_JOIN_SECONDS = 3.0


class ModelHost:
    """See ``worker.server.Model``; made by ``open_accelerated``. ``make_manager`` is called when engines are wanted."""

    def __init__(
        self,
        folder: Path,
        options: EngineOptions,
        make_manager: Callable[[Callable[[EngineStatus], None]], EngineManager],
        *,
        quiet_seconds: float = _QUIET_SECONDS,
    ) -> None:
        self._folder = folder
        self._options = options
        self._quiet_seconds = quiet_seconds
        self._manager = make_manager(self._on_overview)
        self._tell: Tell | None = None
        self._told_at = 0.0
        self._requests = SharedResource(first_in=self._before_requests, last_out=self._after_requests)
        self._last_used = time.monotonic()
        self._ready_stages: dict[Stage, OpenedStage] = {}
        self._pending_lock = threading.Lock()
        self._deferred_stages: set[Stage] = set()
        self._is_closed = threading.Event()
        self._wake = threading.Event()
        self._wanted_lock = threading.Lock()
        self._is_wanted = options.engines == "improve"
        self._again: set[str] = set()
        self._synthesizer: Synthesizer | None = self._open()
        self._description = self._synthesizer.description
        self._helper = threading.Thread(target=self._help, name="engines", daemon=True)
        self._helper.start()

    @property
    def description(self) -> EngineDescription:
        synthesizer = self._synthesizer
        return self._description if synthesizer is None else synthesizer.description

    # Requests, on the working thread.

    def prepare_voice(self, voice: VoiceReference, *, progress: Callable[[str, float], None]) -> VoiceSummary:
        with self._speaking() as synthesizer:
            return synthesizer.prepare_voice(voice, progress=progress)

    def stream(self, request: SynthesisRequest, *, control: RequestControl, in_batch: bool = False) -> Chunks:
        with self._speaking() as synthesizer:
            return (yield from synthesizer.stream(request, control=control, in_batch=in_batch))

    def stream_pieces(self, request: SynthesisRequest, pieces: Iterator[str], *, control: RequestControl) -> Chunks:
        with self._speaking() as synthesizer:
            return (yield from synthesizer.stream_pieces(request, pieces, control=control))

    def convert(self, request: ConversionRequest, *, control: RequestControl) -> Chunks:
        with self._speaking() as synthesizer:
            return (yield from synthesizer.convert(request, control=control))

    def finish_writes(self, control: RequestControl) -> None:
        if self._synthesizer is not None:
            with self._speaking() as synthesizer:
                synthesizer.finish_writes(control)

    def close(self) -> None:
        self._is_closed.set()
        self._wake.set()
        self._manager.close()
        with self._requests.exclusive():
            self._release()
        self._helper.join(_JOIN_SECONDS)

    @contextlib.contextmanager
    def _speaking(self) -> Iterator[Synthesizer]:
        """The model for a request, faster than for the last one if something was found; trials stand still meanwhile.

        Requests at the same time all have the model that the first of them found.
        """
        with self._requests.acquire():
            assert self._synthesizer is not None
            yield self._synthesizer

    def _before_requests(self) -> None:
        self._manager.step_aside()
        before = None if self._synthesizer is None else self._description
        if self._synthesizer is None:
            self._synthesizer = self._open()
        self._swap_stages(self._synthesizer)
        self._description = self._synthesizer.description
        if self._description != before:
            self._on_overview(self._manager.overview())

    def _after_requests(self) -> None:
        self._last_used = time.monotonic()
        self._manager.step_back()

    # Engines.

    def watch_engines(self, tell: Tell) -> None:
        """``tell`` hears every new picture, from whichever thread; the present one at once."""
        self._tell = tell
        tell(self.engines())

    def engines(self) -> EngineStatus:
        """What the manager knows, and what is loaded."""
        return self._with_use(self._manager.overview())

    def manage_engines(self, action: EngineAction, keys: Collection[str]) -> int:
        """Returns at once; the bytes that were freed. ``keys`` of candidates, or nothing for all of this model."""
        freed = 0
        match action:
            case EngineAction.IMPROVE:
                self._want(keys)
            case EngineAction.PAUSE:
                self._manager.pause()
            case EngineAction.RESUME:
                self._manager.resume()
            case EngineAction.CANCEL:
                self._is_wanted = False
                self._manager.cancel()
            case EngineAction.CLEAR:
                self._is_wanted = False
                self._manager.cancel()
                freed = self._manager.forget(keys or None)
            case EngineAction.REBUILD:
                freed = self._manager.forget(keys or None)
                self._want(())
        return freed

    def _want(self, keys: Collection[str]) -> None:
        with self._wanted_lock:
            self._again |= set(keys)
            self._is_wanted = True
        self._last_used = min(self._last_used, time.monotonic() - self._quiet_seconds)  # who asks does not want to wait
        self._wake.set()

    def _on_overview(self, overview: EngineStatus) -> None:
        now = time.monotonic()
        if self._tell is None or (overview.work is not None and now - self._told_at < _LEAST_SECONDS_BETWEEN_NEWS):
            return
        self._told_at = now
        self._tell(self._with_use(overview))

    def _with_use(self, overview: EngineStatus) -> EngineStatus:
        in_use = self._description.engines if self._synthesizer is not None else {}
        stages = tuple(replace(view, in_use=in_use.get(_KEYS.get(view.stage, ""), "")) for view in overview.stages)
        return replace(overview, stages=stages, max_concurrent_lines=self._description.max_concurrent_lines)

    # On the helping thread.

    def _help(self) -> None:
        while not self._is_closed.is_set():
            self._wake.wait(self._seconds_until_due())
            self._wake.clear()
            if self._is_closed.is_set():
                return
            try:
                self._open_late()
                if self._is_wanted and self._is_quiet():
                    self._improve()
                self._release_when_idle()
            except Exception:  # noqa: BLE001 - the border of a thread: the model speaks on without it
                _log.exception("looking for faster engines failed")
                self._is_wanted = False

    def _seconds_until_due(self) -> float:
        now = time.monotonic()
        waits = [60.0]
        if self._is_wanted:
            waits.append(self._last_used + self._quiet_seconds - now)
        if self._options.idle_release_seconds is not None and self._synthesizer is not None:
            waits.append(self._last_used + self._options.idle_release_seconds - now)
        return max(0.05, min(waits))

    def _is_quiet(self) -> bool:
        return self._requests.is_empty and time.monotonic() - self._last_used >= self._quiet_seconds

    def _improve(self) -> None:
        with self._wanted_lock:
            again, self._again = self._again, set()
            self._is_wanted = False
        self._manager.improve(again=again)
        for stage in self._replaceable():
            if self._is_closed.is_set() or self._synthesizer is None:
                return
            choice = next(view.choice for view in self._manager.overview().stages if view.stage is stage)
            if choice.name == self._description.engines.get(_KEYS[stage]):
                continue
            opened = self._manager.open_choice(stage)
            if opened is not None:
                with self._pending_lock:
                    self._ready_stages[stage] = opened

    def _open_late(self) -> None:
        """What would have kept a person waiting; plain torch has spoken meanwhile."""
        with self._pending_lock:
            late, self._deferred_stages = self._deferred_stages, set()
        for stage in late:
            opened = self._manager.open_choice(stage)
            if self._is_closed.is_set() or self._synthesizer is None:
                return
            if opened is not None:
                with self._pending_lock:
                    self._ready_stages[stage] = opened

    def _release_when_idle(self) -> None:
        seconds = self._options.idle_release_seconds
        if seconds is None or self._synthesizer is None or not self._requests.is_empty:
            return
        with self._requests.exclusive():
            if time.monotonic() - self._last_used < seconds:
                return
            _log.info("nothing was asked for during %.0f s: the model's memory goes back", seconds)
            self._release()
        self._on_overview(self._manager.overview())

    # The model itself.

    def _open(self) -> Synthesizer:
        opened: dict[Stage, OpenedStage] = {}
        # Without a look at the candidates where nothing can have been proven: their libraries take time to load.
        for stage in self._replaceable() if self._manager.store.has_manifests() else ():
            if self._manager.opens_slowly(stage):
                with self._pending_lock:
                    self._deferred_stages.add(stage)
                self._wake.set()
            elif (found := self._manager.open_choice(stage)) is not None:
                opened[stage] = found
        engines: dict[str, Any] = {_KEYS[stage]: found.engine for stage, found in opened.items()}
        handed = StageOverrides(
            **engines,
            open_speech_tokenizer=lambda: self._front(Stage.SPEECH_TOKENIZER),
            open_speaker_encoder=lambda: self._front(Stage.SPEAKER_ENCODER),
            words={_KEYS[stage]: _in_words(found) for stage, found in opened.items()},
            names={_KEYS[stage]: found.view.name for stage, found in opened.items()},
        )
        return load_synthesizer(self._folder, self._options, handed)

    def _front(self, stage: Stage) -> Any:
        """A stage of the front end, opened when the first new voice needs it; None for the plain one."""
        is_wanted = self._options.engines != "plain" and self._manager.store.has_manifests()
        found = self._manager.open_choice(stage) if is_wanted else None
        return None if found is None else found.engine

    def _swap_stages(self, synthesizer: Synthesizer) -> None:
        with self._pending_lock:
            pending, self._ready_stages = self._ready_stages, {}
        if not pending:
            return
        engines: dict[str, Any] = {_KEYS[stage]: found.engine for stage, found in pending.items()}
        synthesizer.use(
            **engines,
            words={_KEYS[stage]: _in_words(found) for stage, found in pending.items()},
            names={_KEYS[stage]: found.view.name for stage, found in pending.items()},
        )
        _log.info("from now on: %s", synthesizer.description.stages)
        gc.collect()  # the old ones
        empty_cache(self._options.device)

    def _replaceable(self) -> tuple[Stage, ...]:
        """The stages for which the person has not asked for something of their own."""
        options, stages = self._options, []
        if options.engines == "plain":
            return ()
        if options.speech_lm_precision == AUTO and options.loads_speech_lm:
            stages.append(Stage.SPEECH_LM)
        is_flow_as_released = options.flow_steps is None and options.flow_left_context_frames is None
        if options.flow_precision == "float32" and is_flow_as_released:
            stages.append(Stage.FLOW)
        return (*stages, Stage.VOCODER)

    def _release(self) -> None:
        synthesizer, self._synthesizer = self._synthesizer, None
        with self._pending_lock:
            self._ready_stages.clear()
        if synthesizer is not None:
            synthesizer.close()
        del synthesizer
        gc.collect()
        empty_cache(self._options.device)


def open_accelerated(folder: Path, options: EngineOptions, modules: tuple[str, ...] = MODULES) -> ModelHost:
    """Everything needed to speak, as fast as was proven so far. Raises what ``load_synthesizer`` raises."""
    place = device_named(options.device, num_threads=options.num_threads)
    subject = EngineTarget(open_checkpoint(folder), place, options.variant)
    return ModelHost(
        folder,
        replace(options, device=place.device),
        lambda hear: EngineManager(subject, EngineStore(), modules=modules, on_change=hear),
    )


def _in_words(opened: OpenedStage) -> str:
    return f"{opened.view.engine} {opened.view.precision}"
