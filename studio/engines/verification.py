"""Limits for the differences of an engine from plain float32, for each stage and precision."""

from __future__ import annotations

import math
from dataclasses import replace

from studio.engines.stage import Stage
from studio.messages import Message, message
from studio.model.config import Precision
from studio.model.limits import LIMITS, MAX_SAMPLE_ERROR
from studio.model.measurements import Verification


def apply_limits(stage: Stage, precision: Precision, verification: Verification) -> Verification:
    """Return ``verification`` with its rejection set if it exceeds a limit."""
    return replace(verification, rejection=_rejection(stage, precision, verification))


def _rejection(stage: Stage, precision: Precision, found: Verification) -> Message | None:
    if not found.is_finite:
        return message("it produces values that are not finite")
    limits = LIMITS[precision]
    max_error = {
        Stage.SPEECH_TOKENIZER: math.inf,
        Stage.SPEAKER_ENCODER: limits.embedding_error,
        Stage.SPEECH_LM: limits.score_error,
        Stage.FLOW: limits.mel_error,
        Stage.VOCODER: MAX_SAMPLE_ERROR if precision is Precision.FLOAT32 else math.inf,
    }[stage]
    if found.relative_error > max_error:
        return message(
            "its output differs from float32 by {error:.2%}, more than {limit:.2%}",
            error=found.relative_error,
            limit=max_error,
        )
    if found.mel_distance_db is not None and found.mel_distance_db > limits.mel_distance_db:
        return message(
            "its audio differs from float32 by {distance:.2f} dB, more than {limit:g} dB",
            distance=found.mel_distance_db,
            limit=limits.mel_distance_db,
        )
    if stage is Stage.SPEECH_TOKENIZER and (found.agreement or 0.0) < limits.min_agreement:
        return message(
            "only {agreement:.1%} of its tokens match, fewer than {limit:.0%}",
            agreement=found.agreement or 0.0,
            limit=limits.min_agreement,
        )
    return None
