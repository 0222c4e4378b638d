"""The most probable path of a recording through the phones of a text, with and without faults.

Two graphs are searched at once. In the strict one, all words follow each other, with optional silence between them. In
the free one, words may also be skipped, repeated or replaced by other speech, and the first and last word may be cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.take_checks.recognizers.segments import SILENCE, SPEECH, PathSegment

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

# Logarithmic probabilities in the free graph.
_JUMP, _CUT, _ENTER_SPEECH = -4.0, -3.0, -3.0
# Score of a frame of speech that is not in the text, relative to its most probable phone.
_SPEECH_FRAME = -1.2
# A phone of the text is never less probable than this, because networks are overconfident about unknown sounds.
_MIN_SCORE = -7.0
# Longer recordings are searched in parts, of at most as many words as are spoken in that time.
_MAX_FRAMES, _LATEST_BORDER, _MAX_WORDS = 2000, 1500, 240
_IMPOSSIBLE = np.float32(-1e9)


@dataclass(frozen=True, slots=True)
class Paths:
    strict: tuple[PathSegment, ...]
    free: tuple[PathSegment, ...]


def search(log_probabilities: FloatArray, words: Sequence[Sequence[int]], *, has_end: bool = True) -> Paths:
    """Search the paths of ``log_probabilities`` (frames, phones), of which the first is silence.

    Args:
        words: The phones of each word.
        has_end: Whether the recording contains the end of the text. Otherwise, it may end after any word.
    """
    graph = _Graph(words)
    emissions = np.maximum(log_probabilities, np.float32(_MIN_SCORE))
    speech = log_probabilities[:, 1:].max(axis=1, keepdims=True) + np.float32(_SPEECH_FRAME)
    states = np.concatenate([emissions, speech], axis=1)[:, graph.emission]
    scores = graph.forward(np.concatenate([states, states], axis=1))
    return Paths(
        *(
            _segments(graph.backward(scores, is_free=is_free, has_end=has_end), states, graph)
            for is_free in (False, True)
        )
    )


def search_long(log_probabilities: FloatArray, words: Sequence[Sequence[int]]) -> Paths:
    """Search the paths of a recording of any length, in parts whose borders are words on which both paths agree."""
    strict: list[PathSegment] = []
    free: list[PathSegment] = []
    start = first = 0
    while len(log_probabilities) - start > _MAX_FRAMES and len(words) - first > 1:
        window = log_probabilities[start : start + _MAX_FRAMES]
        found = search(window, words[first : first + _MAX_WORDS], has_end=False)
        word, frame = _border(found)
        strict += _moved([each for each in found.strict if each.end <= frame], first, start)
        free += _moved([each for each in found.free if each.end <= frame], first, start)
        start, first = start + frame, first + word
    if first < len(words):
        found = search(log_probabilities[start:], words[first:])
        strict += _moved(found.strict, first, start)
        free += _moved(found.free, first, start)
    return Paths(tuple(strict), tuple(free))


def _border(found: Paths) -> tuple[int, int]:
    """Return the number of words before the border, and its frame: the end of a word in both paths, if there is one."""
    ends = {(each.index, each.end) for each in found.strict if each.index >= 0}
    common = [each for each in found.free if (each.index, each.end) in ends and each.end <= _LATEST_BORDER]
    last = max(
        common or [each for each in found.strict if each.index >= 0],
        key=lambda each: each.end if each.end <= _LATEST_BORDER else -each.end,
    )
    return last.index + 1, last.end


def _moved(segments: Sequence[PathSegment], words: int, frames: int) -> list[PathSegment]:
    return [
        PathSegment(each.index + words * (each.index >= 0), each.start + frames, each.end + frames, each.score)
        for each in segments
    ]


class _Graph:
    """States: silence and speech before the text; for each word its phones, then silence and speech after it."""

    def __init__(self, words: Sequence[Sequence[int]]) -> None:
        emission: list[int] = [0, -1]
        owner: list[int] = [SILENCE, SPEECH]
        firsts: list[int] = []
        lasts: list[int] = []
        # Up to three predecessors of each state, apart from itself.
        before: list[tuple[int, int, int]] = [(1, -1, -1), (0, -1, -1)]
        for index, phones in enumerate(words):
            first = len(emission)
            ends = (first - 3, first - 2, first - 1) if index else (0, 1, -1)
            firsts.append(first)
            for place, phone in enumerate(phones):
                before.append((first + place - 1, -1, -1) if place else ends)
                emission.append(phone)
                owner.append(index)
            last = len(emission) - 1
            lasts.append(last)
            before += [(last, last + 2, -1), (last, last + 1, -1)]
            emission += [0, -1]
            owner += [SILENCE, SPEECH]
        self.emission = np.array(emission)
        self.owner = np.array(owner)
        self.firsts, self.lasts = np.array(firsts), np.array(lasts)
        self._before = np.array(before).T  # (3, states)
        self._is_speech = self.owner == SPEECH

    def forward(self, states: FloatArray) -> FloatArray:
        """Return the score of the best path to each state of both graphs, (frames, 2 * states)."""
        half = len(self.emission)
        sources, penalties = [], []
        for before in self._before:
            entry = np.where(before < 0, _IMPOSSIBLE, np.float32(0.0))
            strict = np.where(self._is_speech | self._is_speech[before], _IMPOSSIBLE, entry)
            free = entry + np.where(self._is_speech, np.float32(_ENTER_SPEECH), np.float32(0.0))
            sources.append(np.concatenate([before.clip(min=0), before.clip(min=0) + half]))
            penalties.append(np.concatenate([strict, free]))
        scores = np.empty((len(states), 2 * half), np.float32)
        scores[0] = self._start() + states[0]
        starts, ends = half + self.firsts, half + self._ends()
        for frame in range(1, len(states)):
            last, best = scores[frame - 1], scores[frame]
            np.copyto(best, last)
            for source, penalty in zip(sources, penalties, strict=True):
                np.maximum(best, last[source] + penalty, out=best)
            best[starts] = np.maximum(best[starts], last[ends].max() + np.float32(_JUMP))
            best += states[frame]
        return scores

    def _start(self) -> FloatArray:
        half = len(self.emission)
        start = np.full(2 * half, _IMPOSSIBLE)
        start[[0, self.firsts[0]]] = 0.0
        start[half + self.firsts] = _JUMP
        start[half + self.firsts[0] : half + self.lasts[0] + 1] = _CUT
        start[[half, half + self.firsts[0]]] = 0.0
        start[half + 1] = _ENTER_SPEECH
        return start

    def _end(self, *, is_free: bool, has_end: bool) -> FloatArray:
        end = np.full(len(self.emission), _IMPOSSIBLE)
        if not has_end:
            end[2:] = 0.0
            return end
        if is_free:
            end[self._ends()] = _JUMP
            end[self.firsts[-1] : self.lasts[-1] + 1] = _CUT
            end[-1] = 0.0
        end[[self.lasts[-1], len(end) - 2]] = 0.0
        return end

    def _ends(self) -> IntArray:
        """Return the states after which a word may begin."""
        return np.concatenate([[0, 1], self.lasts, self.lasts + 1, self.lasts + 2])

    def backward(self, scores: FloatArray, *, is_free: bool, has_end: bool) -> IntArray:
        """Return the states of the best path, (frames,)."""
        half = len(self.emission)
        own = scores[:, half:] if is_free else scores[:, :half]
        ends = self._ends()
        is_first = np.zeros(half, np.bool_)
        is_first[self.firsts] = True
        path = np.empty(len(own), np.int64)
        state = int((own[-1] + self._end(is_free=is_free, has_end=has_end)).argmax())
        for frame in range(len(own) - 1, 0, -1):
            path[frame] = state
            last = own[frame - 1]
            best, origin = last[state], state
            for before in self._before[:, state]:
                if before < 0:
                    continue
                score = last[before]
                if self._is_speech[state]:
                    score = score + np.float32(_ENTER_SPEECH)
                if not is_free and (self._is_speech[state] or self._is_speech[before]):
                    continue
                if score > best:
                    best, origin = score, int(before)
            if is_free and is_first[state]:
                jump = int(ends[last[ends].argmax()])
                if last[jump] + np.float32(_JUMP) > best:
                    origin = jump
            state = origin
        path[0] = state
        return path


def _segments(path: IntArray, states: FloatArray, graph: _Graph) -> tuple[PathSegment, ...]:
    """Return the parts of a path. A word that follows itself is two segments."""
    owners = graph.owner[path]
    values = states[np.arange(len(path)), path]
    falls = np.diff(path, prepend=path[:1]) < 0
    changes = np.flatnonzero((np.diff(owners, prepend=-9) != 0) | (falls & (owners >= 0)))
    found = []
    for start, end in zip(changes.tolist(), [*changes[1:].tolist(), len(path)], strict=True):
        index = int(owners[start])
        if index >= 0 and (path[start] > graph.firsts[index] or path[end - 1] < graph.lasts[index]):
            index = SPEECH  # only a part of its phones
        found.append(PathSegment(index, start, end, float(values[start:end].sum())))
    return tuple(found)
