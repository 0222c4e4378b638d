"""Faults of the text, from the alignment of the language model: skipped, repeated, wrong and additional speech.

Decision: each word gets a few measures that do not depend on the model (attention to the word, duration relative to its
length and to the pace of the take, jumps backwards), and two logistic functions turn them into confidences. They were
fitted to takes of studio-mini in which words were dropped and repeated on purpose, with voices and sentences that the
measurement in ``packaging/measure.py take-checks`` does not use. Words of one syllable that are dropped or repeated often
leave no trace in the attention; only a recogniser finds those.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from studio.pipeline.request import SentenceEvidence
from studio.take_checks.alignment import AlignedSegment, aligned_segments
from studio.take_checks.confidence import logistic, odds, ramp
from studio.take_checks.echo import best_echo
from studio.take_checks.findings import TextFindings
from studio.take_checks.records import Problem, ProblemKind, WordTime
from studio.take_checks.sound import FRAME_SECONDS, BoolArray, Sound, runs
from studio.take_checks.units import is_character
from studio.take_checks.words import Word, split_words, written_words

# Heads that follow the text attend to the part whose speech begins one token later.
_LEAD_TOKENS = 1.0
# A word border within this distance of a silence is the border of the silence.
_NEAR_SILENCE_SECONDS = 0.08
_MIN_SILENCE_FRAMES = 6
# Expected duration of a word, in the units of its letters. The last word before punctuation is longer.
_EXTRA_LETTERS, _FINAL_LETTERS = 1.5, 2.5
# A character of a script without spaces takes about as long to speak as this many letters.
_LETTERS_OF_SYLLABLE = 4.0
# Backward jumps of the attention in pieces. In 90 % of good takes, at most 4 tokens are this far behind.
_BEHIND_PIECES = 1.5
_STRAY_SECONDS, _CERTAIN_STRAY_SECONDS = 0.45, 0.8
_JOINED_STRAY_TOKENS = 4
# Share of tokens in a sentence that differs from its text, and mean attention to its words (0.92 and more in good
# takes).
_WRONG_SHARE, _CERTAIN_WRONG_SHARE = 0.4, 0.55
_WRONG_COVERAGE, _CERTAIN_WRONG_COVERAGE = 0.72, 0.6
# Words whose duration alone makes a repetition improbable are not compared with themselves. The sound decides with this
# weight; a score of 0.7 is reached somewhere in 5 % of good takes, but rarely at a word that is too long.
_MIN_REPEATED_SCORE = -2.2
_ECHO_WEIGHT, _ECHO_MIDDLE = 10.0, 0.75
_AROUND_SECONDS = 0.5
# Less certain problems are not reported; together with a recogniser, they may count.
_MIN_CONFIDENCE = 0.2


@dataclass(frozen=True, slots=True)
class _WordMeasures:
    segment: AlignedSegment
    coverage: float  # mean attention to its pieces, by letters
    num_sounding: int
    ratio: float  # number of sounding tokens relative to the expected number
    excess: float  # their difference
    neighbours_ratio: float  # the same ratio with both neighbours
    num_letters: float
    is_final: bool

    @property
    def missing(self) -> float:
        """Confidence that the word is missing."""
        return logistic(
            2.1
            - 5.3 * self.coverage
            - 1.8 * max(0.0, self.coverage - 0.75)
            - 1.8 * math.log(self.ratio + 0.1)
            - 3.2 * math.log(self.neighbours_ratio)
            - 0.06 * self.num_letters
        )

    @property
    def repeated_score(self) -> float:
        """Logarithm of the odds that the word, or one beside it, is repeated, by its duration alone."""
        return (
            -3.4
            + 1.2 * math.log(self.ratio + 0.1)
            + 0.49 * self.excess
            - 0.03 * self.num_letters
            - 0.9 * self.is_final
            + 0.9 * math.log(self.neighbours_ratio)
        )


def check_text(text: str, evidence: Sequence[SentenceEvidence], sound: Sound) -> TextFindings:
    """Compare the alignment of a take with its text. Without an alignment, there are no findings."""
    written = split_words(text)
    sentences = [(each, aligned_segments(each)) for each in evidence]
    if not written or not any(segments for _, segments in sentences):
        return TextFindings()
    spoken = [word for each in evidence for word in split_words(each.spoken_text)]
    owners = written_words(written, spoken)
    problems: list[Problem] = []
    times: dict[int, tuple[float, float]] = {}
    offset = 0
    for each, segments in sentences:
        words = split_words(each.spoken_text)
        if segments:
            sentence = _Sentence(
                each, segments, sound, [written[owner] for owner in owners[offset : offset + len(words)]]
            )
            problems += sentence.problems()
            for index, place in sentence.word_times():
                owner = owners[offset + index]
                start, end = times.get(owner, place)
                times[owner] = (min(start, place[0]), max(end, place[1]))
        offset += len(words)
    word_times = tuple(
        WordTime(written[owner].text, start, end, written[owner].start, written[owner].end)
        for owner, (start, end) in sorted(times.items())
    )
    return TextFindings(problems=tuple(problems), words=word_times)


class _Sentence:
    """One sentence with its alignment. ``written`` contains the written word of each spoken one."""

    def __init__(
        self, evidence: SentenceEvidence, segments: Sequence[AlignedSegment], sound: Sound, written: Sequence[Word]
    ) -> None:
        self._evidence = evidence
        self._segments = segments
        self._sound = sound
        self._written = written
        self._words = [segment for segment in segments if segment.word is not None]
        self._is_sounding = self._sounding_tokens()
        position = np.asarray(evidence.text_position)
        # Attention during silence is ignored.
        furthest = np.maximum.accumulate(np.where(self._is_sounding, position, 0.0))
        self._fall = np.where(self._is_sounding, np.maximum(0.0, furthest - position), 0.0)

    def problems(self) -> list[Problem]:
        if not self._words:
            return []
        measures = self._measures()
        coverage = float(np.mean([each.coverage for each in measures]))
        is_behind = self._fall > _BEHIND_PIECES
        share = float(is_behind.sum()) / max(1, int(self._is_sounding.sum()))
        wrong = max(
            ramp(share, _WRONG_SHARE, _CERTAIN_WRONG_SHARE), ramp(-coverage, -_WRONG_COVERAGE, -_CERTAIN_WRONG_COVERAGE)
        )
        if wrong >= 0.5 and len(self._words) > 1:
            return [self._whole(ProblemKind.WRONG_WORDS, wrong)]
        strays = self._strays(is_behind)
        found = strays + self._cuts(measures)
        for index, each in enumerate(measures):
            missing, place = each.missing, self._place(index)
            if missing >= _MIN_CONFIDENCE and not _is_explained(place, found):
                found.append(self._problem(ProblemKind.MISSING_WORDS, place, missing, index, index))
            if each.repeated_score >= _MIN_REPEATED_SCORE and not self._is_repeated_in_text(index):
                repeated, place = self._repetition(each, index)
                if repeated >= _MIN_CONFIDENCE and not _is_explained(place, found):
                    found.append(self._problem(ProblemKind.REPEATED_WORDS, place, repeated, index, index))
        return _without_neighbours(found)

    def word_times(self) -> list[tuple[int, tuple[float, float]]]:
        """Return the index and place of each spoken word that has tokens."""
        return [(index, self._place(index)) for index, segment in enumerate(self._words) if segment.num_tokens]

    def _place(self, index: int) -> tuple[float, float]:
        segment = self._words[index]
        start = self._evidence.seconds_of_token(segment.start_token + _LEAD_TOKENS)
        end = self._evidence.seconds_of_token(segment.end_token + _LEAD_TOKENS)
        if index == 0:
            start = self._evidence.seconds_of_token(segment.start_token)
        for silence_start, silence_end in self._silences:
            if silence_start - _NEAR_SILENCE_SECONDS <= start < silence_end:
                start = silence_end
            if silence_start < end <= silence_end + _NEAR_SILENCE_SECONDS:
                end = silence_start
        start = max(0.0, min(start, self._sound.seconds))
        return start, max(start, min(end, self._sound.seconds))

    @cached_property
    def _silences(self) -> list[tuple[float, float]]:
        return [
            (start * FRAME_SECONDS, end * FRAME_SECONDS)
            for start, end in runs(~self._sound.is_sounding)
            if end - start >= _MIN_SILENCE_FRAMES
        ]

    def _sounding_tokens(self) -> BoolArray:
        """Return whether each token is mostly sound."""
        num_sounding = np.concatenate(([0], np.cumsum(self._sound.is_sounding)))
        borders = [self._evidence.seconds_of_token(each) for each in range(len(self._evidence.text_position) + 1)]
        frames = np.clip(np.round(np.array(borders) / FRAME_SECONDS).astype(int), 0, len(num_sounding) - 1)
        lengths = np.diff(frames)
        sounding: BoolArray = (lengths > 0) & (2 * np.diff(num_sounding[frames]) >= lengths)
        return sounding

    def _measures(self) -> list[_WordMeasures]:
        letters = np.array([_num_letters(segment) for segment in self._words])
        finals = np.array([self._is_final(segment) for segment in self._words])
        lengths = letters + _EXTRA_LETTERS + _FINAL_LETTERS * finals
        counts = np.array(
            [int(self._is_sounding[segment.start_token : segment.end_token].sum()) for segment in self._words],
            np.float64,
        )
        pace = max(0.5, float(counts.sum() / lengths.sum()))
        expected = pace * lengths
        measures = []
        for index, segment in enumerate(self._words):
            around = slice(max(0, index - 1), index + 2)
            measures.append(
                _WordMeasures(
                    segment=segment,
                    coverage=self._coverage(segment),
                    num_sounding=int(counts[index]),
                    ratio=float(counts[index] / expected[index]),
                    excess=float(counts[index] - expected[index]),
                    neighbours_ratio=float((counts[around].sum() + 1.0) / (expected[around].sum() + 1.0)),
                    num_letters=float(letters[index]),
                    is_final=bool(finals[index]),
                )
            )
        return measures

    def _repetition(self, measures: _WordMeasures, index: int) -> tuple[float, tuple[float, float]]:
        """Return the confidence that a word is repeated, by its duration and its sound, and the place."""
        start, end = self._place(index)
        echo = best_echo(self._sound, start - _AROUND_SECONDS, end + _AROUND_SECONDS)
        confidence = logistic(measures.repeated_score + _ECHO_WEIGHT * (echo.score - _ECHO_MIDDLE))
        if echo.score < _ECHO_MIDDLE:
            return confidence, (start, end)
        return confidence, (echo.start_seconds, echo.end_seconds)

    def _is_repeated_in_text(self, index: int) -> bool:
        """Return whether the text itself repeats the word, as "no, no" does."""
        words = [segment.word.text.casefold() for segment in self._words if segment.word]
        return words[index] in words[max(0, index - 1) : index] + words[index + 1 : index + 2]

    def _is_final(self, segment: AlignedSegment) -> bool:
        index = self._segments.index(segment)
        return index + 1 == len(self._segments) or self._segments[index + 1].word is None

    def _coverage(self, segment: AlignedSegment) -> float:
        pieces = slice(segment.first_piece, segment.last_piece + 1)
        weights = [max(1, len(piece.strip())) for piece in self._evidence.text_pieces[pieces]]
        weighted = zip(self._evidence.text_coverage[pieces], weights, strict=True)
        return sum(coverage * weight for coverage, weight in weighted) / sum(weights)

    def _strays(self, is_behind: BoolArray) -> list[Problem]:
        """Return stretches in which the attention has fallen behind: repeated text, or speech without text."""
        joined = is_behind.copy()
        for start, end in runs(~is_behind):
            if start > 0 and end < len(joined) and end - start <= _JOINED_STRAY_TOKENS:
                joined[start:end] = True
        found = []
        last_word = self._words[-1]
        for start, end in runs(joined):
            seconds = int(is_behind[start:end].sum()) * self._evidence.token_seconds
            confidence = ramp(seconds, _STRAY_SECONDS, _CERTAIN_STRAY_SECONDS)
            if confidence < _MIN_CONFIDENCE:
                continue
            furthest = float(np.max(self._evidence.text_position[: start + 1]))
            is_after_end = furthest >= last_word.last_piece - 0.5
            kind = ProblemKind.EXTRA_SPEECH if is_after_end else ProblemKind.REPEATED_WORDS
            place = (
                max(0.0, self._evidence.seconds_of_token(start)),
                max(0.0, min(self._evidence.seconds_of_token(end), self._sound.seconds)),
            )
            index = next(
                (number for number, word in enumerate(self._words) if word.last_piece + 0.5 >= furthest),
                len(self._words) - 1,
            )
            found.append(self._problem(kind, place, confidence, index, index))
        return found

    def _cuts(self, measures: Sequence[_WordMeasures]) -> list[Problem]:
        """Return a start or end that is missing, by attention and sound together."""
        found = []
        sound, evidence = self._sound, self._evidence
        num_pieces = len(evidence.text_pieces)
        last, first = measures[-1], measures[0]
        gap = num_pieces - 1 - max(evidence.text_position)
        is_last_sentence = evidence.to_seconds >= sound.seconds - 0.1
        if is_last_sentence and len(sound.levels) > 3:
            level = float(sound.levels[-3:].max()) - sound.loud_dbfs
            # The end of the text is not reached, and the sound has not faded.
            confidence = 0.5 * ramp(gap, 0.7, 1.2) + 0.6 * ramp(level, -35.0, -15.0)
            if confidence >= _MIN_CONFIDENCE and gap > 0.5:
                start, end = self._place(len(measures) - 1)
                place = (min(start, sound.seconds - 0.1), max(end, sound.seconds))
                found.append(self._problem(ProblemKind.CUT_END, place, min(confidence, 0.99), -1, -1))
            elif last.missing >= 0.5:
                found.append(self._problem(ProblemKind.CUT_END, self._place(len(measures) - 1), last.missing, -1, -1))
        if evidence.from_seconds <= 0.05 and len(sound.levels) > 3:
            level = float(sound.levels[:3].max()) - sound.loud_dbfs
            # With some voices, complete takes begin at full level too, so the sound only adds to the attention.
            confidence = logistic(odds(first.missing) + 0.9 * ramp(level, -18.0, -10.0))
            if confidence >= 0.5:
                start, end = self._place(0)
                found.append(self._problem(ProblemKind.CUT_START, (0.0, max(end, 0.2)), min(confidence, 0.99), 0, 0))
        return found

    def _whole(self, kind: ProblemKind, confidence: float) -> Problem:
        start, end = max(0.0, self._evidence.from_seconds), min(self._evidence.to_seconds, self._sound.seconds)
        return self._problem(kind, (start, end), confidence, 0, len(self._written) - 1)

    def _problem(
        self, kind: ProblemKind, place: tuple[float, float], confidence: float, first: int, last: int
    ) -> Problem:
        if not self._written:
            return Problem(kind, *place, confidence=confidence)
        start, end = self._written[first].start, self._written[last].end
        words = " ".join(dict.fromkeys(word.text for word in self._written[first : last + 1 or None]))
        return Problem(kind, *place, text=words, confidence=confidence, text_start=start, text_end=end)


def _is_explained(place: tuple[float, float], found: Sequence[Problem]) -> bool:
    """Return whether a certain problem lies at the same place, which disturbs the attention."""
    return any(
        place[0] < problem.to_seconds and problem.from_seconds < place[1]
        for problem in found
        if problem.confidence >= 0.5
    )


def _num_letters(segment: AlignedSegment) -> float:
    assert segment.word is not None
    text = segment.word.text
    return _LETTERS_OF_SYLLABLE if is_character(text) else float(len(text))


def _without_neighbours(problems: Sequence[Problem]) -> list[Problem]:
    """Keep only the most certain of consecutive problems of one kind, which have one cause."""
    kept: list[Problem] = []
    for problem in sorted(problems, key=lambda each: -each.confidence):
        if not any(other.kind is problem.kind and problem.is_near(other, 0.15) for other in kept):
            kept.append(problem)
    return kept
