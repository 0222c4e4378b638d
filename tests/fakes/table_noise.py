"""Vocoder noise from a table."""

from __future__ import annotations

import torch


class TableNoise:
    """Noise from a table (samples, columns), repeated if ``wraps``, to compare with recorded runs."""

    def __init__(self, table: torch.Tensor, *, wraps: bool, phases: torch.Tensor | None = None) -> None:
        self._table = table
        self._wraps = wraps
        self._phases = phases

    def initial_phases(self) -> torch.Tensor | None:
        return self._phases

    def columns(self, start: int, stop: int) -> torch.Tensor:
        """Return rows ``start`` to ``stop`` of the table, (stop - start, columns)."""
        if self._wraps:
            return self._table[torch.arange(start, stop) % len(self._table)]
        assert stop <= len(self._table), "the table is shorter than the utterance"
        return self._table[start:stop]
