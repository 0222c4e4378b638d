"""The bundled recogniser on the bundled voices: clean recordings, and the same with planted faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from recognized_clips import clip, findings

from studio.errors import UnrecognizedVoice
from studio.take_checks.engine import TakeCheckEngine
from studio.take_checks.findings import TextFindings
from studio.take_checks.recognizers.choice import EMBEDDED
from studio.take_checks.recognizers.protocol import SAMPLE_RATE, Samples
from studio.take_checks.records import ProblemKind
from studio.take_checks.requests import TranscriptRequest
from studio.take_checks.units import spoken_units

pytest.importorskip("pocketsphinx", reason="there are no wheels for this version of Python")

from studio.take_checks.recognizers.letter_sounds import pronunciation
from studio.take_checks.recognizers.pocketsphinx_english import PocketsphinxEnglish
from studio.take_checks.recognizers.segments import PathSegment

VOICES = ["Ada", "Angus", "Miles"]


@cache
def recognizer() -> PocketsphinxEnglish:
    return PocketsphinxEnglish()


def checked(samples: Samples, text: str) -> TextFindings:
    return findings(recognizer(), samples, text)


def worst(found: TextFindings) -> float:
    return max((problem.confidence for problem in found.problems), default=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", VOICES)
def test_the_bundled_clips_contain_their_transcripts(name: str) -> None:
    samples, text = clip(name)
    found = checked(samples, text)
    assert worst(found) < 0.5
    starts = [word.from_seconds for word in found.words]
    assert starts == sorted(starts)
    assert len(found.words) == len({(word.text_start, word.text_end) for word in found.words})


@pytest.mark.slow
@pytest.mark.parametrize("name", VOICES)
def test_a_removed_word_is_found_at_its_place(name: str) -> None:
    samples, text = clip(name)
    words = checked(samples, text).words
    word = max(words[1:-1], key=lambda each: each.to_seconds - each.from_seconds)
    start, end = round(word.from_seconds * SAMPLE_RATE), round(word.to_seconds * SAMPLE_RATE)
    found = checked(np.concatenate([samples[:start], samples[end:]]), text)
    assert worst(found) > 0.5
    problem = max(found.problems, key=lambda each: each.confidence)
    assert abs(problem.from_seconds - word.from_seconds) < 0.5
    assert problem.text_start <= word.text_end
    assert problem.text_end >= word.text_start


@pytest.mark.slow
@pytest.mark.parametrize("name", VOICES)
def test_a_repeated_word_is_found(name: str) -> None:
    samples, text = clip(name)
    words = checked(samples, text).words
    word = max(words[1:-1], key=lambda each: each.to_seconds - each.from_seconds)
    start, end = round(word.from_seconds * SAMPLE_RATE), round(word.to_seconds * SAMPLE_RATE)
    found = checked(np.concatenate([samples[:end], samples[start:]]), text)
    assert worst(found) > 0.5
    assert ProblemKind.REPEATED_WORDS in {problem.kind for problem in found.problems}


@pytest.mark.slow
@pytest.mark.parametrize("name", VOICES)
def test_a_repeated_short_word_is_found(name: str) -> None:
    samples, text = clip(name)
    words = checked(samples, text).words
    word = min(words[1:-1], key=lambda each: (len(each.text) != 3, each.from_seconds))
    start, end = round(word.from_seconds * SAMPLE_RATE), round(word.to_seconds * SAMPLE_RATE)
    found = checked(np.concatenate([samples[:end], samples[start:]]), text)
    problem = max(found.problems, key=lambda each: each.confidence)
    assert (problem.kind, problem.text) == (ProblemKind.REPEATED_WORDS, word.text)
    assert problem.confidence > 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("name", "place"), [("Linda", (1.93, 2.35)), ("Max", (0.58, 1.0))])
def test_a_repeated_word_is_found_in_a_voice_that_it_does_not_understand(name: str, place: tuple[float, float]) -> None:
    samples, text = clip(name)
    start, end = (round(seconds * SAMPLE_RATE) for seconds in place)
    found = checked(np.concatenate([samples[:end], samples[start:]]), text)
    assert ProblemKind.REPEATED_WORDS in {problem.kind for problem in found.problems if problem.confidence > 0.75}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Linda", "Max"])
def test_a_voice_of_espeak_that_it_does_not_understand_is_reported(name: str) -> None:
    samples, text = clip(name)
    with pytest.raises(UnrecognizedVoice, match="does not understand this voice"):
        checked(samples, text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Linda", "Max"])
def test_no_transcript_is_proposed_for_a_voice_that_it_does_not_understand(name: str) -> None:
    samples, _ = clip(name)
    with pytest.raises(UnrecognizedVoice):
        TakeCheckEngine(lambda: (EMBEDDED,)).transcribe(TranscriptRequest(samples, SAMPLE_RATE, language="en"))


@pytest.mark.slow
def test_another_sentence_is_found() -> None:
    (samples, _), (_, text) = clip(VOICES[0]), clip(VOICES[1])
    found = checked(samples, text)
    assert worst(found) > 0.9
    assert found.word_error_rate is not None
    assert found.word_error_rate > 0.5


@pytest.mark.slow
def test_only_words_near_a_fault_are_aligned_freely(monkeypatch: pytest.MonkeyPatch) -> None:
    samples, text = clip("Miles")
    words = checked(samples, text).words
    word = max(words[2:5], key=lambda each: each.to_seconds - each.from_seconds)
    cut = np.concatenate(
        [samples[: round(word.from_seconds * SAMPLE_RATE)], samples[round(word.to_seconds * SAMPLE_RATE) :]]
    )
    windows = []
    free = PocketsphinxEnglish._freely_aligned

    def recorded(self: PocketsphinxEnglish, samples: Samples, expected: Sequence[str], window: Any) -> Any:
        windows.append((window.first, window.end))
        return free(self, samples, expected, window)

    monkeypatch.setattr(PocketsphinxEnglish, "_freely_aligned", recorded)
    found = checked(cut, text)
    assert max(found.problems, key=lambda each: each.confidence).text_start == word.text_start
    ((first, end),) = windows
    assert first <= words.index(word) < end
    assert end - first <= len(words) // 2


@pytest.mark.parametrize(("frame_score", "is_found"), [(-4.0, True), (-5.5, False)])
def test_a_voice_that_fits_less_well_needs_clearer_repetitions(
    monkeypatch: pytest.MonkeyPatch, frame_score: float, is_found: bool
) -> None:
    words = [PathSegment(index, 300 * index, 300 * (index + 1), 300 * frame_score) for index in range(5)]
    unclear = PathSegment(2, 840, 900, 60 * frame_score - 150.0)
    words[1:3] = replace(words[1], end=840), unclear
    again = replace(unclear, index=1, end=870, score=0.0), replace(unclear, start=870, score=unclear.score + 18.0)
    freely = [*words[:2], *again, *words[3:]]
    monkeypatch.setattr(PocketsphinxEnglish, "_aligned", lambda *_, **__: words)
    monkeypatch.setattr(PocketsphinxEnglish, "_freely_aligned", lambda *_: freely)
    found = checked(np.zeros(15 * SAMPLE_RATE, np.float32), "they saw her nurse today")
    assert (worst(found) > 0.5) is is_found


def test_silence_and_very_short_audio_miss_all_words() -> None:
    for samples in (np.zeros(SAMPLE_RATE, np.float32), np.zeros(10, np.float32), np.zeros(0, np.float32)):
        assert worst(checked(samples, "Nothing is spoken here.")) > 0.9


@pytest.mark.slow
def test_a_recording_is_heard_the_same_after_any_other() -> None:
    samples, text = clip("Ada")
    words = [unit.text for unit in spoken_units(text, "en")][1:]  # a word too many in the audio
    first = PocketsphinxEnglish()
    heard = first.recognize(samples, words, "en")
    assert first.recognize(samples, words, "en") == heard
    later = PocketsphinxEnglish()
    for name in ("Miles", "Angus"):
        other, other_text = clip(name)
        later.recognize(other, [unit.text for unit in spoken_units(other_text, "en")], "en")
    later.recognize(np.zeros(SAMPLE_RATE, np.float32), ["Something", "else"], "en")
    assert later.recognize(samples, words, "en") == heard


def test_words_that_the_lexicon_lacks_have_a_pronunciation() -> None:
    lexicon = {"light": "L AY T", "house": "HH AW S", "walk": "W AO K", "wren": "R EH N"}
    assert pronunciation("lighthouse", lexicon.get) == "L AY T HH AW S"
    assert pronunciation("Wren's", lexicon.get) == "R EH N Z"
    assert pronunciation("walking", lexicon.get) == "W AO K IH NG"
    assert pronunciation("zorblax", lexicon.get) == "Z AO R B L AE K S"
    assert pronunciation("bbc", lexicon.get) == "B IY B IY S IY"
    assert pronunciation("Žďár", lexicon.get)
    assert pronunciation("—", lexicon.get)


@pytest.mark.slow
def test_unusual_words_can_be_aligned() -> None:
    samples, _ = clip(VOICES[0])
    text = "Zyxwv (brk) 中文 ünïcödé it's o'clock <sil> [NOISE] aaa"
    units = [*(unit.text for unit in spoken_units(text, "en")), "[B][AY1]"]
    assert len(recognizer().recognize(samples, units, "en").aligned) == len(units)
