"""Measures of the bundled voice against its teacher: quality, words, tones, likeness, bandwidth and speed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from training.corpus.acoustics import f0_of
from training.corpus.texts import test_sentences
from training.corpus.utterance import FloatArray
from training.judging.english_words import Pocketsphinx, word_error_rate
from training.judging.intonation import pitch_correlation
from training.judging.listeners import energy_above_8_khz_db, quality, voice_embedding
from training.judging.outcome import Outcome, at_least, at_most
from training.judging.paragraphs import heard_order, paragraphs
from training.judging.program import Clip, Program
from training.trainers.sound_recognizer import Heard, SoundRecognizer, error_rate, recognize

_MAX_BYTES = 64e6
_LAST_SECONDS = 0.5
_TIMED_SENTENCES = 5

Reading = Callable[[str, Clip], FloatArray]


@dataclass(frozen=True, eq=False)
class Examination:
    """``voices`` are the bundled voices; ``unseen`` are two recordings each of voices that were not in training.

    ``teacher`` reads a text in a bundled voice. ``judge`` is the recogniser of sounds and tones.
    """

    folder: Path
    program: Program
    voices: Sequence[Clip]
    unseen: Sequence[tuple[Clip, Clip]]
    teacher: Reading
    judge: SoundRecognizer
    num_sentences: int
    num_paragraphs: int

    @cached_property
    def sentences(self) -> Mapping[str, tuple[str, ...]]:
        return {language: test_sentences(language)[: self.num_sentences] for language in ("en", "zh")}

    def spoken(self, language: str) -> Iterator[tuple[Clip, list[FloatArray]]]:
        """Yield each bundled voice of ``language`` and what the model says in it."""
        for clip in self.voices:
            if clip.language == language:
                yield clip, [self.program.say(text, clip).samples for text in self.sentences[language]]

    def first_voice(self, language: str) -> Clip:
        return next(clip for clip in self.voices if clip.language == language)

    def original(self, clip: Clip) -> list[FloatArray]:
        return [self.teacher(text, clip) for text in self.sentences[clip.language]]


def qualities(examination: Examination) -> list[Outcome]:
    by_voice = {
        clip.name: [quality(samples) for samples in said]
        for language in ("en", "zh")
        for clip, said in examination.spoken(language)
    }
    medians = {name: float(np.median(values)) for name, values in by_voice.items()}
    lowest = min(medians, key=lambda name: medians[name])
    return [
        Outcome(
            "quality",
            "DNSMOS overall, median over sentences",
            float(np.median(np.concatenate(list(by_voice.values())))),
            at_least(3.1),
        ),
        Outcome("quality.lowest", "DNSMOS overall, lowest voice", medians[lowest], at_least(2.9), lowest),
    ]


def english_words(examination: Examination) -> list[Outcome]:
    recognizer, texts = Pocketsphinx(), examination.sentences["en"]
    outcomes = []
    for clip, said in examination.spoken("en"):
        identified = sum(recognizer.sentence(samples, texts) == index for index, samples in enumerate(said))
        own = word_error_rate([recognizer.words(samples) for samples in said], texts)
        teacher = word_error_rate([recognizer.words(samples) for samples in examination.original(clip)], texts)
        outcomes += [
            _all_identified(clip, identified, len(texts)),
            Outcome(
                f"words.{clip.name}",
                f"open word error rate above the teacher's, {clip.name}",
                own - teacher,
                at_most(0.1),
                f"teacher {teacher:.2f}",
            ),
        ]
    return outcomes


def mandarin_syllables(examination: Examination) -> list[Outcome]:
    outcomes = []
    sounds: list[float] = []
    tones: list[float] = []
    for clip, said in examination.spoken("zh"):
        heard = [recognize(examination.judge, samples) for samples in said]
        wanted = [recognize(examination.judge, samples) for samples in examination.original(clip)]
        identified = sum(_nearest(each, wanted) == index for index, each in enumerate(heard))
        outcomes.append(_all_identified(clip, identified, len(wanted)))
        sounds += [error_rate(one.sounds, other.sounds) for one, other in zip(heard, wanted, strict=True)]
        tones += [error_rate(one.tones, other.tones) for one, other in zip(heard, wanted, strict=True)]
    return [
        *outcomes,
        Outcome("sounds.zh", "Mandarin sounds unlike the teacher's", float(np.mean(sounds)), at_most(0.06)),
        Outcome("tones.zh", "Mandarin tones unlike the teacher's", float(np.mean(tones)), at_most(0.08)),
    ]


def likeness(examination: Examination) -> list[Outcome]:
    """Compare speech in unseen voices with their prompts, and with those of the others."""
    prompts = np.stack([voice_embedding(clip.samples) for clip, _ in examination.unseen])
    others = np.stack([voice_embedding(clip.samples) for _, clip in examination.unseen])
    said = np.stack(
        [
            voice_embedding(
                np.concatenate(
                    [examination.program.say(text, clip).samples for text in examination.sentences[clip.language][:2]]
                )
            )
            for clip, _ in examination.unseen
        ]
    )
    own = float(np.mean((said * prompts).sum(axis=1)))
    halves = float(np.mean((others * prompts).sum(axis=1)))
    nearest = (said @ prompts.T).argmax(axis=1) == np.arange(len(said))
    return [
        Outcome(
            "likeness",
            "similarity to the prompt below the teacher's own, unseen voices",
            halves - own,
            at_most(0.1),
            f"{own:.2f}, teacher {halves:.2f}",
        ),
        Outcome("likeness.nearest", "own prompt nearer than others'", float(nearest.mean()), at_least(0.95)),
    ]


def bandwidth(examination: Examination) -> list[Outcome]:
    differences = [
        float(np.mean([energy_above_8_khz_db(samples) for samples in said]))
        - float(np.mean([energy_above_8_khz_db(samples) for samples in examination.original(clip)]))
        for language in ("en", "zh")
        for clip, said in examination.spoken(language)
    ]
    worst = max(differences, key=abs)
    return [
        Outcome(
            "bandwidth",
            "energy above 8 kHz against the teacher's, worst voice, dB",
            abs(worst),
            at_most(6),
            f"{worst:+.1f}",
        )
    ]


def intonation(examination: Examination) -> list[Outcome]:
    """Report the correlation of the pitch with the teacher's, and how many questions end higher than their median."""
    outcomes = []
    for language in ("en", "zh"):
        correlations = [
            pitch_correlation(own, original)
            for clip, said in examination.spoken(language)
            for own, original in zip(said, examination.original(clip), strict=True)
        ]
        outcomes.append(
            Outcome(
                f"pitch.{language}",
                f"correlation of the pitch with the teacher's, {language}",
                float(np.nanmean(correlations)),
            )
        )
    for language, marks in (("en", "?"), ("zh", "？")):
        rises = [
            _ends_high(samples)
            for _, said in examination.spoken(language)
            for text, samples in zip(examination.sentences[language], said, strict=True)
            if text.endswith(marks)
        ]
        if rises:
            outcomes.append(Outcome(f"questions.{language}", f"questions that rise, {language}", float(np.mean(rises))))
    return outcomes


def whole_paragraphs(examination: Examination) -> list[Outcome]:
    """Count the paragraphs in which a sentence is lost, repeated or unrecognisable."""
    outcomes = []
    for language in ("en", "zh"):
        clip = examination.first_voice(language)
        texts = examination.sentences[language]
        wanted = [recognize(examination.judge, samples).sounds for samples in examination.original(clip)]
        failed = []
        for number, paragraph in enumerate(paragraphs(texts, language, examination.num_paragraphs), 1):
            heard = recognize(examination.judge, examination.program.say(paragraph.text, clip).samples).sounds
            order = heard_order(heard, [wanted[index] for index in paragraph.sentences])
            if order != tuple(range(len(paragraph.sentences))):
                failed.append(number)
        outcomes.append(
            Outcome(
                f"paragraphs.{language}",
                f"paragraphs of {examination.num_paragraphs} with a lost or repeated sentence, {clip.name}",
                len(failed),
                at_most(0),
                ", ".join(map(str, failed)),
            )
        )
    return outcomes


def arriving_text(examination: Examination) -> list[Outcome]:
    """Compare sentences spoken while they are typed with whole ones, in one voice of each language."""
    outcomes = []
    for language in ("en", "zh"):
        clip = examination.first_voice(language)
        texts = examination.sentences[language]
        said = [examination.program.say_arriving(text, clip) for text in texts]
        whole = [examination.program.say(text, clip).samples for text in texts]
        loss = _errors(examination, clip, [each.samples for each in said]) - _errors(examination, clip, whole)
        early = [each.first_audio_seconds < each.written_seconds for each in said]
        outcomes += [
            Outcome(
                f"arriving.{language}",
                f"error rate of arriving text above whole sentences, {clip.name}",
                loss,
                at_most(0.05),
            ),
            Outcome(
                f"arriving.{language}.early",
                f"arriving sentences that are heard before their last word arrives, {clip.name}",
                float(np.mean(early)),
                at_least(1.0),
            ),
        ]
    return outcomes


def _errors(examination: Examination, clip: Clip, said: Sequence[FloatArray]) -> float:
    """Return the error rate of English words or Mandarin sounds."""
    if clip.language == "en":
        recognizer = Pocketsphinx()
        return word_error_rate([recognizer.words(samples) for samples in said], examination.sentences["en"])
    wanted = [recognize(examination.judge, samples).sounds for samples in examination.original(clip)]
    heard = [recognize(examination.judge, samples).sounds for samples in said]
    return float(np.mean([error_rate(one, other) for one, other in zip(heard, wanted, strict=True)]))


def size_and_speed(examination: Examination) -> list[Outcome]:
    """Speeds are valid only if no other program runs."""
    clip = examination.voices[0]
    said = [
        examination.program.say(text, clip) for text in examination.sentences[clip.language][1 : 1 + _TIMED_SENTENCES]
    ]
    num_bytes = sum(path.stat().st_size for path in examination.folder.rglob("*") if path.is_file())
    return [
        Outcome("size", "size of the folder, MB", num_bytes / 1e6, at_most(_MAX_BYTES / 1e6)),
        Outcome(
            "real_time_factor",
            "real-time factor, streaming",
            float(np.median([each.real_time_factor for each in said])),
            at_most(0.5),
        ),
        Outcome(
            "first_audio",
            "seconds to the first audio",
            float(np.median([each.first_audio_seconds for each in said])),
            at_most(0.5),
        ),
    ]


MEASURES: Mapping[str, Callable[[Examination], list[Outcome]]] = {
    "quality": qualities,
    "words": english_words,
    "syllables": mandarin_syllables,
    "likeness": likeness,
    "bandwidth": bandwidth,
    "intonation": intonation,
    "paragraphs": whole_paragraphs,
    "arriving": arriving_text,
    "speed": size_and_speed,
}


def _all_identified(clip: Clip, right: int, number: int) -> Outcome:
    return Outcome(f"identified.{clip.name}", f"sentences identified of {number}, {clip.name}", right, at_least(number))


def _nearest(heard: Heard, wanted: Sequence[Heard]) -> int:
    return int(np.argmin([error_rate(heard.sounds, each.sounds) for each in wanted]))


def _ends_high(samples: FloatArray) -> bool:
    f0_hz = f0_of(samples)
    voiced = np.flatnonzero(f0_hz > 0)
    if not len(voiced):
        return False
    last = voiced[voiced > voiced[-1] - _LAST_SECONDS / 0.02]
    return float(f0_hz[last[len(last) // 2 :]].mean()) > float(np.median(f0_hz[voiced]))
