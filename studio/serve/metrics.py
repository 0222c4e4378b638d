"""Metrics for Prometheus. No label contains a text, the name of a voice, or an address."""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

import studio
from studio.pipeline.request import SynthesisReport
from studio.serve.backend import SpeechTimes
from studio.serve.fair_queue import FairQueue

# The time of creation of each counter, which no dashboard needs.
disable_created_metrics()  # type: ignore[no-untyped-call]
_SECONDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 60.0)
_FACTORS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 5.0, 10.0)


class ServiceMetrics:
    """Counters of one service, in a registry of their own."""

    def __init__(self, queue: FairQueue, model_name: str) -> None:
        registry = self._registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        build = Info("timbre_build", "Version of the program, and the served model.", registry=registry)
        build.info({"version": studio.__version__, "model": model_name})
        self._http_requests = Histogram(
            "timbre_http_request_duration_seconds",
            "Time from a request to the end of its response.",
            ["route", "status"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.requests = Counter("timbre_requests", "Speech requests that were accepted.", registry=registry)
        self.failures = Counter("timbre_failures", "Failed requests by error code.", ["code"], registry=registry)
        self.cancelled = Counter(
            "timbre_cancelled", "Requests whose client disconnected before the end.", registry=registry
        )
        self.restarted_requests = Counter(
            "timbre_restarted_requests", "Requests that started again in a new worker.", registry=registry
        )
        self._worker_restarts = Counter(
            "timbre_worker_restarts", "Workers that ended unexpectedly and were replaced.", registry=registry
        )
        self._num_lost_workers = 0
        self.audio_seconds = Counter("timbre_audio_seconds", "Seconds of synthesized speech.", registry=registry)
        self.stage_seconds = Counter(
            "timbre_stage_seconds", "Seconds spent in each stage.", ["stage"], registry=registry
        )
        self.voice_cache = Counter(
            "timbre_voice_cache",
            "Requests by whether the prompt state of the voice was cached.",
            ["hit"],
            registry=registry,
        )
        self.queue_wait = Histogram(
            "timbre_queue_wait_seconds",
            "Time in the queue, also of requests that were cancelled there.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.first_audio = Histogram(
            "timbre_first_audio_seconds",
            "Time from the request to its first audio, or to its end if it had none.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.real_time_factor = Histogram(
            "timbre_real_time_factor", "Synthesis time over audio time.", buckets=_FACTORS, registry=registry
        )
        self.gapless_start = Histogram(
            "timbre_gapless_start_seconds",
            "Time from the request to the earliest start of playback without gaps, as forecast with the first audio.",
            buckets=_SECONDS,
            registry=registry,
        )
        waiting = Gauge("timbre_queue_length", "Waiting requests.", registry=registry)
        waiting.set_function(lambda: queue.num_waiting)
        running = Gauge("timbre_running_requests", "Requests that are being synthesized.", registry=registry)
        running.set_function(lambda: queue.num_running)
        at_once = Gauge("timbre_lines_at_once", "Requests that the engine synthesizes at once.", registry=registry)
        at_once.set_function(lambda: queue.num_slots)
        self._device_memory = Gauge(
            "timbre_device_memory_bytes",
            "Memory of the worker on its device (GPU or system memory) after the last request.",
            registry=registry,
        )

    def count_request(self, route: str, status: int, seconds: float) -> None:
        """Count a response."""
        self._http_requests.labels(route, str(status)).observe(seconds)

    def count_times(self, times: SpeechTimes) -> None:
        """Count the waiting times of a speech request that has ended.

        The longest waits are those of clients that give up, so they are counted up to that moment.
        """
        self.queue_wait.observe(times.now() if times.waited is None else times.waited)
        self.first_audio.observe(times.now() if times.first_audio is None else times.first_audio)
        if times.gapless_start is not None:
            self.gapless_start.observe(times.gapless_start)

    def count_finished(self, report: SynthesisReport) -> None:
        self.audio_seconds.inc(report.audio_seconds)
        for stage, seconds in report.stages.items():
            self.stage_seconds.labels(stage).inc(max(0.0, seconds))
        if report.voice_was_cached is not None:
            self.voice_cache.labels("yes" if report.voice_was_cached else "no").inc()
        self._device_memory.set(report.device_memory_bytes)
        if report.audio_seconds:
            self.real_time_factor.observe(report.real_time_factor)

    def text(self, num_lost_workers: int) -> bytes:
        """Return all metrics in Prometheus' text format.

        ``num_lost_workers`` is the number since the client of the worker was opened. The window opens another client when
        it loads its model with other options.
        """
        has_begun_again = num_lost_workers < self._num_lost_workers
        self._worker_restarts.inc(num_lost_workers - (0 if has_begun_again else self._num_lost_workers))
        self._num_lost_workers = num_lost_workers
        return generate_latest(self._registry)
