"""A build job for tests that records its progress reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from studio.engines.candidate import BuildCancelled, BuildJob


@dataclass
class RecordingJob(BuildJob):
    """Records reports as (phase, done, total), and is cancelled when ``done`` reaches ``cancel_at``."""

    timing_cache: Path = Path("timing-cache-that-does-not-exist")
    memory_bytes: int = 2 << 30
    cancel_at: float = 1e9
    reports: list[tuple[str, float, float]] = field(default_factory=list)

    def report(self, phase: str, done: float, total: float) -> None:
        assert 0 <= done <= total
        self.reports.append((phase, done, total))
        if done >= self.cancel_at:
            raise BuildCancelled

    def should_continue(self) -> bool:
        return True
