"""The fingerprint of a line changes exactly if something changes that affects its audio."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.model.config import SamplingOptions
from studio.pipeline.request import EngineDescription, VoiceReference
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.project.fingerprint import fingerprint
from studio.project.lines import Line, LineStyle
from studio.project.requests import library_versions, synthesis_request, take_parameters

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
