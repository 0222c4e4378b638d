"""Repair of a voice's clip: the best passage of one speaker, cleaned, if speech from it is better.

Candidates are the clip as it is, the cleaned clip, and other passages of the recording. With each, the model speaks test
sentences. A candidate is offered only if no more of them have problems than before, and they are more similar to the
recording's speaker, or about as similar if the clip is much clearer.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
import soundfile

from studio.audio.waveform import Waveform
from studio.errors import SilentClip, UnusableSetting
from studio.pipeline.request import AudioChunk, SentenceEvidence, SynthesisReport, SynthesisRequest, VoiceReference
from studio.take_checks.records import TakeCheck, Verdict
from studio.take_checks.requests import CheckRequest, EmbeddingRequest, TranscriptRequest
from studio.voices.best_segment import (
    MAX_GOOD_SECONDS,
    MIN_GOOD_SECONDS,
    PromptWindow,
    best_segment,
    best_segments,
    cut_prompt,
)
from studio.voices.clip_cleaning import CleaningStep, clean_clip
from studio.voices.clip_report import assess_clip, modulation_depth
from studio.voices.library import Voice, VoiceLibrary, details_of
from studio.voices.speakers import Speaker, group_speakers, speech_parts, stretches_of
from studio.voices.voice import Grade

if TYPE_CHECKING:
    from studio.take_checks.service import TakeCheckService

TEST_SENTENCES = {
    "en": (
        "The harbour was quiet that morning, and nobody spoke.",
        "Please bring seven large yellow boxes to the garden.",
    ),
    "zh": ("那天早晨港口很安静，谁也没有说话。", "请把七个黄色的大箱子搬到花园里去。"),
}

# Number of segments whose speakers are compared, and of passages from which test sentences are spoken.
_NUM_SEGMENTS = 12
_MAX_PASSAGES = 2
_MIN_PASSAGE_SECONDS = 2.0
# The least gain in similarity for which a candidate is offered. The similarity rises with noise that the recording and
# its cleaned clip share, so a candidate with clearly less noise is offered even if it is slightly less similar.
_MIN_GAIN, _MAX_LOSS = 0.01, 0.02
# A difference in modulation depth that is clearly less noise, music or reverberation.
_CLEARER_DB = 3.0
_log = logging.getLogger(__name__)


class Origin(Enum):
    """What a candidate is. The values are printed by ``timbre voices repair --json``."""

    AS_IS = "as-is"
    CLEANED = "cleaned"
    PASSAGE = "passage"


@dataclass(frozen=True, slots=True)
class Spoken:
    """Speech of a test sentence."""

    waveform: Waveform
    evidence: tuple[SentenceEvidence, ...] = ()


class RunningSpeech(Protocol):
    """A synthesis of the worker: iterate over its audio, then await its report."""

    def __aiter__(self) -> AsyncIterator[AudioChunk]: ...
    async def finished(self) -> SynthesisReport | None: ...


Synthesize = Callable[[SynthesisRequest], RunningSpeech]


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a recording in which one speaker speaks, with the grade of its clip report and its modulation depth."""

    window: PromptWindow
    grade: Grade
    depth_db: float


@dataclass(frozen=True, slots=True)
class Survey:
    """The speakers of a recording, longest first, and the best passages of the chosen one.

    Without a speaker encoder, ``speakers`` is empty, and passages may contain several speakers.
    """

    speakers: tuple[Speaker, ...]
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A clip that could be the prompt of a voice.

    Attributes:
        covers_recording: Whether the transcript of the recording fits.
        is_clearer: Whether it has much less noise, music or reverberation than the recording, or its worst passage.
    """

    origin: Origin
    clip: Waveform
    window: PromptWindow
    steps: tuple[CleaningStep, ...] = ()
    covers_recording: bool = False
    is_clearer: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """Test sentences that were spoken from a candidate.

    Attributes:
        similarity: Mean cosine similarity of the sentences to the recording's speaker, or None if unknown.
        verdicts: Of the checks of the sentences.
        spoken: The sentences, to listen to.
    """

    candidate: Candidate
    similarity: float | None
    verdicts: tuple[Verdict, ...]
    spoken: tuple[Spoken, ...] = ()

    @property
    def num_faulty(self) -> int:
        return sum(verdict in (Verdict.DOUBTFUL, Verdict.BAD) for verdict in self.verdicts)


@dataclass(frozen=True, slots=True)
class Repair:
    """The trials, starting with the unchanged clip, and the one that is offered, or None if none gains."""

    trials: tuple[Trial, ...]
    offered: Trial | None = None


def survey(
    recording: Waveform, checks: TakeCheckService, model_folder: Path, *, speaker: int = 1, count: int = 5
) -> Survey:
    """Find the best ``count`` passages of the speaker with the number ``speaker``, from 1, in a recording of any length.

    Segments are first chosen by their signal, which takes seconds for an hour. Only the speakers of the best segments are
    compared. Raise ``UnusableSetting`` if there is no such speaker, and ``SilentClip`` if there is no speech.
    """
    # One half of a short recording may be clearer than the other.
    half = recording.seconds / 2
    longest = half if MIN_GOOD_SECONDS <= half < MAX_GOOD_SECONDS else MAX_GOOD_SECONDS
    windows = best_segments(recording, max(_NUM_SEGMENTS, 2 * count), longest)
    if not windows:
        raise SilentClip("The recording contains no speech.", remedy="Choose another recording.")
    excerpt, offsets = _excerpt(recording, windows)
    parts = speech_parts(recording, windows)
    spans = tuple(_moved(part, windows, offsets) for part in parts)
    found = checks.embed(EmbeddingRequest(excerpt, recording.sample_rate, spans, model_folder)).result()
    if found.error_code:
        _log.warning("the speakers of a recording are not compared: %s", found.error_code)
    speakers = group_speakers(parts, found.vectors) if found.vectors else []
    if not 1 <= speaker <= max(1, len(speakers)):
        raise UnusableSetting(
            "There is no speaker {number} in the recording.",
            remedy="Choose a number from 1 to {count}.",
            number=speaker,
            count=max(1, len(speakers)),
        )
    if len(speakers) > 1:
        chosen = speakers[speaker - 1]
        stretches = stretches_of(chosen, [each for each in speakers if each is not chosen])
        own_parts = [part for window in windows for part in _own_parts(recording, window, stretches)]
        windows = own_parts or sorted(stretches, key=lambda each: each.seconds)[-1:]
    passages = sorted((_passage(recording, window) for window in windows), key=_rank)
    return Survey(tuple(speakers), tuple(passages[:count]))


def list_candidates(recording: Waveform, found: Survey) -> list[Candidate]:
    """Return the candidates: the recording as it is, or its best segment if it is long, then cleaned, then passages.

    A single candidate means that nothing has to be repaired: no fault is measured, there is one speaker, and no passage is
    much clearer than another.
    """
    is_short = recording.seconds <= MAX_GOOD_SECONDS
    window = PromptWindow(0.0, recording.seconds) if is_short else best_segment(recording)
    plain = recording if is_short else cut_prompt(recording, window)
    candidates = [Candidate(Origin.AS_IS, plain, window, covers_recording=is_short)]
    cleaned = clean_clip(plain)
    if cleaned.steps:
        is_clearer = modulation_depth(cleaned.clip) >= modulation_depth(plain) + _CLEARER_DB
        candidates.append(Candidate(Origin.CLEANED, cleaned.clip, window, cleaned.steps, is_short, is_clearer))
    has_others = len(found.speakers) > 1
    worst_db = min((passage.depth_db for passage in found.passages), default=0.0)
    least_seconds = _MIN_PASSAGE_SECONDS if has_others else MIN_GOOD_SECONDS
    for passage in found.passages[:_MAX_PASSAGES]:
        is_clearer = passage.depth_db >= worst_db + _CLEARER_DB
        if (
            (has_others or is_clearer)
            and passage.window.seconds >= least_seconds
            and not _is_same(passage.window, window)
        ):
            clip = clean_clip(cut_prompt(recording, passage.window))
            candidates.append(Candidate(Origin.PASSAGE, clip.clip, passage.window, clip.steps, is_clearer=is_clearer))
    return candidates


async def try_candidates(
    candidates: Sequence[Candidate],
    checks: TakeCheckService,
    model_folder: Path,
    synthesize: Synthesize,
    *,
    transcript: str | None = None,
    language: str = "en",
    on_progress: Callable[[int, int], object] = lambda _done, _total: None,
) -> Repair:
    """Speak test sentences from each candidate and compare them with the speaker of the last, cleanest candidate.

    A recogniser proposes the transcript of a passage, as in :func:`add_repaired_voice`.
    ``on_progress`` receives the number of spoken sentences and the total. Raises the errors of ``synthesize``.
    """
    if len(candidates) < 2:
        return Repair(tuple(Trial(each, None, ()) for each in candidates))
    sentences = TEST_SENTENCES.get(language[:2], TEST_SENTENCES["en"])
    trials: list[Trial] = []
    with tempfile.TemporaryDirectory(prefix="timbre-repair-") as place:
        clips = [_written(each.clip, Path(place) / f"{number}.wav") for number, each in enumerate(candidates)]
        reference = _written(_reference(candidates), Path(place) / "reference.wav")
        for candidate, clip in zip(candidates, clips, strict=True):
            words = transcript
            if transcript and not candidate.covers_recording:
                words = (await asyncio.wrap_future(checks.transcribe(_transcript_request(candidate, language)))).text
            voice = VoiceReference(clip, words or None)
            spoken, found = [], []
            for text in sentences:
                spoken.append(
                    await _speak(
                        synthesize,
                        SynthesisRequest(text, voice, is_played=False, trims_leading_silence=True, language=language),
                    )
                )
                request = _check_request(spoken[-1], text, language, reference, model_folder)
                found.append(await asyncio.wrap_future(checks.submit(request)))
                on_progress(len(trials) * len(sentences) + len(spoken), len(candidates) * len(sentences))
            trials.append(_trial(candidate, spoken, found))
    return Repair(tuple(trials), _best(trials))


async def _speak(synthesize: Synthesize, request: SynthesisRequest) -> Spoken:
    running = synthesize(request)
    chunks = [chunk async for chunk in running]
    report = await running.finished()
    if not chunks or report is None:
        raise asyncio.CancelledError
    samples = np.concatenate([chunk.samples for chunk in chunks])
    return Spoken(Waveform(samples, chunks[0].sample_rate), report.evidence)


def _best(trials: Sequence[Trial]) -> Trial | None:
    """Return the most similar trial that is better than the first one, and whose checks are not worse."""
    before = trials[0]
    better = [trial for trial in trials[1:] if _is_better(trial, before) and trial.num_faulty <= before.num_faulty]
    return max(better, key=lambda trial: trial.similarity or 0.0, default=None)


def _is_better(trial: Trial, before: Trial) -> bool:
    if trial.similarity is None or before.similarity is None:
        return False
    return trial.similarity - before.similarity >= (-_MAX_LOSS if trial.candidate.is_clearer else _MIN_GAIN)


def _trial(candidate: Candidate, spoken: Sequence[Spoken], found: Sequence[TakeCheck]) -> Trial:
    similarities = [check.similarity for check in found if check.similarity is not None]
    mean = sum(similarities) / len(similarities) if len(similarities) == len(found) else None
    return Trial(candidate, mean, tuple(check.verdict for check in found), tuple(spoken))


def _reference(candidates: Sequence[Candidate]) -> Waveform:
    """Return the cleaned speech of the speaker: of all passages, or of the cleaned clip."""
    passages = [each for each in candidates if each.origin is Origin.PASSAGE]
    chosen = passages or [candidates[-1]]
    return Waveform(np.concatenate([each.clip.samples for each in chosen]), chosen[0].clip.sample_rate)


def _transcript_request(candidate: Candidate, language: str) -> TranscriptRequest:
    return TranscriptRequest(candidate.clip.samples, candidate.clip.sample_rate, language=language)


def _check_request(spoken: Spoken, text: str, language: str, reference: Path, model_folder: Path) -> CheckRequest:
    return CheckRequest(
        spoken.waveform.samples,
        spoken.waveform.sample_rate,
        text=text,
        language=language,
        evidence=spoken.evidence,
        prompt_clip=reference,
        model_folder=model_folder,
    )


def _written(clip: Waveform, path: Path) -> Path:
    soundfile.write(path, clip.samples, clip.sample_rate, "FLOAT")
    return path


def _excerpt(recording: Waveform, windows: Sequence[PromptWindow]) -> tuple[npt.NDArray[np.float32], list[float]]:
    """Return the samples of ``windows`` one after the other, and the seconds at which each starts in them."""
    rate = recording.sample_rate
    pieces = [recording.samples[int(each.start_seconds * rate) : int(each.end_seconds * rate)] for each in windows]
    starts = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])[:-1]]) / rate
    return np.concatenate(pieces), starts.tolist()


def _moved(part: tuple[float, float], windows: Sequence[PromptWindow], offsets: Sequence[float]) -> tuple[float, float]:
    """Return the times of ``part`` in the excerpt."""
    for window, offset in zip(windows, offsets, strict=True):
        if window.start_seconds <= part[0] < window.end_seconds:
            shift = offset - window.start_seconds
            return part[0] + shift, part[1] + shift
    raise AssertionError("a part lies in one of the windows")


def _own_parts(recording: Waveform, window: PromptWindow, stretches: Sequence[PromptWindow]) -> list[PromptWindow]:
    """Return the parts of ``window`` within ``stretches``, cut at pauses."""
    inside = [
        PromptWindow(max(window.start_seconds, each.start_seconds), min(window.end_seconds, each.end_seconds))
        for each in stretches
        if each.end_seconds > window.start_seconds and each.start_seconds < window.end_seconds
    ]
    rate = recording.sample_rate
    found = []
    for part in inside:
        if part.seconds < _MIN_PASSAGE_SECONDS:
            continue
        samples = recording.samples[int(part.start_seconds * rate) : int(part.end_seconds * rate)]
        best = best_segment(Waveform(samples, rate))
        found.append(PromptWindow(part.start_seconds + best.start_seconds, part.start_seconds + best.end_seconds))
    return found


def _passage(recording: Waveform, window: PromptWindow) -> Passage:
    clip = cut_prompt(recording, window)
    return Passage(window, assess_clip(clip).quality, modulation_depth(clip))


def _rank(passage: Passage) -> tuple[bool, int, float]:
    grades = list(Grade)
    is_short = passage.window.seconds < MIN_GOOD_SECONDS
    return is_short, grades.index(passage.grade), -passage.depth_db


def _is_same(one: PromptWindow, other: PromptWindow) -> bool:
    overlap = min(one.end_seconds, other.end_seconds) - max(one.start_seconds, other.start_seconds)
    return overlap > 0.9 * max(one.seconds, other.seconds)


def require_recording(voice: Voice) -> None:
    """Raise ``UnusableSetting`` if ``voice`` has no recording to repair."""
    if voice.generation is not None or not voice.clip_seconds:
        raise UnusableSetting(
            "{name} has no recording to repair.", remedy="Choose a voice with a recording.", name=voice.name
        )


def add_repaired_voice(
    library: VoiceLibrary, voice: Voice, candidate: Candidate, checks: TakeCheckService, name: str
) -> Voice:
    """Add a copy of ``voice`` with the clip of ``candidate``; the voice itself is not changed.

    A recogniser proposes the transcript of a passage. Raise the errors of ``VoiceLibrary.add_sound``.
    """
    transcript = voice.transcript
    if transcript and not candidate.covers_recording:
        transcript = checks.transcribe(_transcript_request(candidate, voice.language or "")).result().text or None
    details = replace(details_of(voice), name=library.unique_name(name), transcript=transcript)
    return library.add_sound(candidate.clip, details).voice
