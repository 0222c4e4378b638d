"""Damaged and hostile files end with a state and a sentence, not with a crash."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import soundfile
from speech_files import write_speech

from studio import paths
from studio.errors import UnreadableClip
from studio.provenance import inspection
from studio.provenance.inspection import ManifestState, inspect_file
from studio.provenance.mark import Marker, MarkState
from studio.provenance.signing import SIDECAR_SUFFIX, FileSigner
from studio.provenance.statement import Statement

needs_library = pytest.mark.usefixtures("c2pa")


@needs_library
@pytest.mark.parametrize("encoding", ["wav16", "flac16", "mp3", "opus"])
def test_a_file_of_an_earlier_version_has_no_manifest(encoding: str, tmp_path: Path) -> None:
    suffix = {"wav16": ".wav", "flac16": ".flac"}.get(encoding, f".{encoding}")
    found = inspect_file(write_speech(tmp_path / f"speech{suffix}", encoding))
    assert (found.state, found.signer, found.is_trusted) == (ManifestState.ABSENT, "", False)
    assert found.tags == {"title": "你好"}


@needs_library
def test_a_missing_file_and_a_pipe_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(UnreadableClip, match="cannot be read"):
        inspect_file(tmp_path / "missing.wav")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.wav")
        with pytest.raises(UnreadableClip, match="cannot be read"):
            inspect_file(tmp_path / "pipe.wav")


@needs_library
@pytest.mark.parametrize("suffix", [".wav", ".flac", ".mp3", ".m4b"])
def test_files_that_are_not_audio_are_sentences(suffix: str, tmp_path: Path) -> None:
    for content in (
        b"",
        b"RIFF",
        b"RIFFxxxxWAVE" * 40,
        b"fLaC" + bytes(99),
        b"ID3\x04\0\0\x7f\x7f\x7f\x7f" + bytes(99),
    ):
        path = tmp_path / f"junk{suffix}"
        path.write_bytes(content)
        assert inspect_file(path).state in (ManifestState.ABSENT, ManifestState.UNREADABLE)


@pytest.mark.parametrize("encoding", ["wav16", "flac16", "mp3", "m4b"])
def test_no_damage_of_the_manifest_is_taken_for_valid(
    encoding: str, tmp_path: Path, signer: FileSigner, statement: Statement
) -> None:
    suffix = {"wav16": ".wav", "flac16": ".flac"}.get(encoding, f".{encoding}")
    path = write_speech(tmp_path / f"speech{suffix}", encoding)
    unsigned = path.read_bytes()
    signer.sign(path, statement)
    whole = path.read_bytes()
    start, chance = whole.index(b"jumb") - 4, random.Random(5)
    size = len(whole) - len(unsigned)
    for _ in range(60):
        content = bytearray(whole)
        for _ in range(chance.choice((1, 3, 40))):
            content[start + chance.randrange(min(size, len(whole) - start - 100))] ^= 1 << chance.randrange(8)
        if content == whole:
            continue
        path.write_bytes(content[: chance.choice((len(content), len(content), start + 800))])
        found = inspect_file(path)
        if found.state is ManifestState.VALID:  # only unused padding differs
            assert found.speech is not None
            assert found.speech["model"] == "mini"
        else:
            assert found.state is ManifestState.ABSENT or str(found.reason).endswith(".")


def _damaged(whole: bytes) -> Iterator[bytes]:
    """Yield files with a manifest whose bits, lengths or end are wrong."""
    start, chance = whole.index(b"jumb") - 4, random.Random(3)
    for num_flips in (1, 3, 40, 40):
        content = bytearray(whole)
        for _ in range(num_flips):
            content[start + chance.randrange(2000)] ^= 1 << chance.randrange(8)
        yield bytes(content)
    yield from (whole[: start + length] for length in (4, 60, 800))
    for place in (start - 8, start, start + 8):
        for length in (bytes(4), b"\0\0\0\1", b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff"):
            yield whole[:place] + length + whole[place + 4 :]


@pytest.mark.parametrize("suffix", [".wav", ".flac", ".mp3", ".m4b"])
def test_speech_made_from_a_recording_with_a_damaged_manifest_is_signed(
    suffix: str, tmp_path: Path, signer: FileSigner, statement: Statement
) -> None:
    recording = tmp_path / f"recording{suffix}"
    write_speech(recording, {".wav": "wav16", ".flac": "flac16"}.get(suffix, suffix[1:]))
    signer.sign(recording, statement)
    for content in _damaged(recording.read_bytes()):
        recording.write_bytes(content)
        damaged = inspect_file(recording)
        assert damaged.state in (ManifestState.VALID, ManifestState.ABSENT) or str(damaged.reason).endswith(".")
        converted = write_speech(tmp_path / "converted.wav", "wav16")
        signer.sign(converted, replace(statement, source=recording))
        assert inspect_file(converted).state is ManifestState.VALID


def test_a_sidecar_of_another_file_does_not_fit(tmp_path: Path, signer: FileSigner, statement: Statement) -> None:
    first, second = (write_speech(tmp_path / name, "opus") for name in ("one.opus", "two.opus"))
    signer.sign(first, statement)
    second.write_bytes(second.read_bytes() + b"more")
    first.with_suffix(SIDECAR_SUFFIX).rename(second.with_suffix(SIDECAR_SUFFIX))
    assert inspect_file(second).state is ManifestState.CHANGED
    second.with_suffix(SIDECAR_SUFFIX).write_bytes(b"no manifest")
    assert inspect_file(second).state is ManifestState.UNREADABLE


@pytest.mark.parametrize("name", ["signed.wav", "signed.flac", "signed.mp3", "signed.m4b", "signed.opus"])
def test_without_the_library_a_manifest_is_not_checked(
    name: str, tmp_path: Path, signer: FileSigner, statement: Statement, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    encoding = {"wav": "wav16", "flac": "flac16"}.get(path.suffix[1:], path.suffix[1:])
    write_speech(path, encoding)
    monkeypatch.setattr(inspection, "can_sign", lambda: False)
    absent = inspect_file(path)
    assert (absent.state, absent.reason) == (ManifestState.ABSENT, None)
    signer.sign(path, statement)
    found = inspect_file(path)
    assert found.state is ManifestState.NOT_CHECKED
    assert "c2pa-python, which verifies it, is not installed." in str(found.reason)
    assert "provenance" in str(found.reason)


def test_without_the_library_the_mark_and_the_tags_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "can_sign", lambda: False)
    voice = paths.resources() / "voices" / "Ada.wav"
    samples, rate = soundfile.read(voice, dtype="float32")
    with soundfile.SoundFile(tmp_path / "marked.wav", "w", rate, 1) as file:
        file.title = "Ada"
        file.write(Marker(rate)(samples))
    found = inspect_file(tmp_path / "marked.wav")
    assert (found.state, found.mark.state, found.tags) == (ManifestState.ABSENT, MarkState.FOUND, {"title": "Ada"})
    with pytest.raises(UnreadableClip, match="cannot be read"):
        inspect_file(tmp_path / "missing.wav")


def test_a_manifest_is_seen_where_two_blocks_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "can_sign", lambda: False)
    monkeypatch.setattr(inspection, "_BLOCK_BYTES", 16)
    path = tmp_path / "speech.wav"
    for before in range(40):
        path.write_bytes(bytes(before) + inspection.MANIFEST_TYPE + bytes(20))
        assert inspect_file(path).state is ManifestState.NOT_CHECKED


@pytest.mark.parametrize(
    "store", [{}, [], {"active_manifest": "a", "manifests": {}}, {"active_manifest": "a", "manifests": {"a": 3}}]
)
def test_a_manifest_of_an_unknown_form_is_unreadable(
    store: object, tmp_path: Path, signer: FileSigner, statement: Statement, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_speech(tmp_path / "speech.wav", "wav16")
    signer.sign(path, statement)
    monkeypatch.setattr(inspection, "parse_json", lambda _: store)
    assert inspect_file(path).state is ManifestState.UNREADABLE
