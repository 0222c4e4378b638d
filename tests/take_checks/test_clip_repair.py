"""Repair of clips: candidates, the trial by speech, and the offer only of what gains."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from fake_checks import FakeChecks, bad_check, good_check

from studio import paths
from studio.audio.files import read_audio
from studio.audio.waveform import Waveform
from studio.errors import SilentClip, UnusableSetting
from studio.pipeline.request import AudioChunk, Mode, SynthesisReport, SynthesisRequest
from studio.take_checks.clip_repair import (
    TEST_SENTENCES,
    Candidate,
    Origin,
    Repair,
    add_repaired_voice,
    list_candidates,
    require_recording,
    survey,
    try_candidates,
)
from studio.take_checks.records import Embeddings, TakeCheck, Transcript
from studio.take_checks.requests import CheckRequest, EmbeddingRequest
from studio.take_checks.service import TakeCheckService
from studio.voices.clip_cleaning import CleaningStep
from studio.voices.library import VoiceDetails, VoiceLibrary

FOLDER = paths.resources() / "models" / "studio-mini"
RATE = 24_000


def speech_of(name: str) -> Waveform:
    return read_audio(paths.resources() / "voices" / f"{name}.wav")


def noisy(clip: Waveform, at_db: float = 10.0) -> Waveform:
    noise = np.random.default_rng(0).standard_normal(len(clip.samples))
    gain = np.sqrt(np.mean(clip.samples**2.0) * 10 ** (-at_db / 10))
    return Waveform((clip.samples + gain * noise).astype(np.float32), clip.sample_rate)


def joined(*clips: Waveform) -> Waveform:
    pause = np.zeros(RATE // 2, np.float32)
    return Waveform(np.concatenate([part for clip in clips for part in (clip.samples, pause)]), RATE)


def service(checks: FakeChecks) -> TakeCheckService:
    return cast("TakeCheckService", checks)


class Speech:
    """Speaks tones. ``requests`` lists what was asked."""

    def __init__(self) -> None:
        self.requests: list[SynthesisRequest] = []

    def __call__(self, request: SynthesisRequest) -> Speech:
        self.requests.append(request)
        return self

    async def __aiter__(self) -> AsyncIterator[AudioChunk]:
        yield AudioChunk(np.full(RATE, 0.1 * len(self.requests), np.float32), RATE)

    async def finished(self) -> SynthesisReport:
        return SynthesisReport(0.1, 1.0, 1.0, RATE, Mode.ZERO_SHOT, 25, {}, {})


def tried(candidates: Sequence[Candidate], check: Callable[[CheckRequest], TakeCheck]) -> tuple[Repair, Speech]:
    """Return the result, with the check of the speech of each sentence by its level."""
    speech = Speech()
    checks = service(FakeChecks(result=check))
    return asyncio.run(try_candidates(candidates, checks, FOLDER, speech, transcript="What she said.")), speech


def by_candidate(*similarities: float) -> Callable[[CheckRequest], TakeCheck]:
    """Return checks that give the sentences of each candidate its similarity."""

    def check(request: CheckRequest) -> TakeCheck:
        number = round(10 * float(request.samples[0])) - 1
        return replace(good_check(request), similarity=similarities[number // len(TEST_SENTENCES["en"])])

    return check


@pytest.fixture(scope="module")
def noisy_candidates() -> list[Candidate]:
    recording = noisy(speech_of("Max"))
    return list_candidates(recording, survey(recording, service(FakeChecks()), FOLDER))


def test_a_clean_clip_is_left_alone_without_speech() -> None:
    recording = speech_of("Ada")
    candidates = list_candidates(recording, survey(recording, service(FakeChecks()), FOLDER))
    assert [each.origin for each in candidates] == [Origin.AS_IS]
    repair, speech = tried(candidates, good_check)
    assert repair.offered is None
    assert speech.requests == []


def test_a_noisy_clip_is_compared_with_the_cleaned_one(noisy_candidates: list[Candidate]) -> None:
    first, cleaned = noisy_candidates[:2]
    assert (first.origin, cleaned.origin, cleaned.steps) == (Origin.AS_IS, Origin.CLEANED, (CleaningStep.NOISE,))
    repair, speech = tried(noisy_candidates[:2], by_candidate(0.6, 0.7))
    assert repair.offered is repair.trials[1]
    assert repair.offered.candidate is cleaned
    assert [trial.similarity for trial in repair.trials] == [pytest.approx(0.6), pytest.approx(0.7)]
    assert [request.text for request in speech.requests] == [*TEST_SENTENCES["en"]] * 2
    assert {request.voice.transcript for request in speech.requests} == {"What she said."}
    assert len(repair.trials[0].spoken) == 2


@pytest.mark.parametrize(("after", "is_offered"), [(0.705, False), (0.715, True)])
def test_a_clip_as_noisy_as_before_is_offered_only_if_speech_gains(
    noisy_candidates: list[Candidate], after: float, is_offered: bool
) -> None:
    louder = replace(noisy_candidates[1], is_clearer=False)
    repair, _ = tried([noisy_candidates[0], louder], by_candidate(0.7, after))
    assert (repair.offered is not None) is is_offered


@pytest.mark.parametrize(("after", "is_offered"), [(0.69, True), (0.67, False)])
def test_a_clip_with_less_noise_is_offered_unless_speech_is_clearly_less_similar(
    noisy_candidates: list[Candidate], after: float, is_offered: bool
) -> None:
    """The similarity rises with the noise that the recording and its cleaned clip share."""
    repair, _ = tried(noisy_candidates[:2], by_candidate(0.7, after))
    assert (repair.offered is not None) is is_offered


def test_the_half_without_music_is_tried() -> None:
    """Music fills the pauses, so it is not measured as noise."""
    clip = speech_of("Max")
    times = np.arange(len(clip.samples)) / RATE
    chord = sum(np.sin(2 * np.pi * pitch * times) for pitch in np.outer((220, 277, 330), range(1, 13)).flat)
    music = Waveform((clip.samples + 0.02 * chord).astype(np.float32), RATE)
    recording = joined(music, clip)
    plain, passage, *_ = list_candidates(recording, survey(recording, service(FakeChecks()), FOLDER))
    assert (plain.origin, passage.origin) == (Origin.AS_IS, Origin.PASSAGE)
    assert plain.window.start_seconds < 1.0
    assert passage.window.start_seconds > clip.seconds
    assert passage.is_clearer


def test_a_passage_is_tried_with_its_own_words(noisy_candidates: list[Candidate]) -> None:
    passage = replace(noisy_candidates[1], origin=Origin.PASSAGE, covers_recording=False)
    speech, checks = Speech(), FakeChecks()
    checks.transcribe_with = lambda _: Transcript("Half of it.")
    candidates = [noisy_candidates[0], passage]
    asyncio.run(try_candidates(candidates, service(checks), FOLDER, speech, transcript="All of it."))
    assert [request.voice.transcript for request in speech.requests] == ["All of it."] * 2 + ["Half of it."] * 2


def test_speech_with_more_problems_is_not_offered(noisy_candidates: list[Candidate]) -> None:
    similar = by_candidate(0.6, 0.9)

    def check(request: CheckRequest) -> TakeCheck:
        found = similar(request)
        return replace(bad_check(request), similarity=0.9) if found.similarity == 0.9 else found

    repair, _ = tried(noisy_candidates[:2], check)
    assert repair.trials[1].num_faulty == 2
    assert repair.offered is None


def test_without_a_speaker_encoder_nothing_is_offered(noisy_candidates: list[Candidate]) -> None:
    repair, _ = tried(noisy_candidates[:2], lambda request: replace(good_check(request), similarity=None))
    assert repair.offered is None


def telling(other: Waveform) -> FakeChecks:
    """Return checks that tell parts of ``other`` from those of the main speaker, by their loudest sample."""

    def embed(request: EmbeddingRequest) -> Embeddings:
        spans = [np.abs(request.samples[int(a * RATE) : int(b * RATE)]) for a, b in request.spans]
        loud = np.abs(other.samples)
        is_other = [bool(np.isin(span[np.argmax(span)], loud)) for span in spans]
        return Embeddings(tuple((0.0, 1.0) if each else (1.0, 0.0) for each in is_other))

    checks = FakeChecks()
    checks.embed_with = embed
    return checks


def test_the_passage_of_the_main_speaker_is_found() -> None:
    main, other = speech_of("Max"), speech_of("Linda")
    recording = joined(main, other, main)
    first, second = main.seconds + 0.25, main.seconds + other.seconds + 0.75
    checks = telling(other)
    found = survey(recording, service(checks), FOLDER)
    assert len(found.speakers) == 2
    for passage in found.passages:
        assert passage.window.end_seconds < first + 0.3 or passage.window.start_seconds > second - 0.3
    (theirs,) = survey(recording, service(checks), FOLDER, speaker=2).passages
    assert theirs.window.start_seconds > first - 0.3
    assert theirs.window.end_seconds < second + 0.3
    with pytest.raises(UnusableSetting, match="no speaker 3"):
        survey(recording, service(checks), FOLDER, speaker=3)


def test_a_speaker_with_short_parts_is_not_replaced_by_another() -> None:
    main, other = speech_of("Ada"), speech_of("Max")
    # On the scale of the files, samples of both have equal values.
    short = Waveform(0.777 * other.samples[: int(1.6 * RATE)], RATE)
    found = survey(joined(main, short, main), service(telling(short)), FOLDER, speaker=2)
    begin = main.seconds + 0.25
    assert found.passages
    for passage in found.passages:
        assert begin < passage.window.start_seconds < passage.window.end_seconds < begin + short.seconds + 0.5


def test_without_embeddings_only_the_first_speaker_can_be_chosen() -> None:
    checks = FakeChecks()
    checks.embed_with = lambda _: Embeddings()
    assert survey(speech_of("Ada"), service(checks), FOLDER).passages
    with pytest.raises(UnusableSetting, match="no speaker 2"):
        survey(speech_of("Ada"), service(checks), FOLDER, speaker=2)


def test_a_recording_without_speech_is_refused() -> None:
    with pytest.raises(SilentClip):
        survey(Waveform(np.zeros(RATE, np.float32), RATE), service(FakeChecks()), FOLDER)


def test_the_repaired_voice_is_added_beside_the_original(tmp_path: Path, noisy_candidates: list[Candidate]) -> None:
    library = VoiceLibrary(tmp_path / "voices", built_in=tmp_path / "none")
    clip = noisy(speech_of("Max"))
    voice = library.add_sound(clip, VoiceDetails("Max", "Typed.", "old")).voice
    require_recording(voice)
    checks = FakeChecks()
    checks.transcribe_with = lambda _request: Transcript("Heard.")
    cleaned = noisy_candidates[1]
    added = add_repaired_voice(library, voice, cleaned, service(checks), "Max repaired")
    assert (added.name, added.transcript, added.notes) == ("Max repaired", "Typed.", "old")
    np.testing.assert_allclose(read_audio(added.clip).samples, cleaned.clip.samples, atol=1e-6)
    assert library.get("Max") == voice
    passage = replace(cleaned, covers_recording=False)
    assert add_repaired_voice(library, voice, passage, service(checks), "Max repaired").transcript == "Heard."


def test_a_voice_without_a_recording_is_refused(tmp_path: Path) -> None:
    library = VoiceLibrary(tmp_path / "voices", built_in=tmp_path / "none")
    voice = library.add_sound(speech_of("Max"), VoiceDetails("Max")).voice
    with pytest.raises(UnusableSetting, match="no recording"):
        require_recording(replace(voice, generation="cosyvoice2"))


@pytest.mark.slow
def test_the_check_process_tells_speakers_apart() -> None:
    recording = joined(speech_of("Max"), speech_of("Linda"), speech_of("Max"))
    checks = TakeCheckService()
    try:
        found = survey(recording, checks, FOLDER)
        broken = survey(recording, checks, FOLDER / "missing")
    finally:
        checks.close()
    assert len(found.speakers) == 2
    assert found.speakers[0].seconds > found.speakers[1].seconds
    assert broken.speakers == ()
    assert broken.passages
