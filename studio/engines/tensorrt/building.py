"""Build a TensorRT plan for this GPU from an ONNX file, with progress and cancellation."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx

from studio.engines.candidate import BuildCancelled
from studio.engines.tensorrt.library import Library
from studio.errors import DamagedModelFile, OutOfMemory, UnsupportedPrecision
from studio.storage.atomic_file import atomic_write

_log = logging.getLogger(__name__)
MAX_REASON_CHARACTERS = 300
_loggers: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class SizeRange:
    """Range of a dynamic dimension in one profile: minimum, optimum, maximum."""

    least: int
    usual: int
    most: int


# Keys are the names of the graph's dynamic dimensions.
Profile = Mapping[str, SizeRange]


def build_plan(
    library: Library,
    graph: Path,
    profiles: Sequence[Profile],
    *,
    report: Callable[[float], None],
    should_continue: Callable[[], bool],
    workspace_bytes: int,
    timing_cache: Path | None = None,
    compute_capability: tuple[int, int] | None = None,
) -> bytes:
    """Return the plan of the ONNX file ``graph``, with the file's types.

    ``report`` receives the progress in 0..1 after every step; an exception that it raises ends the build and is raised
    again here. ``should_continue`` is called before it and may block; if it returns False, the build is cancelled.
    ``compute_capability`` of the GPU is given if it is known.
    Raises ``BuildCancelled``, ``DamagedModelFile``, ``UnsupportedPrecision`` (TensorRT cannot build the graph) and
    ``OutOfMemory``.
    """
    api, logger = library.api, find_logger(library)
    logger.words.clear()
    builder = api.Builder(logger)
    # Strongly typed is the only kind from version 11 on, which ignores the flag.
    network = builder.create_network(1 << int(api.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
    parser = api.OnnxParser(network, logger)
    if not parser.parse_from_file(str(graph)):
        raise _parse_error(parser, graph)
    config = builder.create_builder_config()
    config.set_memory_pool_limit(api.MemoryPoolType.WORKSPACE, workspace_bytes)
    if library.is_rtx and compute_capability is not None:
        # By default, plans are for all GPUs from Ampere on, so not for Turing.
        own = getattr(api.ComputeCapability, "SM{}{}".format(*compute_capability), None)
        if own is not None:
            config.num_compute_capabilities = 1
            config.set_compute_capability(own, 0)
    for profile in profiles:
        config.add_optimization_profile(_optimization_profile(builder, graph, profile))
    # TensorRT for RTX measures nothing while building; since 1.2 using its timing cache only logs a warning.
    cache_path = None if library.is_rtx else timing_cache
    cache = read_timing_cache(config, cache_path)
    tracker = ProgressTracker(report, should_continue)
    monitor = _make_monitor(library, tracker)
    config.progress_monitor = monitor
    plan = builder.build_serialized_network(network, config)
    if tracker.error is not None:
        raise tracker.error
    if plan is None:
        raise _build_error(graph, logger.words)
    if cache is not None and cache_path is not None:
        write_timing_cache(config, cache_path)
    return bytes(plan)


def find_logger(library: Library) -> Any:
    """Return the logger of the process: TensorRT keeps the first logger it receives and ignores others.

    It forwards warnings and keeps errors in ``words``, because failed calls return None without a reason.
    """
    if library.name not in _loggers:
        _loggers[library.name] = _make_logger(library)
    return _loggers[library.name]


def _make_logger(library: Library) -> Any:
    api = library.api

    class Logger(api.ILogger):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            api.ILogger.__init__(self)
            self.words: list[str] = []

        def log(self, severity: Any, message: str) -> None:
            if severity <= api.ILogger.ERROR:
                self.words.append(message)
            if severity <= api.ILogger.WARNING:
                _log.warning("%s: %s", library.name, message)

    return Logger()


@dataclass
class ProgressTracker:
    """Total progress of nested phases. A phase's steps divide one step of the enclosing phase."""

    report: Callable[[float], None]
    should_continue: Callable[[], bool]
    error: BaseException | None = None
    _phases: list[list[Any]] = field(default_factory=list)  # name, steps done, steps
    _highest: float = 0.0

    def begin(self, name: str, num_steps: int) -> None:
        self._phases.append([name, 0, max(1, num_steps)])

    def step(self, name: str, index: int) -> bool:
        """Return whether to continue. Exceptions must not pass through C++."""
        if self.error is not None:
            return False
        for phase in self._phases:
            if phase[0] == name:
                phase[1] = index + 1
        try:
            if not self.should_continue():
                raise BuildCancelled  # noqa: TRY301 - handled like an exception of ``report``
            # Sibling phases run in any order; reported progress never decreases.
            self._highest = max(self._highest, self.share())
            self.report(self._highest)
        except BaseException as error:  # noqa: BLE001 - raised again by ``build_plan``
            self.error = error
            return False
        return True

    def end(self, name: str) -> None:
        self._phases = [phase for phase in self._phases if phase[0] != name]

    def share(self) -> float:
        share, weight = 0.0, 1.0
        for _, done, total in self._phases:
            share += weight * min(done, total) / total
            weight /= total
        return min(1.0, share)


def _make_monitor(library: Library, tracker: ProgressTracker) -> Any:
    api = library.api

    class Monitor(api.IProgressMonitor):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            api.IProgressMonitor.__init__(self)

        def phase_start(self, phase_name: str, parent_phase: str | None, num_steps: int) -> None:  # noqa: ARG002
            tracker.begin(phase_name, num_steps)

        def step_complete(self, phase_name: str, step: int) -> bool:
            return tracker.step(phase_name, step)

        def phase_finish(self, phase_name: str) -> None:
            tracker.end(phase_name)

    return Monitor()


def _optimization_profile(builder: Any, graph: Path, profile: Profile) -> Any:
    created = builder.create_optimization_profile()
    for port in onnx.load(graph, load_external_data=False).graph.input:
        sizes = [size.dim_param or size.dim_value for size in port.type.tensor_type.shape.dim]
        if any(isinstance(size, str) for size in sizes):
            free = [SizeRange(size, size, size) if isinstance(size, int) else profile[size] for size in sizes]
            created.set_shape(
                port.name,
                tuple(size.least for size in free),
                tuple(size.usual for size in free),
                tuple(size.most for size in free),
            )
    return created


def read_timing_cache(config: Any, path: Path | None) -> Any | None:
    """Load the timings of earlier builds.

    TensorRT rejects a cache that is damaged or does not match; start empty then.
    """
    if path is None:
        return None
    try:
        stored = path.read_bytes()
    except OSError:
        stored = b""
    for content in (stored, b""):
        try:
            cache = config.create_timing_cache(content)
            if cache is not None and config.set_timing_cache(cache, False):
                return cache
        except (RuntimeError, TypeError) as error:
            _log.warning("the timing cache is not used: %s", error)
    return None


def write_timing_cache(config: Any, path: Path) -> None:
    """Store the timings for later builds."""
    with contextlib.suppress(OSError):  # the cache only makes the next build faster
        atomic_write(path, bytes(config.get_timing_cache().serialize()))


def _parse_error(parser: Any, graph: Path) -> DamagedModelFile | UnsupportedPrecision:
    words = "; ".join(parser.get_error(index).desc() for index in range(parser.num_errors))
    _log.warning("%s: %s", graph.name, words)
    try:
        onnx.checker.check_model(str(graph))
    except Exception:  # noqa: BLE001 - the checker raises many types
        return DamagedModelFile(
            "{file} cannot be read: it is truncated or damaged.", remedy="Build the engine again.", file=graph.name
        )
    return _unsupported(graph, words)


def _build_error(graph: Path, words: Sequence[str]) -> OutOfMemory | UnsupportedPrecision:
    everything = " ".join(words)
    if "out of memory" in everything.lower() or "outofmemory" in everything.lower():
        return OutOfMemory(
            "There is not enough memory to build {file}.",
            remedy="Close other programs and build the engine again.",
            file=graph.name,
        )
    return _unsupported(graph, everything or "no reason given")


def _unsupported(graph: Path, reason: str) -> UnsupportedPrecision:
    return UnsupportedPrecision(
        "TensorRT cannot build {file}: {reason}.",
        remedy="Another engine is used. A newer TensorRT may support it.",
        file=graph.name,
        reason=reason[:MAX_REASON_CHARACTERS],
    )
