"""`timbre inspect --recompute`: lines of manifests are spoken again, and compared."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from terminal import Ran, Terminal

from studio.audio.edits import AudioEdits
from studio.catalog.built_in_speakers import open_voice_library
from studio.provenance.inspection import inspect_file
from studio.provenance.recorded_speech import read_speech
from studio.provenance.signing import FileSigner, Signing
from studio.provenance.statement import Statement, hash_text

pytestmark = pytest.mark.timeout(120)
CHECKOUT = Path(__file__).parents[2]
TEXT = "Hello there."
# Instructions that oneDNN and PyTorch may use, as on a processor without AVX-512.
OLDER_PROCESSOR = {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}


@pytest.fixture(autouse=True)
def needs_library() -> None:
    pytest.importorskip("c2pa")


@pytest.fixture
def said(timbre: Terminal, clip: Path) -> Path:
    timbre.library.add(clip, "Ada")
    assert timbre("say", TEXT, "--voice", "Ada", "--model", "quiet", "--seed", "5", "-o", "hello.wav").status == 0
    return timbre.folder / "hello.wav"


def statement_of(path: Path) -> Statement:
    speech = inspect_file(path).speech
    assert speech is not None
    said = read_speech(speech)
    assert said is not None
    return said


def sign_again(path: Path, **changes: Any) -> None:
    """Sign a file with other values of its line."""
    said = statement_of(path)
    FileSigner(Signing()).sign(path, replace(said, lines=(replace(said.lines[0], **changes),)))


def recomputed(ran: Ran) -> dict[str, Any]:
    (file,) = ran.json["files"]
    (line,) = file["recomputed"]["lines"]
    return {**line, "contains_take": file["recomputed"]["contains_take"], "status": ran.status}


def test_the_same_model_and_voice_give_identical_speech(timbre: Terminal, said: Path) -> None:
    ran = timbre("inspect", said, "--recompute", "--text", TEXT)
    assert "line 1 spoken again: identical" in ran.out
    assert "The file contains exactly this take." in ran.out
    Path("words.txt").write_text(f"Another line.\n{TEXT}\n", "utf-8")
    found = recomputed(timbre("inspect", said, "--recompute", "--text", "words.txt", "--json"))
    assert found == {"line": 1, "state": "identical", "reason": None, "contains_take": True, "status": 0}


def test_other_speech_is_different(timbre: Terminal, said: Path) -> None:
    sign_again(said, audio_sha256="0" * 64)
    found = recomputed(timbre("inspect", said, "--recompute", "--text", TEXT, "--json"))
    assert (found["state"], found["status"]) == ("different", 1)


def test_a_file_with_other_audio_than_its_take_is_different(timbre: Terminal, said: Path) -> None:
    statement = statement_of(said)
    assert timbre("say", "Other words entirely.", "--voice", "Ada", "--model", "quiet", "-o", "other.wav").status == 0
    FileSigner(Signing()).sign(Path("other.wav"), statement)
    found = recomputed(timbre("inspect", "other.wav", "--recompute", "--text", TEXT, "--json"))
    assert (found["state"], found["contains_take"], found["status"]) == ("identical", False, 1)


def test_what_cannot_be_compared_has_a_reason(timbre: Terminal, said: Path, clip: Path) -> None:
    def reason(*options: str | Path) -> str:
        found = recomputed(timbre("inspect", said, "--recompute", "--json", *options))
        assert (found["state"], found["status"]) == ("not-compared", 0)
        return str(found["reason"])

    assert "only a hash of the text" in reason()
    timbre.library.remove("Ada")
    assert "The recording of the voice Ada is not here" in reason("--text", TEXT)
    found = timbre("inspect", said, "--recompute", "--text", TEXT, "--voice", clip, "--json")
    assert recomputed(found)["state"] == "identical"
    other = timbre.folder / "other.wav"
    other.write_bytes(said.read_bytes())
    assert "had another recording" in reason("--text", TEXT, "--voice", other)
    sign_again(said, settings={"forced_tokens": 10**9})
    assert "cannot repeat the settings" in reason("--text", TEXT, "--voice", clip)
    sign_again(said, settings={}, transcript_sha256=hash_text("words"))
    assert "had another transcript" in reason("--text", TEXT, "--voice", clip)
    FileSigner(Signing()).sign(said, replace(statement_of(said), model="unknown"))
    assert "There is no model unknown" in reason("--text", TEXT, "--voice", clip)
    FileSigner(Signing()).sign(said, Statement("", lines=()))
    content = bytearray(said.read_bytes())
    content[-1] ^= 1
    said.write_bytes(content)
    ran = timbre("inspect", said, "--recompute", "--text", TEXT)
    assert ran.status == 1
    assert "spoken again: not compared. Only a valid manifest" in ran.out


def test_exported_and_edited_lines_are_compared_before_they_are_joined(timbre: Terminal, clip: Path) -> None:
    timbre.library.add(clip, "Ada")
    Path("film.srt").write_text("1\n00:00:01,000 --> 00:00:01,250\none two three four\n", "utf-8")
    words = ("export", "film.srt", "--voice", "Ada", "--model", "quiet", "--at-times", "--fit", "--out", "dub.wav")
    assert timbre(*words).status == 0
    (line,) = statement_of(Path("dub.wav")).lines
    assert set(line.edits) == {"speed"}
    assert line.edits["speed"] > AudioEdits().speed
    ran = timbre("inspect", "dub.wav", "--recompute", "--text", "film.srt")
    assert "line 1 spoken again: identical" in ran.out
    assert "Takes were compared as they were before these edits: " in ran.out


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_takes_of_all_bundled_voices_are_identical_and_on_another_processor_the_reason_is_given(tmp_path: Path) -> None:
    places = {f"TIMBRE_{name}": str(tmp_path / name.lower()) for name in ("DATA", "CACHE", "LOGS")}

    def timbre(*words: str | Path, is_checked: bool = True, **environment: str) -> str:
        command = [sys.executable, "-m", "studio.cli.main", *map(str, words)]
        environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), **places, **environment}
        ran = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert ran.returncode == 0 or not is_checked, ran.stderr
        return ran.stdout

    voices = [voice.name for voice in open_voice_library().voices() if voice.is_built_in]
    assert len(voices) >= 5
    files = [f"{name}.wav" for name in voices]
    for name, file in zip(voices, files, strict=True):
        timbre("say", TEXT, "--voice", name, "--seed", "11", "-o", file)
    again = ("inspect", *files, "--recompute", "--text", TEXT, "--json")
    for found in json.loads(timbre(*again))["files"]:
        assert [line["state"] for line in found["recomputed"]["lines"]] == ["identical"]
        assert found["recomputed"]["contains_take"] is True
    for found in json.loads(timbre(*again, is_checked=False, **OLDER_PROCESSOR))["files"]:
        (line,) = found["recomputed"]["lines"]
        # Other arithmetic may also choose another token, after which the rest of the line is different.
        assert line["state"] in ("identical", "same-tokens", "different")
        assert line["state"] == "identical" or line["reason"]
