"""Measures of speed, and of the difference between streamed and whole audio."""

from __future__ import annotations

import numpy as np

from training.corpus.speakers import NAMED_TIMBRES
from training.corpus.tokens import asked_tokens
from training.corpus.utterance import FloatArray
from training.judging.chain import Wanted
from training.judging.examination import Examination
from training.judging.outcome import Outcome, at_most, below

_TIMED_SENTENCES = 5
_SAME = 1e-4
_GRID_TOKENS = 25
_LONGER_THAN_ANY_TOKENS = 40 * _GRID_TOKENS


def speed(examination: Examination) -> list[Outcome]:
    """Return medians over some sentences with a known voice. They are valid only if no other program runs."""
    clip = examination.originals.clip(NAMED_TIMBRES[0])
    examination.chain.say(Wanted(examination.sentences[0], clip))
    texts = [" ".join(examination.sentences[start : start + 2]) for start in range(_TIMED_SENTENCES)]
    said = [examination.chain.say(Wanted(text, clip, seed=1000 + seed)) for seed, text in enumerate(texts)]
    return [
        Outcome(
            "real_time_factor",
            "real-time factor, streaming, cached voice",
            float(np.median([each.real_time_factor for each in said])),
            below(0.7),
        ),
        Outcome(
            "first_audio",
            "seconds to the first audio, cached voice",
            float(np.median([each.first_audio_seconds for each in said])),
            below(1.0),
        ),
    ]


def seams(examination: Examination) -> list[Outcome]:
    """Compare streaming with one run over the same tokens and with the same mask, for all stages and for each stage.

    Rounding errors of the mel change the phase of the pitch, which accumulates over an utterance. The audio therefore
    differs more than the output of each stage.
    """
    sounds, mels, copies = [], [], []
    for speaker in NAMED_TIMBRES:
        clip = examination.originals.clip(speaker)
        whole_hop = examination.chain.first_hop_tokens(clip) + _LONGER_THAN_ANY_TOKENS
        for seed, text in enumerate(examination.sentences[: max(2, examination.few // 4)]):
            streamed = examination.chain.say(Wanted(text, clip, seed=seed)).samples
            whole = examination.chain.say(Wanted(text, clip, seed=seed, first_hop_tokens=whole_hop)).samples
            sounds.append(_difference(streamed, whole))
            utterance = examination.originals.say(speaker, text)
            tokens = asked_tokens(utterance.tokens, utterance.style)
            whole_mel = examination.chain.mel(tokens, clip)
            mels.append(_difference(examination.chain.mel(tokens, clip, tokens_per_piece=_GRID_TOKENS), whole_mel))
            copy = examination.chain.copy(whole_mel)
            copies.append(_difference(examination.chain.copy(whole_mel, frames_per_piece=2 * _GRID_TOKENS), copy))
    description = "streamed against whole: the largest difference of any"
    return [
        Outcome("seams", f"{description} sample", max(sounds), at_most(_SAME), f"{len(sounds)} utterances"),
        Outcome("seams.mel", f"{description} mel value of the same tokens", max(mels), at_most(_SAME), "in nats"),
        Outcome("seams.vocoder", f"{description} sample of the same mel", max(copies), at_most(_SAME)),
    ]


def _difference(one: FloatArray, other: FloatArray) -> float:
    return float(np.abs(one - other).max()) if one.shape == other.shape else float("inf")
