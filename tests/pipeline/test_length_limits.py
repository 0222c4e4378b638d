"""Plausible lengths of speech for a text. The numbers of tokens are from the bundled model."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.pipeline.length_limits import (
    CLOSE,
    LOOSE,
    WIDE,
    LengthLimits,
    SpokenLength,
    Tolerance,
    limits_of_sentences,
    pace_of_prompt,
    spoken_length,
)
from studio.pipeline.request import LengthVerdict, SynthesisRequest, VoiceReference
from studio.text.respellings import Respellings
from studio.text.segmentation import Sentence

TOO_SHORT, TOO_LONG = LengthVerdict.TOO_SHORT, LengthVerdict.TOO_LONG
LIST = Path(__file__).parents[2] / "resources" / "models" / "studio-mini" / "CosyVoice-BlankEN" / "respellings.txt"


@pytest.fixture(scope="module")
def words() -> Respellings:
    return Respellings.read(LIST)


@pytest.mark.parametrize(
    ("text", "num_tokens", "verdict"),
    [
        ("The morning train was quiet, and nobody seemed to be in a hurry.", 96, None),
        ("He said: “Do not touch that!”, and everyone froze.", 53, TOO_SHORT),
        ("He said: “Do not touch that!”, and everyone froze.", 106, None),
        ("Scripts, sketches, and straight sixths.", 47, TOO_SHORT),
        ("She sells sea shells by the sea shore.", 157, TOO_LONG),
        ("She sells sea shells by the sea shore.", 72, None),
        ("How much wood would a woodchuck chuck if a woodchuck could chuck wood?", 520, TOO_LONG),
        ("Hello.", 15, None),
        ("Hello.", 80, TOO_LONG),
        ("Go!", 15, None),
        ("Well, you see, it was, how shall I put it, complicated.", 108, None),
    ],
)
def test_only_loops_and_missing_clauses_are_detected(
    words: Respellings, text: str, num_tokens: int, verdict: LengthVerdict | None
) -> None:
    limits = LengthLimits.of(spoken_length(text, words), CLOSE, num_text_tokens=len(text) // 2)
    assert limits.verdict(num_tokens) is verdict


def test_a_line_of_digits_is_bounded_by_its_words(words: Respellings) -> None:
    spoken = (
        "zero seventy five thousand five hundred and fifty four twenty six million four hundred thirty one thousand "
        "three hundred and fifty five thirty million five hundred three thousand five hundred and sixty five."
    )
    limits = LengthLimits.of(spoken_length(spoken, words), CLOSE, num_text_tokens=74)
    assert limits.longest < 1480 / 2, "the model's own limit is 59 seconds"
    assert limits.verdict(limits.longest) is TOO_LONG
    assert limits.verdict(360) is None


@pytest.mark.parametrize(
    ("text", "num_text_tokens", "slowest_seconds", "fastest_seconds"),
    [
        ("I would like a table for four, please, near the window if possible.", 16, 12.0, 2.2),
        ("今天天气不错，我们一起去公园散步吧。", 12, 9.0, 1.8),
        ("[laughter] No way! [breath] That is funny.", 12, 9.0, 1.2),
    ],
)
def test_slow_and_fast_speech_of_a_large_model_is_plausible(
    text: str, num_text_tokens: int, slowest_seconds: float, fastest_seconds: float
) -> None:
    limits = LengthLimits.of(spoken_length(text), WIDE, num_text_tokens=num_text_tokens)
    assert limits.verdict(round(25 * slowest_seconds)) is None
    assert limits.verdict(round(25 * fastest_seconds)) is None


@pytest.mark.parametrize("tolerance", [CLOSE, LOOSE, WIDE])
def test_the_limit_of_the_model_still_applies(tolerance: Tolerance) -> None:
    assert LengthLimits.of(SpokenLength(100, 200, 9), tolerance, num_text_tokens=3).longest == 60


def test_reaching_a_low_limit_of_the_model_is_not_a_loop() -> None:
    """A vocabulary may have one token for a whole phrase."""
    limits = LengthLimits.of(spoken_length("中华人民共和国"), WIDE, num_text_tokens=1)
    assert limits.longest == 20
    assert limits.verdict(20) is None


def test_speech_that_ends_at_the_minimum_length_is_too_short() -> None:
    text = "I would like a table for four, please, near the window if possible."
    limits = LengthLimits.of(spoken_length(text), WIDE, num_text_tokens=16)
    assert limits.verdict(32) is TOO_SHORT
    assert limits.verdict(55) is None


def test_text_that_the_small_model_has_not_learned_ends_within_seconds(words: Respellings) -> None:
    """Such text once became half a minute of babble that was called ready."""
    limits = LengthLimits.of(spoken_length("大家好，今天我们聊一聊手冲咖啡。", words), CLOSE, num_text_tokens=48)
    assert limits.longest / 25 < 9.0
    assert limits.verdict(limits.longest) is TOO_LONG


def test_text_of_sound_tags_only_may_have_any_length() -> None:
    limits = LengthLimits.of(spoken_length("[breath]"), WIDE, num_text_tokens=1)
    assert limits.verdict(0) is None


def test_a_slow_voice_may_take_longer() -> None:
    text = SpokenLength(40, 40, 1)
    slow = pace_of_prompt(text, 130)
    assert slow == pytest.approx(130 / 95)
    usual, longer = (LengthLimits.of(text, CLOSE, num_text_tokens=99, pace=pace) for pace in (1.0, slow))
    assert longer.longest > 1.3 * usual.longest - 12
    assert longer.shortest == usual.shortest, "a transcript may lack words that are in the clip"
    assert pace_of_prompt(text, 1000) == 1.5
    assert pace_of_prompt(SpokenLength(), 100) == 1.0


def test_the_limits_of_a_request_follow_from_model_and_mode(words: Respellings) -> None:
    voice = VoiceReference(Path("clip.wav"), transcript="Hello there, it is late.")
    sentence = Sentence("Good morning!", "Good morning!", tuple(range(40)))

    def longest(request: SynthesisRequest, respellings: Respellings | None) -> int:
        return limits_of_sentences(request, respellings, 45)(sentence).longest

    plain, slowly = SynthesisRequest("x", voice), SynthesisRequest("x", voice, instruct="slowly")
    assert longest(plain, words) < longest(slowly, words) < longest(plain, None)


def test_limits_are_durations_at_any_token_rate() -> None:
    """CosyVoice-300M has 50 tokens per second: twice as many are as plausible."""
    text = spoken_length("The morning train was quiet, and nobody seemed to be in a hurry.")
    usual, double = (LengthLimits.of(text, WIDE, num_text_tokens=200, token_rate=rate) for rate in (25, 50))
    assert double.expected == 2 * usual.expected
    assert abs(double.longest - 2 * usual.longest) <= 1
    assert double.verdict(2 * round(usual.expected)) is None
    assert double.verdict(round(usual.shortest * 2)) is LengthVerdict.TOO_SHORT
    request = SynthesisRequest("", VoiceReference(Path("a.wav"), "The morning train was quiet."))
    sentence = Sentence("", "Nobody seemed to be in a hurry.", (1,) * 200)
    at_25, at_50 = (limits_of_sentences(request, None, rate * 2, rate)(sentence) for rate in (25, 50))
    assert at_50.expected == 2 * at_25.expected, "the pace of the prompt is the same"
