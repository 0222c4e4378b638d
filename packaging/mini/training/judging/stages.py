"""Measures of each stage alone with ideal input, to find the stage that reduces intelligibility."""

from __future__ import annotations

import numpy as np

from training.corpus.acoustics import mel_of
from training.corpus.effects import active_level_dbfs
from training.corpus.speakers import NAMED_TIMBRES
from training.corpus.tokens import NUM_PAIRS, asked_tokens, phones_of, shipped_pairs
from training.judging.examination import PROMPTS, Examination, short_name
from training.judging.outcome import Outcome, at_most
from training.trainers.speech_lm_validation import edit_distance

_WORSE_THAN_SOURCE = 0.15


def copy_synthesis(examination: Examination) -> list[Outcome]:
    """Measure the vocoder with true mels."""
    outcomes = []
    for speaker in NAMED_TIMBRES:
        originals = [examination.originals.say(speaker, text) for text in examination.sentences]
        copies = [examination.chain.copy(original.mel) for original in originals]
        own = examination.original_error_rate(speaker)
        distance = np.mean(
            [_mel_distance(mel_of(copy), original.mel) for copy, original in zip(copies, originals, strict=True)]
        )
        louder_db = np.mean(
            [
                active_level_dbfs(copy) - active_level_dbfs(original.samples)
                for copy, original in zip(copies, originals, strict=True)
            ]
        )
        outcomes.append(
            Outcome(
                f"copy.{short_name(speaker)}",
                f"vocoder's copies of {short_name(speaker)}: open word error rate",
                examination.error_rate(copies),
                at_most(own + _WORSE_THAN_SOURCE),
                f"the synthesizer's own {own:.2f}; mels {distance:.2f} nats apart, level {louder_db:+.1f} dB",
            )
        )
    return outcomes


def flow(examination: Examination) -> list[Outcome]:
    """Measure flow and vocoder with the tokens of the synthesizer."""
    outcomes = []
    for speaker in PROMPTS:
        clip = examination.originals.clip(speaker)
        originals = [examination.originals.say(speaker, text) for text in examination.sentences]
        sounds = [
            examination.chain.decode(asked_tokens(original.tokens, original.style), clip) for original in originals
        ]
        outcomes.append(
            Outcome(
                f"flow.{short_name(speaker)}",
                f"flow and vocoder from the synthesizer's own tokens, prompt {short_name(speaker)}: open word error rate",
                examination.error_rate(sounds),
                note=f"the synthesizer's own {examination.original_error_rate(speaker):.2f}",
            )
        )
    return outcomes


def tokenizer(examination: Examination) -> list[Outcome]:
    """Compare the speech tokenizer's output for unseen prompts with the synthesizer's tokens."""
    right, errors, num_phones, num_tokens = 0, 0, 0, 0
    for speaker in [*PROMPTS, *examination.originals.strangers()[1 : examination.few]]:
        clip = examination.originals.clip(speaker)
        heard, made = examination.chain.tokens_heard(clip), clip.utterance.tokens
        length = min(len(heard), len(made))
        right += int(np.sum(heard[:length] % NUM_PAIRS == made[:length] % NUM_PAIRS))
        num_tokens += length
        expected = phones_of(made, shipped_pairs())
        errors += edit_distance(phones_of(heard, shipped_pairs()), expected)
        num_phones += len(expected)
    return [
        Outcome(
            "tokenizer",
            "speech tokenizer on unseen prompts: pairs of sounds heard rightly",
            right / max(1, num_tokens),
            note=f"sounds wrong {errors / max(1, num_phones):.2f}",
        )
    ]


def speech_lm(examination: Examination) -> list[Outcome]:
    """Compare the phones of the language model, without prompt speech, with those of the default synthesizer."""
    errors = num_phones = 0
    for seed, text in enumerate(examination.sentences):
        expected = phones_of(examination.originals.say(NAMED_TIMBRES[0], text).tokens, shipped_pairs())
        said = phones_of(examination.chain.tokens(text, None, seed), shipped_pairs())
        errors += edit_distance(said, expected)
        num_phones += len(expected)
    return [
        Outcome(
            "speech_lm",
            "language model alone: wrong sounds, against those of slt",
            errors / max(1, num_phones),
        )
    ]


def _mel_distance(mel: np.ndarray, true_mel: np.ndarray) -> float:
    quietest = -7.0  # quieter differences are hardly audible
    return float(np.abs(np.maximum(mel, quietest) - np.maximum(true_mel, quietest)).mean())
