"""Whole files that the service sends contain a manifest, and every answer says that it is synthetic."""

from __future__ import annotations

import base64
import struct
from pathlib import Path

import httpx2
import pytest
from running_service import RunningService, Serve
from speech_files import write_speech

from studio.audio.files import read_audio
from studio.provenance.signing import FileSigner, Signing
from studio.provenance.statement import SYNTHETIC, Statement, hash_text

CLIP = Path(__file__).parents[1] / "reference" / "inputs" / "prompt_a.wav"


def speak(service: RunningService, **values: object) -> httpx2.Response:
    answer = httpx2.post(f"{service.url}/v1/audio/speech", json={"input": "one two", "seed": 3, **values}, timeout=120)
    assert answer.status_code == 200
    assert answer.headers["x-digital-source-type"] == SYNTHETIC
    return answer


@pytest.mark.parametrize("stream_format", ["file", "json"])
def test_the_header_of_a_whole_wav_file_contains_its_length(service: RunningService, stream_format: str) -> None:
    answer = speak(service, response_format="wav", stream_format=stream_format)
    content = base64.b64decode(answer.json()["audio"]) if stream_format == "json" else answer.content
    assert struct.unpack("<I", content[4:8])[0] == len(content) - 8
    assert struct.unpack("<I", content[40:44])[0] == len(content) - 44 > 0
    streamed = speak(service, response_format="wav")
    assert streamed.content[44:] == content[44:]


def test_whole_files_are_signed_and_streams_are_not(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("c2pa")
    from studio.provenance.inspection import ManifestState, inspect_file  # with the library only

    monkeypatch.setenv("TIMBRE_DATA", str(tmp_path / "data"))
    path = tmp_path / "source.wav"
    write_speech(path, "wav16")
    FileSigner(Signing()).sign(path, Statement("another model"))
    with serve(signing=Signing()) as service:
        files = {name: speak(service, response_format=name, stream_format="file") for name in ("wav", "mp3", "flac")}
        files["opus"] = speak(service, response_format="opus", stream_format="file")
        files["stream.wav"] = speak(service, response_format="wav")
        files["json.wav"] = speak(service, response_format="wav", stream_format="json")
        files["converted.wav"] = httpx2.post(
            f"{service.url}/v1/audio/conversions",
            data={"voice": "Ada", "stream_format": "file"},
            files={"file": ("speech.wav", path.read_bytes())},
            timeout=60,
        )
    found = {}
    for name, answer in files.items():
        sent = tmp_path / (name if "." in name else f"speech.{name}")
        sent.write_bytes(base64.b64decode(answer.json()["audio"]) if name == "json.wav" else answer.content)
        assert len(read_audio(sent).samples)
        found[name] = inspect_file(sent)
    assert {name: each.state for name, each in found.items()} == {
        **dict.fromkeys(["wav", "mp3", "flac", "json.wav", "converted.wav"], ManifestState.VALID),
        **dict.fromkeys(["opus", "stream.wav"], ManifestState.ABSENT),
    }
    for name in ("wav", "mp3", "flac"):
        speech = found[name].speech
        assert speech is not None
        (line,) = speech["lines"]
        assert (line["text_sha256"], line["seed"], speech["model"]) == (hash_text("one two"), 3, "fake")
        assert line["audio_sha256"]
    assert len({found[name].speech["lines"][0]["audio_sha256"] for name in ("wav", "mp3", "flac")}) == 1  # type: ignore[index]
    assert found["converted.wav"].num_ingredients == 1
