"""Options of a request that the window, the command line and projects use.

They are not in ``config.py``, so that the window can paint before the settings of the networks are imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """Options of repetition-aware sampling (specification E1). All released models use the defaults."""

    top_p: float = 0.8
    top_k: int = 25
    window_tokens: int = 10
    repetition_ratio: float = 0.1


class Quality(Enum):
    """Accuracy of the flow's solver. The values are stored in projects and settings.

    All qualities use the same speech tokens and weights; ``EXACT`` is the released solver. The others are
    limits for the distance to it (``studio/model/limits.py``).
    """

    EXACT = "exact"
    FAST = "fast"
    DRAFT = "draft"
