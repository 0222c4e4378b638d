"""What every measure is given: the model, the synthesizers it learned from, the sentences, and who judges."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from training.corpus.speakers import NAMED_TIMBRES, STRANGER
from training.corpus.utterance import FloatArray
from training.judging.chain import Chain, Said, Wanted
from training.judging.originals import Clip, Originals
from training.judging.recognizer import Recognizer, word_error_rate

# Whose prompts are used: the one that no training heard, then the two trained most.
PROMPTS = (STRANGER, *NAMED_TIMBRES)


class NotMeasured(Exception):
    """A measure that cannot be taken here, in a sentence that says why and what to do."""


@dataclass(frozen=True, slots=True, eq=False)
class Examination:
    """``sentences`` are unseen ones; ``judge`` is the file of a speaker encoder that did not train the model.

    ``few`` is how many of the things a measure takes many of (speakers, wishes' sentences) are enough.
    """

    chain: Chain
    originals: Originals
    recognizer: Recognizer
    sentences: tuple[str, ...]
    judge: Path | None = None
    few: int = 12

    def spoken(self, speaker: str) -> list[Said]:
        """Every sentence in the voice of that prompt, as the app speaks it."""
        clip = self.originals.clip(speaker)
        return [self.said(clip, text, seed) for seed, text in enumerate(self.sentences)]

    def said(self, clip: Clip, text: str, seed: int) -> Said:
        return self.chain.say(Wanted(text, clip, seed=seed))

    def original_error_rate(self, speaker: str) -> float:
        """Of the synthesizer's own speech."""
        return self.error_rate([self.originals.say(speaker, text).samples for text in self.sentences])

    def error_rate(self, sounds: list[FloatArray]) -> float:
        """Of ``sounds``, one for each sentence."""
        return word_error_rate([self.recognizer.words(sound) for sound in sounds], self.sentences)


def short_name(speaker: str) -> str:
    """flite-rms@1.00 is rms."""
    return speaker.partition("@")[0].removeprefix("flite-").removeprefix("espeak-")
