"""The bundled recogniser for English: pocketsphinx with its own acoustic model and lexicon.

Decision: two passes. The first aligns the text, word by word. Where the audio fits its words badly, a second, free
alignment of these words and a few beside them allows words to be skipped, repeated or replaced by any phones. The
likelihood ratio of both determines the confidence of a difference. Reason: most of a good take needs the first pass only,
and a voice that the acoustic model does not fit well is not full of faults.
Decision: no language model. Reason: it would repair the errors that a check looks for.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

import numpy as np

from studio.errors import RecognizerNotFound
from studio.take_checks.recognizers.letter_sounds import pronunciation
from studio.take_checks.recognizers.protocol import (
    SAMPLE_RATE,
    HeardUnit,
    Recognition,
    Samples,
    unrecognized_voice,
)
from studio.take_checks.recognizers.segments import (
    SILENCE,
    SPEECH,
    HeardPath,
    PathSegment,
    fault_probability,
    regions,
    words_in_order,
)
from studio.take_checks.units import is_tokens

NAME = "pocketsphinx"

_FRAMES_PER_SECOND = 100
_FRAME_SECONDS = 1 / _FRAMES_PER_SECOND
# The level of speech with which the acoustic model estimates the channel reliably.
_PEAK = 0.7
_PHONES = [
    "AA", "AE", "AH", "AO", "AW", "AY", "B", "CH", "D", "DH", "EH", "ER", "EY", "F", "G", "HH", "IH", "IY", "JH",
    "K", "L", "M", "N", "NG", "OW", "OY", "P", "R", "S", "SH", "T", "TH", "UH", "UW", "V", "W", "Y", "Z", "ZH",
]  # fmt: skip
_SILENCES = frozenset({"<sil>", "<s>", "</s>", "[NOISE]", "++NOISE++", "++BREATH++", "++SMACK++", "++COUGH++"})
# Scores are logarithms to this base, divided by this scale.
_SCORE_SCALE = 1024.0

# Wide beams: the alignment must reach its end even where the audio does not contain the text.
_BEAMS = {"beam": 1e-120, "wbeam": 1e-100, "pbeam": 1e-120}
# Scores are relative to the best sound of each frame. Those of different grammars can be compared if that is the best of
# all sounds of the language (``compallsen``), not of those that the grammar allows.
_GRAMMAR = {"lm": None, "lw": 1.0, "wip": 1.0, "bestpath": False, "compallsen": True, "topn": 2}
# Probabilities of the free alignment.
_SKIP, _REPEAT, _FREE_SPEECH, _FREE_PHONE = 1e-10, 1e-10, 1e-8, 1e-7
_MAX_SKIP, _MAX_REPEAT = 8, 12
# Probability of a repeated word in the first pass.
_REPEAT_WORD = 1e-4
_MAX_WINDOW_WORDS = 60
# The second pass includes this many words on both sides of a word that fits badly.
_CONTEXT_WORDS = 2

# A word or a silence is suspicious if its score falls short of the usual score of the take by this much in total.
# Takes of the bundled voices have a median of -3 to -5.7 for each frame; aligned with another text, -7 to -11.
_SHORTFALL = 15.0
_USUAL_SPREAD = 2.0
_WORST_USUAL = -7.0
# Logarithmic likelihood ratio at which a difference is as probable as a false alarm, and the width of the transition.
_RATIO_MIDDLE, _RATIO_WIDTH = 35.0, 7.0
# The same two values for words that are only repeated. Of 61 good takes of the bundled voices, the first pass aligns no word twice;
# of 30 with a repeated word 29, with a ratio of 24 to 76 for "the" and of 67 or more for longer words.
_REPEATED_MIDDLE, _REPEATED_WIDTH = 11.0, 3.0
# In voices that the acoustic model fits less well, it also hears correct words as two shorter ones: the first number is
# the median score below which the ratio has to be greater, the second one by how much for each unit, and the third one
# is the maximum.
_REPEATED_FIT, _REPEATED_SLOPE, _MAX_REPEATED_MIDDLE = -5.0, 20.0, 28.0
_MIN_FREE_FRAME_COST, _MAX_FREE_FRAME_COST, _FREE_OFFSET = 1.5, 3.5, -2.5
# The bundled clips of eSpeak's voices have -5.9 and -6.3, takes of all bundled voices -2 to -5.
_UNRECOGNIZED_SCORE = -5.7
_MIN_PROBABILITY = 0.05
# If not even wide beams reach the end of the text, the audio is another text, or hardly any speech.
_UNALIGNED_PROBABILITY = 0.97


class PocketsphinxEnglish:
    """See ``Recognizer``. Raise ``RecognizerNotFound`` if pocketsphinx is not installed."""

    name = NAME

    def __init__(self) -> None:
        self._strict = _open_decoder(**_GRAMMAR, **_BEAMS)
        self._searches = itertools.count()

    @cached_property
    def _free(self) -> Any:
        # It uses the channel estimate of the first pass, because its windows are too short for one.
        decoder = _open_decoder(**_GRAMMAR, cmn="live")
        for number, phone in enumerate(_PHONES):
            decoder.add_word(f"[{phone}]", phone, number == len(_PHONES) - 1)
        return decoder

    @cached_property
    def _dictation(self) -> Any:
        return _open_decoder()

    def recognize(self, samples: Samples, expected: Sequence[str], language: str) -> Recognition:  # noqa: ARG002
        if not expected or not len(samples):
            return Recognition(())
        samples = _at_usual_level(samples)
        whole = _Window(0, len(expected), 0, len(samples) * _FRAMES_PER_SECOND // SAMPLE_RATE + 1, ())
        repeating = self._aligned(samples, expected, whole, may_repeat=True)
        strict = self._aligned(samples, expected, whole) if _repeats(repeating) else repeating
        suspicious = _suspicious(repeating)
        path = HeardPath(_FRAME_SECONDS)
        for window in _windows(strict, whole):
            for part in _parts(window, suspicious):
                other = [each for each in repeating if part.start <= each.start < part.stop]
                if any(part.first <= index < part.end for index in suspicious):
                    free = self._freely_aligned(samples, expected, part)
                    if _is_understood(free) or (
                        part != window and _is_understood(self._freely_aligned(samples, expected, window))
                    ):
                        other = free
                    elif not _repeats(other):  # a repetition is heard in every voice
                        raise unrecognized_voice()
                _merge(part, other, path)
        return path.recognition(expected)

    def transcribe(self, samples: Samples, language: str) -> tuple[HeardUnit, ...]:  # noqa: ARG002
        decoder = self._dictation
        _decode(decoder, _at_usual_level(samples))
        return tuple(
            HeardUnit(_plain(each.word), each.start_frame * _FRAME_SECONDS, (each.end_frame + 1) * _FRAME_SECONDS,
                      max(0.0, min(1.0, each.prob)))
            for each in decoder.seg() or ()
            if each.word not in _SILENCES and not each.word.startswith(("<", "["))
        )  # fmt: skip

    def _aligned(
        self, samples: Samples, expected: Sequence[str], window: _Window, *, may_repeat: bool = False
    ) -> list[PathSegment]:
        """Return the alignment of all words of a window, or an empty list if the audio is too short for them.

        If they ``may_repeat``, words that are said twice are aligned twice.
        """
        words = self._words(self._strict, expected[window.first : window.end])
        links = [(index, index + 1, 1.0, word) for index, word in enumerate(words)]
        if may_repeat:
            links += [(index + 1, index + 1, _REPEAT_WORD, word) for index, word in enumerate(words)]
        return self._decoded(self._strict, samples, window, links)

    def _freely_aligned(self, samples: Samples, expected: Sequence[str], window: _Window) -> list[PathSegment]:
        """Return the alignment of a window in which words can be skipped, repeated or replaced."""
        words = self._words(self._free, expected[window.first : window.end])
        length = len(words)
        links: list[tuple[Any, ...]] = [(index, index + 1, 1.0, word) for index, word in enumerate(words)]
        links += [(index + 1, index + 1, _REPEAT_WORD, word) for index, word in enumerate(words)]
        for earlier, later in itertools.combinations(range(length + 1), 2):
            if later - earlier <= _MAX_SKIP or earlier == 0 or later == length:
                links.append((earlier, later, _SKIP))
            if later - earlier <= _MAX_REPEAT:
                links.append((later, earlier, _REPEAT))
        for state in range(length + 1):
            free = length + 1 + state
            links += [(state, free, _FREE_SPEECH), (free, state, 1.0)]
            links += [(free, free, _FREE_PHONE, f"[{phone}]") for phone in _PHONES]
        return self._decoded(self._free, samples, window, links, cmn=self._strict.get_cmn(False))

    def _decoded(
        self, decoder: Any, samples: Samples, window: _Window, links: list[tuple[Any, ...]], *, cmn: str | None = None
    ) -> list[PathSegment]:
        """Decode a window with a grammar. The first links are the words."""
        length = window.end - window.first
        # A search is freed when another one of the same name is added, which must not be the active one.
        name = f"search {next(self._searches) % 2}"
        decoder.add_fsg(name, decoder.create_fsg(name, 0, length, links))
        decoder.activate_search(name)
        start, stop = (frame * SAMPLE_RATE // _FRAMES_PER_SECOND for frame in (window.start, window.stop))
        _decode(decoder, samples[start:stop], cmn=cmn)
        heard = [each for each in decoder.seg() or () if each.word != "(NULL)"]
        order = _indices([_plain(each.word) for each in heard], [_plain(link[3]) for link in links[:length]])
        return [
            PathSegment(
                index + window.first if index >= 0 else index,
                each.start_frame + window.start,
                each.end_frame + 1 + window.start,
                _SCORE_SCALE * math.log(max(each.ascore, 1e-300)),
            )
            for index, each in zip(order, heard, strict=True)
        ]

    def _words(self, decoder: Any, expected: Sequence[str]) -> list[str]:
        """Return the entries of the lexicon for the ``expected`` words; missing ones are added."""
        lookup: Callable[[str], str | None] = decoder.lookup_word
        words = []
        for text in expected:
            word = "a" if not text or is_tokens(text) else text  # an unknown sound
            if lookup(word) is None:
                phones = pronunciation(word, lookup)
                word = re.sub(r"[\s()\[\]<>]", "", word) or "a"
                if lookup(word) is None:
                    decoder.add_word(word, phones, True)
            words.append(word)
        return words


@dataclass(frozen=True, slots=True)
class _Window:
    """Consecutive expected words, and the part of the audio that the first pass aligned with them."""

    first: int
    end: int
    start: int  # frames
    stop: int
    segments: tuple[PathSegment, ...]


def _open_decoder(**settings: object) -> Any:
    try:
        from pocketsphinx import Decoder  # noqa: PLC0415 - an optional library on some platforms
    except ImportError as error:
        raise RecognizerNotFound(
            "The recogniser for English is not installed.",
            remedy="Install it with `pip install pocketsphinx`, or install another recogniser (`timbre models list`).",
        ) from error
    # By default, every recording is recognised independently, without the channel estimate of the previous one.
    return Decoder(**{"samprate": float(SAMPLE_RATE), "loglevel": "FATAL", "cmn": "batch", **settings})


def _at_usual_level(samples: Samples) -> Samples:
    scaled: Samples = samples * np.float32(_PEAK / max(1e-6, float(np.abs(samples).max(initial=0.0))))
    return scaled


def _decode(decoder: Any, samples: Samples, *, cmn: str | None = None) -> None:
    decoder.reinit_feat()  # otherwise noise removal begins with the noise of the previous recording
    if cmn is not None:
        decoder.set_cmn(cmn)
    decoder.start_utt()
    decoder.process_raw(np.round(32_767.0 * samples).astype(np.int16).tobytes(), full_utt=True)
    decoder.end_utt()


def _plain(word: str) -> str:
    """Return ``word`` without the number of its pronunciation."""
    return re.sub(r"\(\d+\)\Z", "", word)


def _indices(heard: list[str], words: list[str]) -> list[int]:
    """Return the index of the expected word of each heard segment.

    The path through the grammar is not reported. The cheapest path with the same words has the fewest skips and
    repetitions.
    """
    places: dict[str, list[int]] = {}
    for index, word in enumerate(words):
        places.setdefault(word, []).append(index)
    best: dict[int, tuple[float, tuple[int, ...]]] = {-1: (0.0, ())}
    spoken = [word for word in heard if word in places]
    for word in spoken:
        best = {
            index: min(
                ((cost + _jump(index - previous), (*path, index)) for previous, (cost, path) in best.items()),
                key=lambda each: each[0],
            )
            for index in places[word]
        }
    order = iter(min(((cost + _jump(len(words) - last), path) for last, (cost, path) in best.items()))[1])
    return [
        next(order) if word in places else SPEECH if word.startswith("[") and word not in _SILENCES else SILENCE
        for word in heard
    ]


def _jump(step: int) -> float:
    """Return the cost of a step in the text; 1 is the next word."""
    return 0.0 if step == 1 else 1.0 + 0.01 * abs(step - 1)


def _median_score(segments: Sequence[PathSegment]) -> float:
    """Return the median of the words' scores for each frame."""
    scores = [each.score / each.frames for each in segments if each.index >= 0]
    return median(scores) if scores else _WORST_USUAL


def _usual(segments: Sequence[PathSegment]) -> float:
    """Return the score for each frame below which a word of this take is suspicious."""
    return max(_WORST_USUAL, _median_score(segments) - _USUAL_SPREAD)


def _suspicious(segments: Sequence[PathSegment]) -> set[int]:
    """Return the expected words that fit badly, and those beside a supposed silence that contains sound.

    If none is aligned, return all.
    """
    if not segments:
        return {0}
    usual = _usual(segments)
    found: set[int] = set()
    last = 0
    for each in segments:
        last = max(last, each.index)
        if each.score - usual * each.frames < -_SHORTFALL:
            found.add(last if each.index < 0 else each.index)
    return found


def _windows(aligned: Sequence[PathSegment], whole: _Window) -> list[_Window]:
    """Return windows of at most about 60 words that end in silence."""
    if not aligned:
        return [whole]
    windows: list[_Window] = []
    held: list[PathSegment] = []
    first = 0
    for each in aligned:
        held.append(each)
        num_words = sum(segment.index >= 0 for segment in held)
        if each.index == SILENCE and num_words >= _MAX_WINDOW_WORDS:
            windows.append(_Window(first, first + num_words, held[0].start, each.end, tuple(held)))
            first, held = first + num_words, []
    if held:
        windows.append(_Window(first, whole.end, held[0].start, whole.stop, tuple(held)))
    return windows


def _parts(window: _Window, suspicious: set[int]) -> list[_Window]:
    """Divide a window into parts with and without ``suspicious`` words, which include words beside these."""
    doubtful = {
        index
        for middle in suspicious
        for index in range(middle - _CONTEXT_WORDS, middle + _CONTEXT_WORDS + 1)
        if window.first <= index < window.end
    }
    if not window.segments or not doubtful or len(doubtful) == window.end - window.first:
        return [window]
    parts: list[_Window] = []
    held: list[PathSegment] = []
    first = index = window.first
    for each in window.segments:
        if each.index >= 0:
            index = each.index
            if index > first and (index in doubtful) != (index - 1 in doubtful):
                parts.append(_Window(first, index, held[0].start, each.start, tuple(held)))
                first, held = index, []
        held.append(each)
    parts.append(_Window(first, window.end, held[0].start, window.stop, tuple(held)))
    return parts


def _repeats(segments: Sequence[PathSegment]) -> bool:
    words = [each.index for each in segments if each.index >= 0]
    return len(set(words)) < len(words)


def _is_understood(free: Sequence[PathSegment]) -> bool:
    """Return whether freely chosen phones fit the recording."""
    return not free or sum(each.score for each in free) / sum(each.frames for each in free) >= _UNRECOGNIZED_SCORE


def _merge(window: _Window, free: Sequence[PathSegment], path: HeardPath) -> None:
    """Add the segments of ``window`` to ``path``: the free alignment where it is the more probable one."""
    strict = window.segments
    if not free:
        path.add(strict)
        return
    # Free phones always fit better than words, especially in a voice that the acoustic model does not know.
    free_frame_cost = min(_MAX_FREE_FRAME_COST, max(_MIN_FREE_FRAME_COST, _FREE_OFFSET - _median_score(strict)))
    for usual, other in regions(strict, free, _FRAME_SECONDS):
        missing = ({each.index for each in usual} if strict else set(range(window.first, window.end))) - {
            each.index for each in other
        }
        ratio = sum(each.score for each in other) - sum(each.score for each in usual)
        free_frames = sum(each.frames for each in other if each.index == SPEECH)
        ratio -= free_frame_cost * free_frames
        is_repetition = not missing - {SILENCE} and not free_frames
        probability = _UNALIGNED_PROBABILITY
        if strict and is_repetition:
            probability = fault_probability(ratio, _repeated_middle(strict), _REPEATED_WIDTH)
        elif strict:
            probability = fault_probability(ratio, _RATIO_MIDDLE, _RATIO_WIDTH)
        if words_in_order(usual) == words_in_order(other) or probability < _MIN_PROBABILITY:
            path.add(usual)
        else:
            path.add(other, probability, missing - {SILENCE, SPEECH})


def _repeated_middle(segments: Sequence[PathSegment]) -> float:
    """Return the ratio at which a repetition is as probable as a false alarm in a voice with these scores."""
    more = _REPEATED_SLOPE * max(0.0, _REPEATED_FIT - _median_score(segments))
    return min(_MAX_REPEATED_MIDDLE, _REPEATED_MIDDLE + more)
