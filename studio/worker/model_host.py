"""A loaded model whose engines are replaced by faster ones while it is in use.

It starts with plain PyTorch, or with engines that were verified earlier. After five minutes without a request, or when
asked, a background thread benchmarks other engines (``EngineOptions.engines``) and opens the faster ones for the next
request. It waits while the machine is busy, which would distort the measurements.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from studio.engines.candidate import MODULES, EngineTarget
from studio.engines.machine import budget_bytes, device_named, empty_cache
from studio.engines.manager import EngineManager
from studio.engines.memory_plan import GPU_STAGES, plan_memory
from studio.engines.overview import EngineAction, EngineStatus, Suspension
from studio.engines.store import EngineStore
from studio.errors import OutOfMemory, StudioError
from studio.messages import message
from studio.model.checkpoint import open_checkpoint
from studio.model.device_kind import DeviceKind
from studio.model.torch_device import used_memory_bytes
from studio.pipeline.loading import compare_precisions
from studio.pipeline.request import (
    Cancelled,
    ConversionRequest,
    EngineDescription,
    EngineOptions,
    RequestControl,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.pipeline.synthesizer import Chunks, Synthesizer
from studio.system.low_priority import at_low_priority
from studio.system.processor import is_machine_busy
from studio.text.arriving import ArrivingText
from studio.worker.line_processes import LineProcess, LineProcessPool
from studio.worker.stage_loader import STAGE_KEYS, StageLoader

_log = logging.getLogger(__name__)
_BUSY_NOTE = message("Other programs keep this computer busy. Faster engines are tested once it is free.")
OnStatus = Callable[[EngineStatus], None]

# Idle time required before benchmarking starts; user requests take priority.
_QUIET_SECONDS = 300.0
# Delay of the repetition of measurements made on a busy machine, and its largest number until the next start.
_REPEAT_SECONDS = 600.0
_MAX_REPEATS = 3
# Idle time after a request before the qualities that it asked for are measured.
_MEASUREMENT_SECONDS = 10.0
# Interval between checks whether the machine is still busy.
_BUSY_SECONDS = 30.0
# The longest and the shortest sleep of the background thread.
_MAX_SLEEP_SECONDS = 60.0
_MIN_SLEEP_SECONDS = 0.05
# Pause between two tasks of the warm-up. Without it, this thread could take the lock again before a waiting request.
_PAUSE_SECONDS = 0.005
_MIN_SECONDS_BETWEEN_UPDATES = 0.2
_JOIN_SECONDS = 3.0
# Idle time after which the processes for the lines of a batch end. It is checked once in ``_MAX_SLEEP_SECONDS``.
_LINE_PROCESS_SECONDS = 60.0


def gains_by_warming_up(device: str) -> bool:
    """Return whether the first use of a computation is slow on ``device``, such as "cuda:0"."""
    return DeviceKind(device.partition(":")[0]).is_gpu


class SharedResource:
    """Calls ``on_acquire`` before its first user, and ``on_release`` after its last user or if ``on_acquire`` fails."""

    def __init__(self, *, on_acquire: Callable[[], None], on_release: Callable[[], None]) -> None:
        self._on_acquire = on_acquire
        self._on_release = on_release
        self._num_users = 0
        self._changed = threading.Condition()

    @property
    def is_empty(self) -> bool:
        """Whether the resource is neither used nor being set up."""
        if not self._changed.acquire(blocking=False):
            return False
        try:
            return not self._num_users
        finally:
            self._changed.release()

    @contextlib.contextmanager
    def acquire(self) -> Iterator[None]:
        """Use the resource, after waiting for ``exclusive`` blocks. Raise the errors of ``on_acquire``."""
        with self._changed:
            if not self._num_users:
                try:
                    self._on_acquire()
                except BaseException:
                    self._on_release()
                    raise
            self._num_users += 1
        try:
            yield
        finally:
            with self._changed:
                self._num_users -= 1
                if not self._num_users:
                    self._on_release()
                    self._changed.notify_all()

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Wait until the resource is unused, and block new users for the duration of the block."""
        with self._changed:
            self._changed.wait_for(lambda: not self._num_users)
            yield


class ModelHost:
    """The model that a ``Server`` runs, created by ``open_accelerated``."""

    def __init__(
        self,
        folder: Path,
        options: EngineOptions,
        make_manager: Callable[[OnStatus], EngineManager],
        *,
        quiet_seconds: float = _QUIET_SECONDS,
        is_busy: Callable[[], bool] = is_machine_busy,
        control: RequestControl | None = None,
    ) -> None:
        self._folder = folder
        self._options = options
        self._quiet_seconds = quiet_seconds
        self._is_busy = is_busy
        self._waits_for_machine = False
        self._manager = make_manager(self._on_overview)
        self._stages = StageLoader(folder, options, self._manager)
        self._on_status: OnStatus | None = None
        self._last_update = 0.0
        self._requests = SharedResource(on_acquire=self._before_requests, on_release=self._after_requests)
        self._last_used = time.monotonic()
        self._is_closed = threading.Event()
        self._wake = threading.Event()
        self._wake.set()  # opens the deferred engines
        self._improve_lock = threading.Lock()
        self._should_improve = options.engines == "improve"
        self._is_requested = False  # requested by the user, so without waiting for idle time
        self._is_released_for_trials = False
        self._retried_keys: set[str] = set()
        self._num_repeats: Counter[str] = Counter()  # of unreliable measurements, by key
        self._repeats_from = 0.0  # not before this time, unless the user asks
        self._measurement: RequestControl | None = None  # of qualities, in the background
        self._synthesizer: Synthesizer | None = self._stages.load_synthesizer(control)
        self._description = self._synthesizer.description
        idle_cores = self._description.idle_cores if options.runs_lines_in_processes else 0
        self._pool = LineProcessPool(idle_cores, self._open_line_process) if idle_cores else None
        if self._pool is not None and options.keeps_line_processes:
            self._pool.start_missing()
        self._thread = threading.Thread(target=self._run, name="engines", daemon=True)
        self._thread.start()

    @property
    def description(self) -> EngineDescription:
        synthesizer = self._synthesizer
        return self._with_pool(self._description if synthesizer is None else synthesizer.description)

    def _with_pool(self, description: EngineDescription) -> EngineDescription:
        if self._pool is None:
            return description
        return replace(description, max_concurrent_lines=max(description.max_concurrent_lines, self._pool.num_lines))

    def _open_line_process(self) -> LineProcess:
        engines = "proven" if self._options.engines == "improve" else self._options.engines
        options = replace(self._options, runs_lines_in_processes=False, engines=engines)
        return LineProcess(self._folder, options)

    # Requests, on the threads of the server.

    def prepare_voice(self, voice: VoiceReference, *, control: RequestControl) -> VoiceSummary:
        with self._in_use() as synthesizer:
            return synthesizer.prepare_voice(voice, control=control)

    def stream(
        self,
        request: SynthesisRequest,
        *,
        control: RequestControl,
        in_batch: bool = False,
        text: ArrivingText | None = None,
    ) -> Chunks:
        with self._in_use() as synthesizer:
            chunks = synthesizer.stream(request, control=control, in_batch=in_batch, text=text)
            if self._pool is not None:
                chunks = self._pool.stream(request, control, chunks, in_batch=in_batch, text=text)
            report = yield from chunks
            return replace(report, max_concurrent_lines=self.description.max_concurrent_lines)

    def convert(self, request: ConversionRequest, *, control: RequestControl) -> Chunks:
        with self._in_use() as synthesizer:
            return (yield from synthesizer.convert(request, control=control))

    def read_recording(self, request: SynthesisRequest, source: Path, *, control: RequestControl) -> SynthesisReport:
        with self._in_use() as synthesizer:
            return synthesizer.read_recording(request, source, control=control)

    def finish_writes(self, control: RequestControl) -> None:
        if self._synthesizer is not None:
            with self._in_use() as synthesizer:
                synthesizer.finish_writes(control)
                if synthesizer.stages.is_provisional:
                    at_low_priority(partial(compare_precisions, self._folder, self._options, control))
                else:
                    at_low_priority(partial(synthesizer.measure_qualities, control))

    def close(self) -> None:
        self._is_closed.set()
        self._wake.set()
        self._manager.close()
        with self._requests.exclusive():
            self._release()
        if self._pool is not None:
            self._pool.close()
        self._thread.join(_JOIN_SECONDS)

    @contextlib.contextmanager
    def _in_use(self) -> Iterator[Synthesizer]:
        """Provide the model for one request, and pause benchmarks. Concurrent requests use the same engines."""
        with self._requests.acquire():
            assert self._synthesizer is not None
            yield self._synthesizer

    def _before_requests(self) -> None:
        if (measurement := self._measurement) is not None:
            measurement.cancel()
        self._manager.suspend(Suspension.REQUEST)
        before = None if self._synthesizer is None else self._description
        if self._synthesizer is None:
            if self._is_released_for_trials:
                self._manager.cancel(at_once=True)
                self._should_improve = True
            self._load()
        assert self._synthesizer is not None
        self._stages.install(self._synthesizer)
        self._description = self._synthesizer.description
        if self._description != before:
            self._on_overview(self._manager.overview())

    def _after_requests(self) -> None:
        self._last_used = time.monotonic()
        self._manager.resume(Suspension.REQUEST)

    # Lifetime.

    def _load(self) -> None:
        self._synthesizer = self._stages.load_synthesizer()
        self._is_released_for_trials = False
        self._wake.set()  # opens the deferred engines

    def _release(self) -> None:
        synthesizer, self._synthesizer = self._synthesizer, None
        self._stages.discard()
        if synthesizer is not None:
            synthesizer.close()
        del synthesizer
        gc.collect()
        empty_cache(self._options.device)

    # Engine status and commands, from any thread.

    def watch_engines(self, on_status: OnStatus) -> None:
        """Call ``on_status`` now and after every change, on any thread."""
        self._on_status = on_status
        on_status(self.engines())

    def engines(self) -> EngineStatus:
        """Return the manager's overview, with the engines in use."""
        return self._with_use(self._manager.overview())

    def manage_engines(self, action: EngineAction, keys: Collection[str]) -> int:
        """Start ``action`` for the candidates with ``keys``, or for all without keys.

        Return the number of bytes freed.
        """
        freed = 0
        match action:
            case EngineAction.IMPROVE:
                self._request_improvement(keys)
            case EngineAction.PAUSE:
                self._manager.suspend(Suspension.PAUSED)
            case EngineAction.RESUME:
                self._manager.resume(Suspension.PAUSED)
            case EngineAction.SUSPEND_FOR_USER:
                self._last_used = time.monotonic()
                self._manager.suspend(Suspension.USER_ACTIVE)
            case EngineAction.RESUME_AFTER_USER:
                self._last_used = time.monotonic()
                self._manager.resume(Suspension.USER_ACTIVE)
            case EngineAction.CANCEL:
                self._should_improve = False
                self._manager.cancel()
            case EngineAction.CLEAR:
                self._should_improve = False
                self._manager.cancel()
                freed = self._manager.clear(keys or None)
            case EngineAction.REBUILD:
                freed = self._manager.clear(keys or None)
                self._request_improvement(())
        return freed

    def _request_improvement(self, keys: Collection[str]) -> None:
        with self._improve_lock:
            self._retried_keys |= set(keys)
            self._should_improve = self._is_requested = True
        self._wake.set()

    def _on_overview(self, overview: EngineStatus) -> None:
        now = time.monotonic()
        is_too_soon = overview.work is not None and now - self._last_update < _MIN_SECONDS_BETWEEN_UPDATES
        if self._on_status is None or is_too_soon:
            return
        self._last_update = now
        self._on_status(self._with_use(overview))

    def _with_use(self, overview: EngineStatus) -> EngineStatus:
        stages = overview.stages
        if self._synthesizer is not None:
            stages = tuple(
                view.loaded(self._description.engines.get(key, ""), self._description.comparisons.get(key))
                for view in stages
                for key in (STAGE_KEYS.get(view.stage, ""),)
            )
        notes = (*overview.notes, _BUSY_NOTE) if self._waits_for_machine else overview.notes
        return replace(
            overview,
            stages=stages,
            notes=notes,
            max_concurrent_lines=self._with_pool(self._description).max_concurrent_lines,
        )

    # The background thread.

    def _run(self) -> None:
        while not self._is_closed.is_set():
            self._wake.wait(self._seconds_until_due())
            self._wake.clear()
            if self._is_closed.is_set():
                return
            try:
                self._warm_up()
                self._stages.open_deferred(self._is_loaded)
                self._measure_qualities()
                if self._should_improve and self._is_quiet() and self._is_machine_free():
                    self._improve()
                if self._pool is not None and not self._options.keeps_line_processes:
                    self._pool.release_idle(_LINE_PROCESS_SECONDS)
            except Exception:  # noqa: BLE001 - the end of a thread: the model works without it
                _log.exception("benchmarking engines failed")
                self._should_improve = False

    def _warm_up(self) -> None:
        """Prepare the stages in use for the first line. Requests wait for one task at most."""
        synthesizer = self._synthesizer
        if synthesizer is None or not gains_by_warming_up(self._options.device):
            return
        try:
            for task in synthesizer.warm_ups(uses_speech_lm=self._options.loads_speech_lm):
                with self._requests.exclusive():
                    if self._is_closed.is_set() or self._synthesizer is not synthesizer:
                        return
                    task()
                self._is_closed.wait(_PAUSE_SECONDS)
        except Exception:  # noqa: BLE001 - lines work without it
            _log.exception("warming up failed")

    def _seconds_until_due(self) -> float:
        now = time.monotonic()
        waits = [_MAX_SLEEP_SECONDS]
        if self._has_postponed_qualities():
            waits.append(self._last_used + _MEASUREMENT_SECONDS - now)
        if self._should_improve:
            waits.append(_BUSY_SECONDS if self._waits_for_machine else self._seconds_until_quiet())
        return max(_MIN_SLEEP_SECONDS, min(waits))

    def _has_postponed_qualities(self) -> bool:
        synthesizer = self._synthesizer
        return synthesizer is not None and synthesizer.has_postponed_qualities

    def _measure_qualities(self) -> None:
        """Measure the qualities that requests have asked for. A request interrupts this."""
        synthesizer = self._synthesizer
        is_due = self._has_postponed_qualities() and time.monotonic() >= self._last_used + _MEASUREMENT_SECONDS
        if synthesizer is None or not is_due:
            return
        self._measurement = control = RequestControl()
        try:
            if self._requests.is_empty:
                at_low_priority(partial(synthesizer.measure_qualities, control))
        except Cancelled:
            self._last_used = time.monotonic()
        except StudioError as error:
            _log.warning("the quality is not measured: %s", error)
        finally:
            self._measurement = None

    def _is_quiet(self) -> bool:
        return self._requests.is_empty and self._seconds_until_quiet() <= 0

    def _seconds_until_quiet(self) -> float:
        quiet_from = max(self._last_used + self._quiet_seconds, self._repeats_from)
        return 0.0 if self._is_requested else quiet_from - time.monotonic()

    def _is_machine_free(self) -> bool:
        """Return whether measurements are reliable now. Tell the watcher when this changes."""
        is_busy = self._is_busy()
        if is_busy != self._waits_for_machine:
            self._waits_for_machine = is_busy
            self._on_overview(self._manager.overview())
        return not is_busy

    def _keys_to_repeat(self) -> set[str]:
        """Return the candidates that were measured on a busy machine, if engines are tested without a request."""
        if self._options.engines != "improve":
            return set()
        return {key for key in self._manager.disturbed_keys() if self._num_repeats[key] < _MAX_REPEATS}

    def _is_loaded(self) -> bool:
        return not self._is_closed.is_set() and self._synthesizer is not None

    def _improve(self) -> None:
        with self._improve_lock:
            retried, self._retried_keys = self._retried_keys | self._keys_to_repeat(), set()
            self._should_improve = self._is_requested = False
        self._num_repeats.update(retried)
        self._manager.improve(again=retried)
        if self._releases_for_trials():
            self._manager.improve()
            self._load_after_trials()
        if self._keys_to_repeat():
            self._repeats_from = time.monotonic() + _REPEAT_SECONDS
            self._should_improve = True
        self._stages.open_faster(self._description.engines, self._is_loaded)

    def _releases_for_trials(self) -> bool:
        """Release the model if engines can be tested in its memory, and return whether it was released.

        On a small GPU, neither an engine nor the reference for it fits beside a loaded model.
        """
        device = torch.device(self._options.device)
        if not gains_by_warming_up(self._options.device) or not self._manager.could_try_with(used_memory_bytes(device)):
            return False
        with self._requests.exclusive():
            if not self._is_loaded() or self._seconds_until_quiet() > 0:
                self._should_improve = True
                return False
            _log.info("releasing the model's memory to test engines in it")
            self._is_released_for_trials = True
            self._release()
        return True

    def _load_after_trials(self) -> None:
        if not self._is_released_for_trials:
            return  # a request has loaded it
        with self._requests.exclusive():
            if self._is_released_for_trials and not self._is_closed.is_set():
                self._load()
                self._description = self.description
        self._on_overview(self._manager.overview())


def open_accelerated(
    folder: Path,
    options: EngineOptions,
    control: RequestControl | None = None,
    modules: tuple[str, ...] = MODULES,
) -> ModelHost:
    """Load the model of ``folder`` with the fastest engines verified so far. ``control`` reports comparisons of precisions.

    Raise the errors of ``load_synthesizer``, and ``OutOfMemory`` for a GPU that is too small, before reading weights.
    """
    device = device_named(options.device, num_threads=options.num_threads)
    target = EngineTarget(open_checkpoint(folder), device, options.variant)
    if device.kind.is_gpu:
        _require_memory(target)
    return ModelHost(
        folder,
        replace(options, device=device.torch_name),
        lambda on_change: EngineManager(target, EngineStore(), modules=modules, on_change=on_change),
        control=control,
    )


def _require_memory(target: EngineTarget) -> None:
    """Raise ``OutOfMemory`` if the weights do not fit into the free memory of the GPU, even with 16 bits."""
    file_bytes = {stage: target.weight_bytes(stage) for stage in GPU_STAGES}
    checkpoint, free = target.checkpoint, budget_bytes(target.device)
    plan = plan_memory(checkpoint.flow, checkpoint.generation.frame_rate, file_bytes, free)[-1]
    if plan.line_seconds is None:
        raise OutOfMemory(
            "This model needs {needed:.1f} GB of memory on {gpu}, where {free:.1f} GB are available.",
            remedy="Close other programs that use the GPU, choose a smaller model, or choose the CPU in Settings.",
            needed=plan.weight_bytes / 2**30,
            gpu=target.device.name,
            free=free / 2**30,
        )
