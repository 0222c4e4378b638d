"""A model that speaks as well, or as badly, as a test wants, and judges that need no synthesizer."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from fakes import fake_corpus

from training.corpus.phones import LABELS, NUMBER_OF_LABEL
from training.corpus.store import Corpus
from training.corpus.tokens import Colour, encode, shipped_pairs
from training.corpus.utterance import FloatArray, IntArray, Utterance
from training.judging.chain import Said, Wanted
from training.judging.examination import PROMPTS, Examination
from training.judging.originals import Clip, write_wave
from training.judging.recognizer import words_of

SENTENCES = ("A red house.", "Six green rivers.", "One blue house and seven rivers.", "Two or three.")
FAST = {"speed.fast": 0.6, "speed.slow": 1.7}


def tokens_of(phones: list[str]) -> IntArray:
    """Two half-frames of each."""
    labels = np.repeat([NUMBER_OF_LABEL[phone] for phone in phones], 2).astype(np.uint8)
    return encode(labels, np.full(len(phones), Colour.MODAL_MID, np.int32), shipped_pairs())


@dataclass
class FakeOriginals:
    """Each sentence is an utterance of the fake corpus; each accent has a vowel of its own."""

    corpus: Corpus
    folder: Path

    def clip(self, speaker: str) -> Clip:
        path = self.folder / f"{speaker}.wav"
        utterance = self.say(speaker, "A prompt.")
        write_wave(path, utterance)
        return Clip(speaker, path, "A prompt.", utterance)

    def say(self, speaker: str, text: str) -> Utterance:
        numbers = self.corpus.indices(speaker=speaker, style="normal")
        return self.corpus[int(numbers[len(text) % len(numbers)])]

    def phones(self, accent: str, text: str) -> list[str]:
        vowel = "ae" if accent == "normal" else LABELS[-1 - sorted(_ACCENTS).index(accent)]
        return [phone for _ in words_of(text) for phone in ("b", vowel, "t")]

    def strangers(self) -> list[str]:
        return [speaker.name for speaker in self.corpus.speakers if speaker.split != "train"]


_ACCENTS = [
    f"accent:{name}" for name in ("scotland", "british", "caribbean", "new-york", "lancashire", "west-midlands")
]


class FakeRecognizer:
    """Knows sounds by their length alone; ``texts`` are what was said in sounds of that many samples."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}

    def sentence(self, samples: FloatArray, sentences: tuple[str, ...]) -> int | None:
        text = self.texts.get(len(samples))
        return sentences.index(text) if text in sentences else None

    def words(self, samples: FloatArray) -> list[str]:
        return words_of(self.texts.get(len(samples), "nothing"))


@dataclass
class FakeChain:
    """Says what the originals say; speed styles change its length, and ``stretch`` all lengths."""

    originals: FakeOriginals
    recognizer: FakeRecognizer
    stretch: float = 1.0
    seam: float = 0.0
    hears_accents: bool = True
    presets: dict[str, str] = field(default_factory=dict)

    def say(self, wanted: Wanted) -> Said:
        samples = self.originals.say(wanted.clip.speaker, wanted.text).samples
        ratio = self.stretch * FAST.get(wanted.preset or "", 1.0)
        places = np.arange(int(len(samples) * ratio)) / ratio
        samples = samples[np.minimum(places.astype(np.int64), len(samples) - 1)]
        # A length of its own for every sentence, for the recogniser to know it by.
        number = SENTENCES.index(wanted.text) if wanted.text in SENTENCES else len(SENTENCES)
        samples = np.concatenate([samples, np.zeros(960 - len(samples) % 960 + number, np.float32)])
        self.recognizer.texts[len(samples)] = wanted.text
        return Said(samples, 0.5, 0.25)

    def first_hop_tokens(self, clip: Clip) -> int:
        return 10

    def tokens(self, text: str, preset: str | None, seed: int = 0) -> IntArray:
        accent = self.presets.get(preset or "", "normal") if self.hears_accents else "normal"
        return tokens_of(self.originals.phones(accent, text))

    def tokens_heard(self, clip: Clip) -> IntArray:
        return clip.utterance.tokens

    def decode(self, tokens: IntArray, clip: Clip) -> FloatArray:
        return np.zeros(960 * len(tokens), np.float32)

    def copy(self, mel: FloatArray, *, frames_per_piece: int | None = None) -> FloatArray:
        return np.full(480 * len(mel), self.seam if frames_per_piece else 0.0, np.float32)

    def mel(self, tokens: IntArray, clip: Clip, *, tokens_per_piece: int | None = None) -> FloatArray:
        return np.full((2 * len(tokens), 80), self.seam if tokens_per_piece else 0.0, np.float32)


def examination(folder: Path, **changes: object) -> Examination:
    originals = FakeOriginals(fake_corpus(folder / "corpus", utterances_per_speaker=4), folder)
    recognizer = FakeRecognizer()
    chain = FakeChain(originals, recognizer)
    assert set(PROMPTS) <= {speaker.name for speaker in originals.corpus.speakers}
    parts = {"chain": chain, "originals": originals, "recognizer": recognizer, "sentences": SENTENCES, "few": 4}
    return Examination(**{**parts, **changes})  # type: ignore[arg-type]
