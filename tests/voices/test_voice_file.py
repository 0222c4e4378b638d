"""Voice files are untrusted: every invalid file is refused without side effects."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import struct
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.errors import BadVoiceFile, BadVoiceName
from studio.voices import voice_file
from studio.voices.library import VoiceLibrary
from studio.voices.voice import VoiceDetails
from studio.voices.voice_file import read_voice_file

CLIP = Path(__file__).parent.parent / "reference" / "inputs" / "prompt_a.wav"
SOUND = CLIP.read_bytes()


def manifest(**changes: Any) -> bytes:
    values = {
        "format": "timbre-voice",
        "version": 1,
        "name": "Anna",
        "transcript": "What she said.",
        "notes": "",
        "generation": None,
        "clip": "clip.wav",
        "sha256": hashlib.sha256(SOUND).hexdigest(),
    }
    return json.dumps({key: value for key, value in {**values, **changes}.items() if value != "absent"}).encode()


def archive(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in entries:
            file.writestr(name, content)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "anna.voice"


def test_an_archive_of_another_program_is_read(path: Path) -> None:
    found = read_voice_file(archive(path, ("manifest.json", manifest()), ("clip.wav", SOUND)))
    assert found.details == VoiceDetails("Anna", "What she said.")


def refused(path: Path, words: str) -> None:
    with pytest.raises(BadVoiceFile, match=words):
        read_voice_file(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
def test_a_pipe_is_refused_without_waiting(path: Path) -> None:
    os.mkfifo(path)
    refused(path, "is not a voice file")


@pytest.mark.parametrize(
    "name", ["../clip.wav", "/clip.wav", "C:\\clip.wav", "clip.wav/", "sub/clip.wav", "clip.wav\0", "clip", "other.wav", "clip.WAV"]
)  # fmt: skip
def test_other_clip_names_are_refused(path: Path, name: str) -> None:
    content = manifest(clip=name)
    refused(archive(path, ("manifest.json", content), (name, SOUND)), "voice")


def test_the_manifest_must_name_the_clip_in_the_archive(path: Path) -> None:
    refused(
        archive(path, ("manifest.json", manifest(clip="clip.mp3")), ("clip.wav", SOUND)),
        "invalid name for its recording",
    )


def test_missing_and_extra_entries_are_refused(path: Path) -> None:
    refused(archive(path, ("manifest.json", manifest()), ("clip.wav", SOUND), ("extra.txt", b"x")), "exactly one voice")
    refused(archive(path, ("clip.wav", SOUND)), "exactly one voice")
    refused(archive(path, ("manifest.json", manifest())), "exactly one voice")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicate_entries_are_refused(path: Path) -> None:
    refused(archive(path, ("manifest.json", manifest()), ("clip.wav", SOUND), ("clip.wav", b"x")), "exactly one voice")
    refused(archive(path, ("manifest.json", manifest()), ("manifest.json", manifest())), "exactly one voice")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_refused(path: Path, kind: int) -> None:
    entry = zipfile.ZipInfo("clip.wav")
    entry.external_attr = (kind | 0o777) << 16
    refused(archive(path, ("manifest.json", manifest()), (entry, b"/etc/passwd")), "other than regular files")


def test_a_zip_bomb_is_refused_without_unpacking(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voice_file, "_MAX_CLIP_BYTES", 1 << 20)
    bomb = bytes((1 << 20) + 1)
    digest = hashlib.sha256(bomb).hexdigest()
    refused(archive(path, ("manifest.json", manifest(sha256=digest)), ("clip.wav", bomb)), "unpacks to more than")
    refused(
        archive(path, ("manifest.json", manifest(notes="x" * (1 << 16))), ("clip.wav", SOUND)), "unpacks to more than"
    )


def test_a_zip_bomb_with_a_false_size_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voice_file, "_MAX_CLIP_BYTES", 1 << 20)
    archive(path, ("manifest.json", manifest()), ("clip.wav", bytes(8 << 20)))
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        start = data.rfind(mark)
        data[start + offset : start + offset + 4] = struct.pack("<I", 100)
    path.write_bytes(data)
    refused(path, r"unpacks to more than|damaged")


def test_a_huge_file_is_refused(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)
    refused(path, "too large")


def test_a_wrong_checksum_is_refused(path: Path) -> None:
    refused(
        archive(path, ("manifest.json", manifest()), ("clip.wav", SOUND[:-2] + b"xx")), "does not match its checksum"
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "unreadable manifest"),
        (b"\xff\xfe\xfd", "unreadable manifest"),
        (b"[" * 60_000, "unreadable manifest"),
        (b"[]", "not a voice file"),
        (b'"timbre-voice"', "not a voice file"),
        (manifest(format="zip"), "not a voice file"),
        (manifest(version=2), "another version"),
        (manifest(version="1"), "another version"),
        (manifest(name="absent"), "has no valid name"),
        (manifest(name=7), "has no valid name"),
        (manifest(transcript=["x"]), "has no valid transcript"),
        (manifest(notes={}), "has no valid notes"),
        (manifest(sha256=None), "has no valid sha256"),
        (manifest(clip=None), "has no valid clip"),
    ],
)
def test_invalid_manifests_are_refused(path: Path, content: bytes, words: str) -> None:
    refused(archive(path, ("manifest.json", content), ("clip.wav", SOUND)), words)


def test_other_files_are_refused(path: Path, tmp_path: Path) -> None:
    for content in (b"", b"PK", b"hello" * 1000, SOUND):
        path.write_bytes(content)
        refused(path, "not a voice file, or is damaged")
    refused(tmp_path / "missing.voice", "There is no file")
    refused(tmp_path, "not a voice file, or is damaged")


def test_an_encrypted_archive_is_refused(path: Path) -> None:
    archive(path, ("manifest.json", manifest()), ("clip.wav", SOUND))
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        start = -1
        while (start := data.find(mark, start + 1)) >= 0:
            data[start + offset] |= 1
    path.write_bytes(data)
    refused(path, "damaged")


@pytest.mark.slow
@settings(max_examples=150)
@given(data=st.data())
def test_damage_anywhere_is_refused(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Changed bytes and truncated files raise only ``BadVoiceFile``."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as file:
        file.writestr("manifest.json", manifest())
        file.writestr("clip.wav", SOUND[:2000])
    good = memory.getvalue().replace(hashlib.sha256(SOUND).hexdigest().encode(), b"0" * 64)
    bad = bytearray(good)
    for _ in range(data.draw(st.integers(1, 4))):
        bad[data.draw(st.integers(0, len(bad) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(bad)))
    path = tmp_path_factory.mktemp("damaged") / "x.voice"
    path.write_bytes(bytes(bad if data.draw(st.booleans()) else bad[:cut]))
    with pytest.raises(BadVoiceFile):
        read_voice_file(path)


def test_a_malicious_name_is_refused(path: Path, tmp_path: Path) -> None:
    library = VoiceLibrary(tmp_path / "voices", built_in=tmp_path)
    archive(path, ("manifest.json", manifest(name="../../etc/passwd")), ("clip.wav", SOUND))
    with pytest.raises(BadVoiceName):
        library.import_(path)
    assert not (tmp_path / "voices").exists()


def test_an_unusable_recording_leaves_no_files(path: Path, tmp_path: Path) -> None:
    library = VoiceLibrary(tmp_path / "voices", built_in=tmp_path)
    digest = hashlib.sha256(b"no sound").hexdigest()
    archive(path, ("manifest.json", manifest(sha256=digest)), ("clip.wav", b"no sound"))
    with pytest.raises(BadVoiceFile, match=r"recording in anna\.voice cannot be used"):
        library.import_(path)
    assert list((tmp_path / "voices" / "clips").iterdir()) == []
    assert library.voices() == []
