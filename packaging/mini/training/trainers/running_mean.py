"""The mean of a value that a training run records at every step."""

from __future__ import annotations

import torch

# A rare overflow costs one step. If there are more, the weights are lost.
_TOLERATED_SHARE = 0.1


class RunningMean:
    """Sum that does not wait for the device. Values that are not finite are counted separately."""

    def __init__(self) -> None:
        self._sum: torch.Tensor | float = 0.0
        self._num_broken: torch.Tensor | float = 0.0
        self._num_values = 0

    def add(self, value: torch.Tensor | float) -> None:
        tensor = value.detach().float() if isinstance(value, torch.Tensor) else torch.tensor(float(value))
        self._sum = self._sum + torch.nan_to_num(tensor, nan=0.0, posinf=0.0, neginf=0.0)
        self._num_broken = self._num_broken + (~torch.isfinite(tensor)).float()
        self._num_values += 1

    @property
    def value(self) -> float:
        return float(self._sum) / max(1.0, self._num_values - float(self._num_broken))

    @property
    def is_broken(self) -> bool:
        return float(self._num_broken) > _TOLERATED_SHARE * self._num_values
