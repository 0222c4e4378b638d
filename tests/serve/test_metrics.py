"""Metrics of the service."""

from __future__ import annotations

from studio.serve.fair_queue import FairQueue
from studio.serve.metrics import ServiceMetrics


def test_replaced_workers_are_counted_when_the_window_loads_its_model_again() -> None:
    """The window then begins to count at zero."""
    metrics = ServiceMetrics(FairQueue(1, lambda: 1), "studio-mini")
    totals = []
    for num_lost_workers in (0, 2, 2, 0, 1, 3):
        lines = metrics.text(num_lost_workers).decode().splitlines()
        totals += [line.split()[1] for line in lines if line.startswith("timbre_worker_restarts_total")]
    assert totals == ["0.0", "2.0", "2.0", "2.0", "3.0", "5.0"]
