"""Measures of intelligibility: recognised sentences, recognised words, and plausible durations."""

from __future__ import annotations

import numpy as np

from training.corpus.speakers import NAMED_TIMBRES, STRANGER
from training.judging.examination import PROMPTS, Examination, short_name
from training.judging.outcome import Outcome, at_least, at_most

_IDENTIFIED_SHARE = 20 / 24
_MAX_WORD_ERRORS = 0.45
_MIN_DURATION_RATIO, _MAX_DURATION_RATIO = 0.6, 1.6  # relative to the duration of the synthesizer's speech
_IN_TIME_SHARE = 0.95


def identification(examination: Examination) -> list[Outcome]:
    """Return the share of sentences that a recogniser correctly selects from all of them."""
    outcomes = []
    for speaker in PROMPTS:
        heard = [
            examination.recognizer.sentence(said.samples, examination.sentences) for said in examination.spoken(speaker)
        ]
        right = sum(number == answer for answer, number in enumerate(heard))
        is_judged = speaker == STRANGER
        outcomes.append(
            Outcome(
                f"identified.{short_name(speaker)}",
                f"sentences identified, prompt {short_name(speaker)}" + (", not used in training" if is_judged else ""),
                right / len(heard),
                at_least(_IDENTIFIED_SHARE) if is_judged else None,
                f"{right} of {len(heard)}, chance {1 / len(heard):.0%}",
            )
        )
    return outcomes


def words(examination: Examination) -> list[Outcome]:
    """Return the word error rate, compared with that of the synthesizer."""
    outcomes = []
    for speaker in PROMPTS:
        rate = examination.error_rate([said.samples for said in examination.spoken(speaker)])
        own = examination.original_error_rate(speaker)
        outcomes.append(
            Outcome(
                f"words.{short_name(speaker)}",
                f"open word error rate, prompt {short_name(speaker)}",
                rate,
                at_most(_MAX_WORD_ERRORS) if speaker in NAMED_TIMBRES else None,
                f"the synthesizer's own {own:.2f}, aim {own + 0.15:.2f}",
            )
        )
    return outcomes


def durations(examination: Examination) -> list[Outcome]:
    """Compare durations with those of the synthesizer, to detect speech that runs on or is cut off."""
    ratios = np.array(
        [
            said.seconds / examination.originals.say(speaker, text).seconds
            for speaker in PROMPTS
            for said, text in zip(examination.spoken(speaker), examination.sentences, strict=True)
        ]
    )
    in_time = (ratios >= _MIN_DURATION_RATIO) & (ratios <= _MAX_DURATION_RATIO)
    return [
        Outcome(
            "durations",
            f"utterances within {_MIN_DURATION_RATIO} to {_MAX_DURATION_RATIO} of the synthesizer's own duration",
            float(in_time.mean()),
            at_least(_IN_TIME_SHARE),
            f"ratios {ratios.min():.2f} to {ratios.max():.2f}, median {np.median(ratios):.2f}",
        )
    ]
