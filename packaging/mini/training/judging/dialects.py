"""Measure of dialects: whether a requested dialect moves the phones towards that dialect."""

from __future__ import annotations

from training.corpus.styles import ACCENTS
from training.corpus.tokens import phones_of, shipped_pairs
from training.judging.examination import Examination
from training.judging.outcome import Outcome, at_least
from training.shipping.instructions import read_instructions
from training.trainers.speech_lm_validation import edit_distance

_NEARER_SHARE = 0.7
_JUDGED_FIRST = "scotland"
_MORE_DIALECTS = 2


def dialects(examination: Examination) -> list[Outcome]:
    """Return the share of sentences whose phones are closer to the dialect than to the default accent.

    Sentences that sound the same in both are ignored. Equal distances count as one half.
    """
    shares = {accent: _share(examination, accent) for accent in ACCENTS}
    others = sorted((share for accent, share in shares.items() if accent != _JUDGED_FIRST), reverse=True)
    outcomes = [
        Outcome(f"dialect.{accent}", f"{accent}: sentences nearer to the dialect than to the default", share)
        for accent, share in shares.items()
        if accent != _JUDGED_FIRST
    ]
    return [
        Outcome(
            f"dialect.{_JUDGED_FIRST}",
            f"{_JUDGED_FIRST}: sentences nearer to the dialect than to the default",
            shares[_JUDGED_FIRST],
            at_least(_NEARER_SHARE),
        ),
        Outcome(
            "dialect.others",
            f"the worst of the best {_MORE_DIALECTS} other dialects",
            others[_MORE_DIALECTS - 1],
            at_least(_NEARER_SHARE),
        ),
        *outcomes,
    ]


def _share(examination: Examination, accent: str) -> float:
    preset = read_instructions()[f"accent:{accent}"].family
    points, num_telling = 0.0, 0
    for seed, text in enumerate(examination.sentences):
        dialect = examination.originals.phones(f"accent:{accent}", text)
        default = examination.originals.phones("normal", text)
        if dialect == default:
            continue
        said = phones_of(examination.chain.tokens(text, preset, seed), shipped_pairs())
        to_dialect, to_default = edit_distance(said, dialect), edit_distance(said, default)
        points += 1.0 if to_dialect < to_default else 0.5 * (to_dialect == to_default)
        num_telling += 1
    return points / num_telling if num_telling else float("nan")
