"""Stretches of one speaker in a recording, from speaker embeddings of short overlapping parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.audio.waveform import Waveform
from studio.voices.best_segment import PromptWindow, speech_mask
from studio.voices.loudness import FRAME_SECONDS, frame_levels

Span = tuple[float, float]  # start and end in seconds

_PART_SECONDS = 1.6
_STEP_SECONDS = 0.8
_MIN_SPEECH_SHARE = 0.6
_MIN_CLOSENESS = 0.6  # mean cosine similarity of the parts of two groups that are one speaker


@dataclass(frozen=True, slots=True)
class Speaker:
    """A voice in a recording: the parts in which it speaks, in order, and their total length."""

    parts: tuple[Span, ...]
    seconds: float


def speech_parts(recording: Waveform, windows: Iterable[PromptWindow]) -> list[Span]:
    """Return overlapping parts of ``windows`` that contain mostly speech, in order."""
    is_speech = speech_mask(frame_levels(recording.samples, recording.sample_rate))
    speech_until = np.concatenate([[0], np.cumsum(is_speech)])
    found: list[Span] = []
    for window in sorted(windows, key=lambda each: each.start_seconds):
        num_steps = max(0, int((window.seconds - _PART_SECONDS) / _STEP_SECONDS)) + 1
        for step in range(num_steps):
            start = window.start_seconds + step * _STEP_SECONDS
            end = min(window.end_seconds, start + _PART_SECONDS)
            first, last = (min(len(is_speech), round(at / FRAME_SECONDS)) for at in (start, end))
            if speech_until[last] - speech_until[first] >= _MIN_SPEECH_SHARE * max(1, last - first):
                found.append((start, end))
    return found


def group_speakers(parts: Sequence[Span], embeddings: Sequence[Sequence[float] | None]) -> list[Speaker]:
    """Group ``parts`` by the similarity of their embeddings of length 1. The speaker with the most speech is first."""
    known = [(part, embedding) for part, embedding in zip(parts, embeddings, strict=True) if embedding is not None]
    if not known:
        return []
    labels = _cluster(np.asarray([embedding for _, embedding in known], np.float64))
    groups: dict[int, list[Span]] = {}
    for (part, _), label in zip(known, labels, strict=True):
        groups.setdefault(label, []).append(part)
    speakers = [Speaker(tuple(own), sum(end - start for start, end in _union(own))) for own in groups.values()]
    return sorted(speakers, key=lambda each: (-each.seconds, each.parts[0]))


def stretches_of(speaker: Speaker, others: Iterable[Speaker]) -> list[PromptWindow]:
    """Return the stretches in which only ``speaker`` speaks, in order: its parts, without those of others."""
    foreign = sorted(part for other in others for part in other.parts)
    stretches = []
    for part_start, end in _union(speaker.parts):
        start = part_start
        for other_start, other_end in foreign:
            if other_end > start and other_start < end:
                if other_start > start:
                    stretches.append(PromptWindow(start, other_start))
                start = other_end
        if end > start:
            stretches.append(PromptWindow(start, end))
    return stretches


def _cluster(vectors: npt.NDArray[np.float64]) -> list[int]:
    if len(vectors) == 1:
        return [0]
    from scipy.cluster import hierarchy  # noqa: PLC0415 - not needed to list voices

    tree = hierarchy.linkage(vectors, "average", metric="cosine")
    labels: list[int] = hierarchy.fcluster(tree, 1.0 - _MIN_CLOSENESS, "distance").tolist()
    return labels


def _union(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined
