"""How far a network may be from plain float32, and how much faster it must be to be used: the limits of all comparisons.

Trials of engines (``studio/engines/verification.py``), the choice of a precision on loading
(``studio/pipeline/stage_opener.py``) and the qualities of the flow (``studio/pipeline/decodings.py``) use this table.
"""

from __future__ import annotations

from dataclasses import dataclass

from studio.model.config import Precision
from studio.model.options import Quality


@dataclass(frozen=True, slots=True)
class Limits:
    """Largest differences from float32 for one precision.

    The errors are relative root-mean-square errors: what the precision yields on intact weights, plus a margin.

    Attributes:
        mel_error: Error of the mel. float32 allows for another order of summation and for TF32.
        mel_distance_db: Mel-cepstral distance of a sentence. Below a decibel it is hard to hear even side by side.
        score_error: Error of the centred scores of the next token. On full-size random weights, float16 has 0.0014,
            bfloat16 0.013 and int8 0.040; small ones have up to 50 % more.
        embedding_error: Error of the speaker embedding.
        min_agreement: Share of equal tokens of a speech tokenizer, whose code rounding can turn into a neighbouring one.
    """

    mel_error: float
    mel_distance_db: float
    score_error: float
    embedding_error: float
    min_agreement: float


# 4 bits must meet the same limits as 8.
_EIGHT_BITS = Limits(mel_error=5e-2, mel_distance_db=0.8, score_error=5e-2, embedding_error=5e-2, min_agreement=0.95)
LIMITS = {
    Precision.FLOAT32: Limits(
        mel_error=2e-3, mel_distance_db=0.1, score_error=1e-3, embedding_error=1e-3, min_agreement=0.99
    ),
    Precision.FLOAT16: Limits(
        mel_error=1e-2, mel_distance_db=0.4, score_error=5e-3, embedding_error=2e-2, min_agreement=0.97
    ),
    Precision.BFLOAT16: Limits(
        mel_error=1e-2, mel_distance_db=0.4, score_error=3e-2, embedding_error=2e-2, min_agreement=0.97
    ),
    Precision.INT8: _EIGHT_BITS,
    Precision.INT4: _EIGHT_BITS,
}
# Mel-cepstral distance of a reduced number of solver steps to the released number.
QUALITY_DISTANCE_DB = {Quality.FAST: 0.3, Quality.DRAFT: 0.8}
# Rounding alone shifts a vocoder's phase, so samples may differ inaudibly: they are compared in float32 only, spectra
# in every precision.
MAX_SAMPLE_ERROR = 2e-2
# For the language model, only the choice of tokens is audible: at this Kullback-Leibler divergence, it takes about
# fifty draws until the likelihoods under the two models differ by a factor of e.
MAX_DIVERGENCE_NATS = 0.02
# One bad step is one wrong sound, which the mean over all steps would hide. For a trained model, the worst step has
# 0.04 nats in 4 bits and 0.001 in 8 bits.
MAX_WORST_DIVERGENCE_NATS = 0.2
# Swapping nearly equal most likely tokens is inaudible; a trained model has 97 % in 4 bits.
MIN_TOP_AGREEMENT = 0.8

# Smaller gains are within the variation between measurements: of a trial of an engine, and of the shorter comparison of
# a precision on loading, which is made only if products are faster by ``MIN_PRODUCT_SPEEDUP``.
MIN_ENGINE_SPEEDUP = 1.05
MAX_TIME_SHARE = 0.9
MIN_PRODUCT_SPEEDUP = 1.2
