"""The fingerprint of a line changes exactly if something changes that affects its audio."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from studio.model.options import Quality, SamplingOptions
from studio.pipeline.request import EngineDescription, KnownTokens, Mode, SentenceEvidence, VoiceReference
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.project.fingerprint import fingerprint
from studio.project.lines import Line, LineStyle
from studio.project.requests import final_request, has_reading, library_versions, synthesis_request, take_parameters
from studio.project.takes import Take, TakeParameters

LINE = Line(id="a", text="The wind blows.", voice="Ann")
NO_WORDS = PronunciationDictionary()
WIND = PronunciationDictionary((DictionaryEntry("wind", alias="wynd", pronunciation="W AY1 N D"),))


@pytest.mark.parametrize(
    "values",
    [
        {"text": "The wind blew."},
        {"style": LineStyle(preset="emotion.happy")},
        {"style": LineStyle(instruct="emotion.happy")},
        {"speed": 1.1},
        {"sampling": SamplingOptions(top_k=5)},
        {"language": "de"},
    ],
)
def test_audible_changes_change_the_fingerprint(values: dict[str, object]) -> None:
    assert fingerprint(replace(LINE, **values), NO_WORDS) != fingerprint(LINE, NO_WORDS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "values",
    [
        {"id": "b"},
        {"text": "  The wind blows.\n"},
        {"seed": 5},
        {"voice": "told apart by its sound, see test_voice_keys.py"},
        {"pause_after_seconds": 9.0},
        {"is_locked": True},
        {"chosen_take": "t"},
        {"file_name": "x"},
        {"style": LineStyle("", "")},
        {"speed": 1},
        {"sampling": SamplingOptions()},
    ],
)
def test_inaudible_changes_keep_the_fingerprint(values: dict[str, object]) -> None:
    assert fingerprint(replace(LINE, **values), NO_WORDS) == fingerprint(LINE, NO_WORDS)  # type: ignore[arg-type]


def test_only_dictionary_words_in_the_line_affect_the_fingerprint() -> None:
    other = PronunciationDictionary((DictionaryEntry("storm", alias="x"),))
    assert fingerprint(LINE, other) == fingerprint(LINE, NO_WORDS)
    assert fingerprint(LINE, WIND) != fingerprint(LINE, NO_WORDS)
    as_typed = PronunciationDictionary((DictionaryEntry("wind", alias="wynd", pronunciation="[W][AY1][N][D]"),))
    assert fingerprint(LINE, as_typed) == fingerprint(LINE, WIND)


def test_the_fingerprint_algorithm_has_not_changed() -> None:
    """Projects store fingerprints, so a change of the algorithm would make all takes outdated."""
    assert fingerprint(LINE, WIND) == "411cda7bb6ae21baa675802122b59efe"


def test_quality_does_not_make_a_take_outdated() -> None:
    assert fingerprint(replace(LINE, quality=Quality.DRAFT), WIND) == fingerprint(LINE, WIND)


def test_quality_is_that_of_the_line_or_of_the_project() -> None:
    voice = VoiceReference("ann.wav", "Hello", "Ann")  # type: ignore[arg-type]

    def quality(line: Line, of_project: Quality) -> Quality:
        request = synthesis_request(line, WIND, voice=voice, generation="", seed=1, quality=of_project)
        return request.quality

    assert quality(LINE, Quality.EXACT) is Quality.EXACT
    assert quality(LINE, Quality.FAST) is Quality.FAST
    assert quality(replace(LINE, quality=Quality.EXACT), Quality.DRAFT) is Quality.EXACT


def test_final_request_repeats_the_reading_of_the_draft() -> None:
    style, sampling = LineStyle(preset="emotion.happy"), SamplingOptions(top_k=9)
    parameters = TakeParameters(
        "The wind blows.", 11, "f", "instruct", "Ann", "abc", "model", "k",
        style=style, speed=1.2, sampling=sampling, quality=Quality.DRAFT,
    )  # fmt: skip
    draft = Take("t", "line", 1, datetime(2026, 11, 23, tzinfo=UTC), 1.0, 24_000, parameters)
    evidence = (SentenceEvidence("The wind blows.", 0.0, 1.0, (4, 5)),)
    assert has_reading(evidence)
    assert not has_reading((*evidence, SentenceEvidence("Again.", 1.0, 2.0)))
    assert not has_reading(())
    voice = VoiceReference("ann.wav", "Hello", "Ann")  # type: ignore[arg-type]
    request = final_request(draft, evidence, voice=voice)
    assert (request.text, request.seed, request.preset, request.speed) == ("The wind blows.", 11, "emotion.happy", 1.2)
    assert (request.sampling, request.quality, request.is_played) == (sampling, Quality.EXACT, False)
    assert request.known_tokens == (KnownTokens("The wind blows.", (4, 5)),)
    assert draft.can_be_final
    conversion = replace(draft, parameters=replace(parameters, mode=Mode.CONVERSION.value))
    exact = replace(draft, parameters=replace(parameters, quality=Quality.EXACT))
    assert [each.can_be_final for each in (conversion, exact, replace(draft, is_complete=False))] == 3 * [False]


def test_take_parameters_record_the_request_and_the_engine() -> None:
    line = replace(LINE, style=LineStyle(preset="emotion.happy"), speed=1.2, sampling=SamplingOptions(top_k=9))
    engine = EngineDescription(
        model_name="noise-cosyvoice3",
        generation="cosyvoice3",
        folder="models/noise",
        sample_rate=24_000,
        device="cpu",
        stages={"flow": "torch float32"},
        weights_key="k",
    )
    voice = VoiceReference("ann.wav", "Hello", "Ann")  # type: ignore[arg-type]
    request = synthesis_request(line, WIND, voice=voice, generation="cosyvoice3", seed=11)
    assert request.text == "The [W][AY1][N][D] blows."
    assert (request.preset, request.instruct, request.speed, request.seed) == ("emotion.happy", None, 1.2, 11)
    parameters = take_parameters(line, WIND, request, voice_sha256="abc", voice_key="v", engine=engine)
    assert parameters.line_fingerprint == fingerprint(line, WIND)
    assert (parameters.text, parameters.seed, parameters.mode) == (request.text, 11, "instruct")
    assert (parameters.voice_name, parameters.voice_sha256, parameters.model_name, parameters.model_key) == (
        "Ann",
        "abc",
        "noise-cosyvoice3",
        "k",
    )
    assert (parameters.style, parameters.speed, parameters.sampling) == (line.style, 1.2, line.sampling)
    assert parameters.engine == {"flow": "torch float32"}
    assert {"timbre-studio", "numpy"} <= set(library_versions()) == set(parameters.versions)
