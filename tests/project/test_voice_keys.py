"""Voices of takes are compared by content, not by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from project_samples import RATE, parameters

from studio.project.changes import AddTake, EditLines, InsertLines
from studio.project.fingerprint import map_voice_keys, voice_key, voice_matches
from studio.project.lines import Line, LineState
from studio.project.project import Project
from studio.voices.voice import Voice

ANN = Voice("Ann", Path("a.wav"), "What Ann says.", 4.0, sha256="ab" * 32)
BOB = Voice("Bob", Path("b.wav"), None, 4.0, sha256="cd" * 32)
LINE = Line("a", "Hello.", "Ann")
SPOKEN = parameters(voice_name="Ann", voice_key=voice_key(ANN))


@pytest.mark.parametrize(
    "voices",
    [
        [ANN, BOB],
        [replace(ANN, notes="Calm.", language="en", clip=Path("c.wav"))],
        [replace(ANN, name="ANN")],
        [BOB],  # Ann is not in the library, so voices are compared by name
        [],
    ],
)
def test_an_unchanged_voice_matches(voices: list[Voice]) -> None:
    assert voice_matches(LINE, SPOKEN, map_voice_keys(voices))


@pytest.mark.parametrize(
    "voice",
    [replace(ANN, transcript="What Ann said."), replace(ANN, transcript=None), replace(ANN, sha256="ef" * 32)],
)
def test_another_clip_or_transcript_does_not_match(voice: Voice) -> None:
    assert not voice_matches(LINE, SPOKEN, map_voice_keys([voice]))


def test_another_voice_or_none_does_not_match() -> None:
    keys = map_voice_keys([ANN, BOB])
    assert not voice_matches(replace(LINE, voice="Bob"), SPOKEN, keys)
    assert not voice_matches(replace(LINE, voice="Carl"), SPOKEN, keys)
    assert not voice_matches(replace(LINE, voice=None), SPOKEN, keys)


def test_a_renamed_voice_matches() -> None:
    assert voice_matches(replace(LINE, voice="Anna"), SPOKEN, map_voice_keys([replace(ANN, name="Anna")]))


def test_bundled_voices_are_compared_by_name() -> None:
    built_in = [Voice(name, Path(f"{name}.wav"), "Hello.", 3.0, is_built_in=True) for name in ("One", "Two")]
    assert voice_key(built_in[0]) != voice_key(built_in[1])


def test_voice_keys_are_stored_in_the_project(tmp_path: Path) -> None:
    with Project.create(tmp_path / "drafts") as project:
        project.apply(InsertLines(0, (LINE,)))
        take = project.begin_take("a", replace(SPOKEN, line_fingerprint=project.fingerprint_of("a")), RATE)
        take.append(np.ones(100, np.float32))
        project.apply(AddTake(take.finish()))
        project.save(tmp_path / "a.timbre")
    with Project.open(tmp_path / "a.timbre", tmp_path / "drafts") as project:
        assert project.state_of("a") is LineState.READY
        project.voice_keys = map_voice_keys([replace(ANN, name="Anna")])
        project.apply(EditLines({"a": {"voice": "Anna"}}))
        assert project.state_of("a") is LineState.READY
        project.voice_keys = map_voice_keys([replace(ANN, name="Anna", transcript="Mended.")])
        assert project.state_of("a") is LineState.OUTDATED
