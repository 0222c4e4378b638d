"""Metrics for Prometheus. No label contains a text, the name of a voice, or an address."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from studio.pipeline.request import SynthesisReport
from studio.serve.backend import SpeechTimes
from studio.serve.fair_queue import FairQueue

_SECONDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 60.0)
_FACTORS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 5.0, 10.0)


class ServiceMetrics:
    """Counters of one service, in a registry of their own."""

    def __init__(self, queue: FairQueue) -> None:
        registry = self._registry = CollectorRegistry()
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
            "timbre_queue_wait_seconds", "Time in the queue.", buckets=_SECONDS, registry=registry
        )
        self.first_audio = Histogram(
            "timbre_first_audio_seconds",
            "Time from the request to its first audio.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.real_time_factor = Histogram(
            "timbre_real_time_factor", "Synthesis time over audio time.", buckets=_FACTORS, registry=registry
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

    def count_finished(self, report: SynthesisReport, times: SpeechTimes) -> None:
        self.audio_seconds.inc(report.audio_seconds)
        for stage, seconds in report.stages.items():
            self.stage_seconds.labels(stage).inc(max(0.0, seconds))
        if report.voice_was_cached is not None:
            self.voice_cache.labels("yes" if report.voice_was_cached else "no").inc()
        self._device_memory.set(report.device_memory_bytes)
        if report.audio_seconds:
            self.real_time_factor.observe(report.real_time_factor)
        if times.waited is not None:
            self.queue_wait.observe(times.waited)
        if times.first_audio is not None:
            self.first_audio.observe(times.first_audio)

    def text(self, num_lost_workers: int) -> bytes:
        """Return all metrics in Prometheus' text format.

        ``num_lost_workers`` is the number since the client of the worker was opened. The window opens another client when
        it loads its model with other options.
        """
        has_begun_again = num_lost_workers < self._num_lost_workers
        self._worker_restarts.inc(num_lost_workers - (0 if has_begun_again else self._num_lost_workers))
        self._num_lost_workers = num_lost_workers
        return generate_latest(self._registry)
