"""Statements are read back as they were written, and hostile ones are not repeated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from speech_files import write_speech

from studio.audio.edits import AudioEdits
from studio.pipeline.request import KnownTokens, SynthesisRequest, VoiceReference
from studio.provenance.edited_files import sign_edited
from studio.provenance.inspection import ManifestState, inspect_file
from studio.provenance.recorded_speech import read_speech, repeated_edits, repeated_request
from studio.provenance.signing import FileSigner, Signing
from studio.provenance.statement import PARTLY_SYNTHETIC, REPLACED_WORDS, SYNTHETIC, SpokenLine, Statement, spoken_line

VOICE = VoiceReference(Path("clip.wav"), "A transcript.", "Ada")


def test_a_statement_is_read_back(tmp_path: Path, signer: FileSigner, statement: Statement) -> None:
    path = write_speech(tmp_path / "speech.wav", "wav16")
    signer.sign(path, statement)
    speech = inspect_file(path).speech
    assert speech is not None
    (line,) = statement.lines
    assert read_speech(speech) == replace(statement, lines=(replace(line, consent="not recorded"),))


def test_a_request_is_repeated_with_its_settings() -> None:
    request = SynthesisRequest(
        "Hello.", VOICE, preset="emotion.happy", speed=1.25, seed=3, language="en", is_played=False
    )
    assert repeated_request(spoken_line(request), "Hello.", VOICE) == request


def test_tokens_of_an_earlier_take_are_not_stated_because_they_contain_the_text() -> None:
    request = SynthesisRequest("Hello.", VOICE, known_tokens=(KnownTokens("hello", (1, 2)),))
    assert "hello" not in str(spoken_line(request))


def test_a_recording_with_replaced_words_is_stated_and_not_repeated() -> None:
    line = spoken_line(SynthesisRequest("Hello.", VOICE, is_divided=False))
    assert line.recording == REPLACED_WORDS
    assert repeated_request(line, "Hello.", VOICE) is None
    actions = Statement("mini", lines=(line,)).manifest("a")["assertions"][0]["data"]["actions"]
    assert actions[0]["digitalSourceType"] == PARTLY_SYNTHETIC
    plain = Statement("mini", lines=(replace(line, recording=""),)).manifest("a")
    assert plain["assertions"][0]["data"]["actions"][0]["digitalSourceType"] == SYNTHETIC
    assert "recording" not in plain["assertions"][1]["data"]["lines"][0]


def test_edits_are_repeated() -> None:
    edits = AudioEdits(trim_start_seconds=0.25, speed=1.5, gain_db=-3.0)
    assert repeated_edits(SpokenLine("", "Ada", 0).edited(edits)) == edits


@pytest.mark.parametrize(
    "edits",
    [{"speed": 1e9}, {"gain_db": 1e9}, {"trim_start_seconds": -1}, {"unknown": 1}, {"speed": "2"}, {"speed": None}],
)
def test_hostile_edits_are_not_repeated(edits: dict[str, Any]) -> None:
    assert repeated_edits(SpokenLine("", "Ada", 0, edits=edits)) is None


@pytest.mark.parametrize(
    "settings",
    [
        {"speed": 1e9},
        {"speed": "fast"},
        {"forced_tokens": 10**9},
        {"quality": "best"},
        {"sampling": 3},
        {"text": "Other."},
    ],
)
def test_hostile_settings_are_not_repeated(settings: dict[str, Any]) -> None:
    assert repeated_request(SpokenLine("", "Ada", 0, settings=settings), "Hello.", VOICE) is None
    assert repeated_request(SpokenLine("", "Ada", -1), "Hello.", VOICE) is None


@pytest.mark.parametrize(
    "speech",
    [
        {},
        {"model": 3},
        {"model": "m", "lines": 3},
        {"model": "m", "lines": ["line"]},
        {"model": "m", "lines": [{"voice": "Ada"}]},
        {"model": "m", "lines": [{"text_sha256": "", "voice": "Ada", "seed": "x"}]},
        {"model": "m", "lines": [{"text_sha256": "", "voice": "Ada", "seed": 1, "settings": 5}]},
        {"model": "m", "engine": []},
    ],
)
def test_other_forms_are_not_read(speech: dict[str, Any]) -> None:
    assert read_speech(speech) is None


def test_an_edited_file_keeps_its_manifest_and_says_what_was_done(
    tmp_path: Path, signer: FileSigner, statement: Statement
) -> None:
    original, edited = write_speech(tmp_path / "speech.wav", "wav16"), write_speech(tmp_path / "edited.wav", "wav24")
    sign_edited(Signing(), edited, original, "mastered")
    assert inspect_file(edited).state is ManifestState.ABSENT, "nothing is known about the original"
    signer.sign(original, statement)
    sign_edited(Signing(), edited, original, "mastered")
    found = inspect_file(edited)
    assert (found.state, found.num_ingredients) == (ManifestState.VALID, 1)
    assert found.speech is not None
    assert found.speech["edits"] == ["joined", "mastered"]
    assert found.speech["lines"] == inspect_file(original).speech["lines"]  # type: ignore[index]


def test_a_manifest_of_another_program_is_kept(tmp_path: Path, signer: FileSigner) -> None:
    original, edited = write_speech(tmp_path / "speech.wav", "wav16"), write_speech(tmp_path / "edited.wav", "wav24")
    signer.sign(original, Statement("", is_edit=True, source=write_speech(tmp_path / "source.wav", "wav16")))
    sign_edited(Signing(), edited, original, "mastered")
    found = inspect_file(edited)
    assert (found.state, found.speech, found.num_ingredients) == (ManifestState.VALID, None, 1)
