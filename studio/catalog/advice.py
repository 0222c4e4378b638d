"""Recommendation of a model for this computer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from studio.catalog.known import Ability, KnownModel
from studio.catalog.machine import MachineFacts

# Fun-CosyVoice3 in float32 with one voice takes 2.9 GB (README, Performance), and the desktop needs some as well.
_COMFORTABLE_GPU_BYTES = 6 << 30
_MIN_MEMORY_BYTES = 5 << 30


class Reason(Enum):
    HAS_GPU = "has-gpu"  # the newest model; it fits into GPU memory
    LIGHTEST = "lightest"  # no such GPU: the model with the least computation


@dataclass(frozen=True, slots=True)
class Advice:
    """The recommended model. ``lacks_memory``, ``lacks_disk``: this computer has too little for it."""

    model: KnownModel
    reason: Reason
    lacks_memory: bool
    lacks_disk: bool


def recommend_model(machine: MachineFacts, models: Iterable[KnownModel]) -> Advice | None:
    """Return the best of ``models`` that can be downloaded, run and clone voices, or None."""
    usable = [
        model for model in models if model.is_supported and model.can_be_downloaded and Ability.CLONE in model.abilities
    ]
    if not usable:
        return None
    has_gpu = machine.gpu is not None and machine.gpu.memory_bytes >= _COMFORTABLE_GPU_BYTES
    model = min(usable, key=lambda model: model.rank if has_gpu else model.size_bytes())
    return Advice(
        model,
        Reason.HAS_GPU if has_gpu else Reason.LIGHTEST,
        lacks_memory=machine.memory_bytes < _MIN_MEMORY_BYTES,
        lacks_disk=machine.free_disk_bytes < model.size_bytes(),
    )
