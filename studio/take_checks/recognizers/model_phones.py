"""The recogniser of a model folder, ``recognizer.onnx``: the phones of a take, compared with those of its text.

The network gives the probability of each phone for every 20 ms. ``phone_paths.py`` finds the words; the likelihood
ratio of a path with a fault and the path without one determines the confidence. Pronunciations come from the model
(``respellings.txt``, and for Chinese the syllables in ``recognizer.json``).

Decision: it is used for takes of its own model only, and pocketsphinx for other recordings. Reason: of 98 good takes of
studio-mini (tuning sentences and voices, 28 November 2026), it called 97 good and pocketsphinx 81; of 111 with planted
faults, it found 108 and pocketsphinx 110. But it reported faults in 4 of 11 correct recordings of people, and
pocketsphinx in none.
Decision: no language model. Reason: it would correct the errors that a check looks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from studio.audio.waveform import Waveform
from studio.errors import DamagedModelFile, RecognizerNotFound
from studio.model.onnx_networks import ort_errors
from studio.storage.json_input import parse_json
from studio.take_checks.recognizers.choice import MODEL_RECOGNIZER_FILE, MODEL_SOUNDS_FILE
from studio.take_checks.recognizers.letter_sounds import pronunciation
from studio.take_checks.recognizers.phone_paths import FloatArray, search_long
from studio.take_checks.recognizers.protocol import SAMPLE_RATE, HeardUnit, Recognition, Samples, unrecognized_voice
from studio.take_checks.recognizers.segments import (
    SILENCE,
    SPEECH,
    HeardPath,
    PathSegment,
    fault_probability,
    regions,
    words_in_order,
)
from studio.take_checks.recognizers.session import open_recognizer_session
from studio.take_checks.recognizers.windows import windows
from studio.take_checks.units import UNKNOWN, is_tokens
from studio.text.chinese_reading import syllables
from studio.text.pinyin import HAN, syllables_of_tokens
from studio.text.respellings import RESPELLINGS_FILE, Respellings
from studio.voices.features import whisper_log_mel

FRAME_SECONDS = 0.02
_HOP_SAMPLES = 160  # of the features
_STEP_SAMPLES = 4 * _HOP_SAMPLES  # two frames
_MIN_SAMPLES = 1600

# Logarithmic likelihood ratio at which a fault is as probable as a false alarm, and the width of the transition. One
# unclear sound looks like other speech within its word, but not like a word that is skipped or repeated.
_REPEATED, _SKIPPED, _CUT_START, _CUT_END = (4.5, 2.5), (6.0, 2.5), (11.0, 2.5), (6.0, 2.5)
_REMAINS, _OTHER = (14.0, 2.5), (33.0, 4.0)
# Speech with fewer frames for each phone is a remainder of the word rather than all of it, spoken unclearly.
_FRAMES_OF_REMAINS = 1.5
_MIN_PROBABILITY = 0.05
# Mean logarithm of the most probable phone; below this, the network does not know the voice.
_UNRECOGNIZED_SCORE = -1.2


class ModelPhones:
    """See ``Recognizer``. Raise ``DamagedModelFile`` if the folder has no usable network."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._session = open_recognizer_session(folder / MODEL_RECOGNIZER_FILE)
        self._inputs = [each.name for each in self._session.get_inputs()]
        metadata = self._session.get_modelmeta().custom_metadata_map
        pairs = [each.split(":") for each in metadata.get("phones", "").split()]
        self._sounds = _read_sounds(folder / MODEL_SOUNDS_FILE)
        has_sounds = bool(self._sounds.letters) if not pairs else all(len(pair) == 2 for pair in pairs)
        if len(self._inputs) != 2 or not has_sounds:
            raise self._wrong_network()
        # A network for English only lists its phones, with the letter of each.
        self._number_of_phone = {phone: number for number, (_, phone) in enumerate(pairs, 1)}
        self._phone_of_letter = dict(pairs)
        if pairs:
            self._sounds = _Sounds(
                {letter: [number] for number, (letter, _) in enumerate(pairs, 1)}, {}, 1 + len(pairs)
            )
        path = next(folder.glob(f"*/{RESPELLINGS_FILE}"), folder / RESPELLINGS_FILE)
        self._respellings = Respellings.read(path)

    def recognize(self, samples: Samples, expected: Sequence[str], language: str) -> Recognition:  # noqa: ARG002
        if not expected or len(samples) < _MIN_SAMPLES:
            return Recognition(())
        scores = self.log_probabilities(samples)
        if float(scores.max(axis=1).mean()) < _UNRECOGNIZED_SCORE:
            raise unrecognized_voice()
        phones = self.phones(expected)
        paths = search_long(scores, phones)
        path = HeardPath(FRAME_SECONDS)
        for usual, other in regions(paths.strict, paths.free, FRAME_SECONDS):
            ratio = sum(each.score for each in other) - sum(each.score for each in usual)
            probability = fault_probability(ratio, *_limit(usual, other, phones, len(scores)))
            if words_in_order(usual) == words_in_order(other) or probability < _MIN_PROBABILITY:
                path.add(usual)
            else:
                missing = {each.index for each in usual} - {each.index for each in other}
                path.add(other, probability, missing - {SILENCE, SPEECH})
        return path.recognition([UNKNOWN if is_tokens(word) else word for word in expected])

    def transcribe(self, samples: Samples, language: str) -> tuple[HeardUnit, ...]:  # noqa: ARG002
        raise RecognizerNotFound(
            "The recogniser of a model only compares takes with their text.",
            remedy="Install a recogniser. `timbre models list` shows the languages of each.",
        )

    def log_probabilities(self, samples: Samples) -> FloatArray:
        """Return (frames, phones)."""
        parts = []
        for _, part in windows(samples, step_samples=_STEP_SAMPLES):
            num_steps = max(1, len(part) // _STEP_SAMPLES)
            padded = np.pad(part, (0, max(0, _MIN_SAMPLES - len(part))))
            features = whisper_log_mel(Waveform(padded, SAMPLE_RATE))[None]
            length = np.array([features.shape[2]], np.int32)
            try:
                (found,) = self._session.run(None, dict(zip(self._inputs, (features, length), strict=True)))
            except ort_errors.InvalidArgument as error:
                raise self._wrong_network() from error
            if found.ndim != 3 or found.shape[2] != self._sounds.number:
                raise self._wrong_network()
            parts.append(found[0, : 2 * num_steps])
        joined: FloatArray = np.concatenate(parts)
        return joined

    def phones(self, words: Sequence[str]) -> list[list[int]]:
        """Return the numbers of the phones of each of ``words``: words, Chinese characters in order, or tokens."""
        found: list[list[int]] = []
        for is_han, group in groupby(words, key=lambda word: HAN.fullmatch(word) is not None):
            if is_han:
                characters = list(group)
                own = iter(syllables("".join(characters)))
                found += [[phone for _ in each for phone in self._phones_of_syllable(next(own))] for each in characters]
            else:
                found += map(self._phones_of_word, group)
        return found

    def _phones_of_syllable(self, syllable: str) -> list[int]:
        return self._sounds.syllables.get(syllable[:-1], [1])

    def _phones_of_word(self, word: str) -> list[int]:
        if is_tokens(word):
            sounds = [phone for each in syllables_of_tokens(word) for phone in self._sounds.syllables.get(each, ())]
            return sounds or [1]
        letters = self._respellings.of_word.get(word)
        if letters is None and self._respellings.guesser:
            letters = self._respellings.spelled(word)
        known = [number for letter in letters or "" for number in self._sounds.letters.get(letter, ())]
        if known or not self._number_of_phone:
            return known or [1]
        spelled = pronunciation(word or "a", self._lookup).split()
        return [self._number_of_phone[each] for each in spelled if each in self._number_of_phone] or [1]

    def _lookup(self, word: str) -> str | None:
        letters = self._respellings.of_word.get(word)
        return None if letters is None else " ".join(self._phone_of_letter[each] for each in letters)

    @staticmethod
    def _wrong_network() -> DamagedModelFile:
        return DamagedModelFile(
            "{file} does not contain the network that its name indicates.",
            remedy="The folder mixes files of different models: download the model again.",
            file=MODEL_RECOGNIZER_FILE,
        )


@dataclass(frozen=True, slots=True)
class _Sounds:
    """Numbers of the sounds of letters of respellings and of syllables such as "hao", and how many there are."""

    letters: Mapping[str, Sequence[int]]
    syllables: Mapping[str, list[int]]
    number: int


def _read_sounds(path: Path) -> _Sounds:
    try:
        content = parse_json(path.read_text("utf-8"))
        number = int(content["sounds"])
        letters, syllables_of = (
            {str(name): [int(sound) % number for sound in sounds] for name, sounds in content[kind].items()}
            for kind in ("letters", "syllables")
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError):
        return _Sounds({}, {}, 0)
    return _Sounds(letters, syllables_of, number)


def _limit(
    usual: Sequence[PathSegment], other: Sequence[PathSegment], phones: Sequence[Sequence[int]], num_frames: int
) -> tuple[float, float]:
    """Return the limit, and the width of its transition, of the fault by which ``other`` differs from ``usual``."""
    expected, heard = words_in_order(usual), words_in_order(other)
    missing = set(expected) - set(heard)
    speech = [each for each in other if each.index == SPEECH]
    if not speech and set(heard) <= set(expected):
        return _SKIPPED if missing else _REPEATED
    if not missing:
        return _OTHER
    if any(each.end == num_frames for each in speech):
        return _CUT_END
    if any(each.start == 0 for each in speech):
        return _CUT_START
    is_remainder = sum(each.frames for each in speech) < _FRAMES_OF_REMAINS * sum(len(phones[i]) for i in missing)
    return _REMAINS if is_remainder else _OTHER
