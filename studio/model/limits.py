"""How far a network may be from plain float32, and how much faster it must be to be used: the limits of all comparisons.

Trials of engines (``studio/engines/verification.py``), the choice of a precision on loading
(``studio/pipeline/stage_opener.py``) and the qualities of the flow (``studio/pipeline/decodings.py``) use this table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from studio.model.config import Precision
from studio.model.options import Quality


@dataclass(frozen=True, slots=True)
class Limits:
    """Largest differences from float32 for one precision.

    The errors are relative root-mean-square errors: what the precision yields on intact weights, plus a margin.

    Attributes:
        mel_error: Error of the mel. float32 allows for another order of summation and for TF32.
        mel_distance_db: Mel-cepstral distortion of a sentence. Below a decibel it is hard to hear even side by side. The
            measured networks have up to 0.12 in 16 bits and 0.10 in 8 bits.
        score_error: Error of the centred scores of the next token. On full-size random weights, float16 has 0.0014,
            bfloat16 0.013 and int8 0.040; small ones have up to 50 % more.
        divergence_nats, worst_divergence_nats: Kullback-Leibler divergence of the next token's distribution, on average
            and in the worst step. They weigh the tokens that are likely, so they notice one damaged layer, whose error
            disappears among the scores of all tokens: the bundled model has 0.0007 in the worst step of 8 bits, and
            0.026 to 0.08 with 30 % of noise in one layer. Small random weights have up to 0.013.
        embedding_error: Error of the speaker embedding.
        min_agreement: Share of equal tokens of a speech tokenizer, whose code rounding can turn into a neighbouring one.
    """

    mel_error: float
    mel_distance_db: float
    score_error: float
    divergence_nats: float
    worst_divergence_nats: float
    embedding_error: float
    min_agreement: float


_EIGHT_BITS = Limits(
    mel_error=5e-2,
    mel_distance_db=1.0,
    score_error=5e-2,
    divergence_nats=8e-3,
    worst_divergence_nats=2e-2,
    embedding_error=5e-2,
    min_agreement=0.95,
)
_SIXTEEN_BITS = replace(
    _EIGHT_BITS, mel_error=1e-2, mel_distance_db=0.8, score_error=3e-2, embedding_error=2e-2, min_agreement=0.97
)
LIMITS = {
    Precision.FLOAT32: replace(
        _EIGHT_BITS, mel_error=2e-3, mel_distance_db=0.2, score_error=1e-3, embedding_error=1e-3, min_agreement=0.99
    ),
    Precision.FLOAT16: replace(_SIXTEEN_BITS, score_error=5e-3),
    Precision.BFLOAT16: _SIXTEEN_BITS,
    Precision.INT8: _EIGHT_BITS,
    Precision.INT4: replace(_EIGHT_BITS, divergence_nats=2e-2, worst_divergence_nats=0.2),
}
# Mel-cepstral distortion of a reduced number of solver steps against the released number.
QUALITY_DISTANCE_DB = {Quality.FAST: 0.6, Quality.DRAFT: 1.6}
# Rounding alone shifts a vocoder's phase, so samples may differ inaudibly: they are compared in float32 only, spectra
# in every precision.
MAX_SAMPLE_ERROR = 2e-2
# Swapping nearly equal most likely tokens is inaudible; a trained model has 97 % in 4 bits.
MIN_TOP_AGREEMENT = 0.8

# Smaller gains are within the variation between measurements: of a trial of an engine, and of the shorter comparison of
# a precision on loading, which is made only if products are faster by ``MIN_PRODUCT_SPEEDUP``.
MIN_ENGINE_SPEEDUP = 1.05
MAX_TIME_SHARE = 0.9
MIN_PRODUCT_SPEEDUP = 1.2
