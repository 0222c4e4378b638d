"""Which model suits a computer, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from studio.catalog.known import Ability, KnownModel
from studio.catalog.machine import MachineFacts

# Fun-CosyVoice3 in float32 with one voice takes 2.9 GB (README, Performance); a desktop wants some, too.
_COMFORTABLE_CARD_BYTES = 6 << 30
_LEAST_MEMORY_BYTES = 5 << 30


class Reason(Enum):
    HAS_GPU = "has-card"  # the newest, on a card with room for it
    LIGHTEST = "lightest"  # without such a card, the one with least to compute


@dataclass(frozen=True, slots=True)
class Advice:
    """``lacks_memory``, ``lacks_disk``: it would not go well here as it is."""

    model: KnownModel
    reason: Reason
    lacks_memory: bool
    lacks_disk: bool


def recommend_model(machine: MachineFacts, models: Iterable[KnownModel]) -> Advice | None:
    """Among those that clone voices, can be used and are to be had; None where there is none."""
    usable = [
        model for model in models if model.is_supported and model.can_be_downloaded and Ability.CLONE in model.abilities
    ]
    if not usable:
        return None
    has_card = machine.gpu is not None and machine.gpu.memory_bytes >= _COMFORTABLE_CARD_BYTES
    by_weight = sorted(usable, key=lambda model: model.size_bytes())
    model = min(usable, key=lambda model: model.rank) if has_card else by_weight[0]
    return Advice(
        model,
        Reason.HAS_GPU if has_card else Reason.LIGHTEST,
        lacks_memory=machine.memory_bytes < _LEAST_MEMORY_BYTES,
        lacks_disk=machine.free_disk_bytes < model.size_bytes(),
    )
