"""Inputs of all measures: the model, the synthesizers of its corpus, the sentences, and the speaker encoder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from training.corpus.speakers import NAMED_TIMBRES, STRANGER
from training.corpus.utterance import FloatArray
from training.judging.chain import Chain, Said, Wanted
from training.judging.originals import Clip, Originals
from training.judging.recognizer import Recognizer, word_error_rate

# Speakers of the prompts: the one that is in no training set, then the two with the most training data.
PROMPTS = (STRANGER, *NAMED_TIMBRES)


class NotMeasured(Exception):
    """A measurement is not possible here. The message contains the reason and the remedy."""


@dataclass(frozen=True, slots=True, eq=False)
class Examination:
    """Inputs of an evaluation.

    ``sentences`` were not used in training. ``judge`` is the file of a speaker encoder that was not used in training
    the model. ``few`` is the number of speakers or sentences for measures that would otherwise take long.
    """

    chain: Chain
    originals: Originals
    recognizer: Recognizer
    sentences: tuple[str, ...]
    judge: Path | None = None
    few: int = 12

    def spoken(self, speaker: str) -> list[Said]:
        """Synthesize every sentence in the voice of the prompt, as the app does."""
        clip = self.originals.clip(speaker)
        return [self.said(clip, text, seed) for seed, text in enumerate(self.sentences)]

    def said(self, clip: Clip, text: str, seed: int) -> Said:
        return self.chain.say(Wanted(text, clip, seed=seed))

    def original_error_rate(self, speaker: str) -> float:
        """Return the word error rate of the synthesizer's speech."""
        return self.error_rate([self.originals.say(speaker, text).samples for text in self.sentences])

    def error_rate(self, sounds: list[FloatArray]) -> float:
        """Return the word error rate of ``sounds``, one for each sentence."""
        return word_error_rate([self.recognizer.words(sound) for sound in sounds], self.sentences)


def short_name(speaker: str) -> str:
    """For example, flite-rms@1.00 becomes rms."""
    return speaker.partition("@")[0].removeprefix("flite-").removeprefix("espeak-")
