"""Errors of a candidate's output against plain float32, and their tolerances for each stage and precision."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from studio.engines.manifest import Verification
from studio.engines.stage import Stage
from studio.messages import Message, wording
from studio.model.config import Precision

# Relative root-mean-square error of the mel: what each precision yields on intact weights, plus a margin. float32
# allows for another order of summation and for TF32; the limits of 16 and 8 bits are this project's requirement for
# reduced precision, and 4 bits must meet the same limit as 8.
_MEL_ERROR_LIMITS = {
    Precision.FLOAT32: 2e-3,
    Precision.FLOAT16: 1e-2,
    Precision.BFLOAT16: 1e-2,
    Precision.INT8: 5e-2,
    Precision.INT4: 5e-2,
}
# Mel-cepstral distance of the test sentence. Differences below a decibel are hard to hear even side by side.
_MEL_DISTANCE_LIMITS_DB = {
    Precision.FLOAT32: 0.1,
    Precision.FLOAT16: 0.4,
    Precision.BFLOAT16: 0.4,
    Precision.INT8: 0.8,
    Precision.INT4: 0.8,
}
# Rounding alone shifts a vocoder's phase, so samples may differ inaudibly: they are compared in float32 only, spectra
# in every precision.
_SAMPLE_ERROR_LIMIT = 2e-2
# Relative error of the next token's centred scores; see studio/model/speech_lm/quality.py.
_SCORE_ERROR_LIMITS = {
    Precision.FLOAT32: 1e-3,
    Precision.FLOAT16: 5e-3,
    Precision.BFLOAT16: 3e-2,
    Precision.INT8: 5e-2,
    Precision.INT4: 5e-2,
}
_EMBEDDING_ERROR_LIMITS = {
    Precision.FLOAT32: 1e-3,
    Precision.FLOAT16: 2e-2,
    Precision.BFLOAT16: 2e-2,
    Precision.INT8: 5e-2,
    Precision.INT4: 5e-2,
}
# Rounding can turn a tokenizer's code into a neighbouring one.
_MIN_AGREEMENT = {
    Precision.FLOAT32: 0.99,
    Precision.FLOAT16: 0.97,
    Precision.BFLOAT16: 0.97,
    Precision.INT8: 0.95,
    Precision.INT4: 0.95,
}
Array = npt.NDArray[np.floating]


def compare(wanted: Array, found: Array) -> Verification:
    """Return the error of ``found`` against ``wanted``; infinite if shapes differ or values are not finite."""
    if wanted.shape != found.shape or not np.isfinite(found).all():
        return Verification(bool(np.isfinite(found).all()), np.inf, np.inf, found.size)
    difference = found.astype(np.float64) - wanted.astype(np.float64)
    norm = float(np.linalg.norm(wanted.astype(np.float64)))
    error = float(np.linalg.norm(difference))
    return Verification(
        is_finite=True,
        relative_error=error / norm if norm else (0.0 if error == 0.0 else np.inf),
        max_error=float(np.abs(difference).max(initial=0.0)),
        num_values=found.size,
    )


def apply_tolerances(stage: Stage, precision: Precision, verification: Verification) -> Verification:
    """Return ``verification`` with its rejection set if it exceeds a tolerance."""
    return replace(verification, rejection=_rejection(stage, precision, verification))


def _rejection(stage: Stage, precision: Precision, found: Verification) -> Message | None:
    if not found.is_finite:
        return wording("it produces values that are not finite")
    error_limit = {
        Stage.SPEECH_TOKENIZER: math.inf,
        Stage.SPEAKER_ENCODER: _EMBEDDING_ERROR_LIMITS[precision],
        Stage.SPEECH_LM: _SCORE_ERROR_LIMITS[precision],
        Stage.FLOW: _MEL_ERROR_LIMITS[precision],
        Stage.VOCODER: _SAMPLE_ERROR_LIMIT if precision is Precision.FLOAT32 else math.inf,
    }[stage]
    if found.relative_error > error_limit:
        return wording(
            "its output differs from float32 by {error:.2%}, more than {limit:.2%}",
            error=found.relative_error,
            limit=error_limit,
        )
    if found.mel_distance_db is not None and found.mel_distance_db > _MEL_DISTANCE_LIMITS_DB[precision]:
        return wording(
            "its audio differs from float32 by {distance:.2f} dB, more than {limit:g} dB",
            distance=found.mel_distance_db,
            limit=_MEL_DISTANCE_LIMITS_DB[precision],
        )
    if stage is Stage.SPEECH_TOKENIZER and (found.agreement or 0.0) < _MIN_AGREEMENT[precision]:
        return wording(
            "only {agreement:.1%} of its tokens match, fewer than {limit:.0%}",
            agreement=found.agreement or 0.0,
            limit=_MIN_AGREEMENT[precision],
        )
    return None
