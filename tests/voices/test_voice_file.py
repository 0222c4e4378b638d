"""Voice files come from strangers: everything but our own kind is refused, and touches nothing."""

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
from studio.voices.voice_file import VoiceDetails, read_voice_file, write_voice_file

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


def test_what_is_written_is_read(path: Path) -> None:
    details = VoiceDetails("Änna 安娜", "What she said.\nTwice.", "notes", "cosyvoice2")
    write_voice_file(path, CLIP, details)
    found = read_voice_file(path)
    assert (found.details, found.suffix) == (details, ".wav")
    assert found.clip == SOUND


def test_an_archive_made_elsewhere_is_read(path: Path) -> None:
    found = read_voice_file(archive(path, ("manifest.json", manifest()), ("clip.wav", SOUND)))
    assert found.details == VoiceDetails("Anna", "What she said.")


def refused(path: Path, words: str) -> None:
    with pytest.raises(BadVoiceFile, match=words):
        read_voice_file(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes among files")
def test_a_pipe_is_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    refused(path, "is not a voice file")


@pytest.mark.parametrize(
    "name", ["../clip.wav", "/clip.wav", "C:\\clip.wav", "clip.wav/", "sub/clip.wav", "clip.wav\0", "clip", "other.wav", "clip.WAV"]
)  # fmt: skip
def test_a_clip_may_have_no_other_name(path: Path, name: str) -> None:
    content = manifest(clip=name)
    refused(archive(path, ("manifest.json", content), (name, SOUND)), "voice")


def test_the_manifest_must_name_the_clip_that_is_there(path: Path) -> None:
    refused(archive(path, ("manifest.json", manifest(clip="clip.mp3")), ("clip.wav", SOUND)), "in a way no voice file")


def test_nothing_else_may_be_inside(path: Path) -> None:
    refused(archive(path, ("manifest.json", manifest()), ("clip.wav", SOUND), ("extra.txt", b"x")), "exactly one voice")
    refused(archive(path, ("clip.wav", SOUND)), "exactly one voice")
    refused(archive(path, ("manifest.json", manifest())), "exactly one voice")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_one_name_may_not_appear_twice(path: Path) -> None:
    refused(archive(path, ("manifest.json", manifest()), ("clip.wav", SOUND), ("clip.wav", b"x")), "exactly one voice")
    refused(archive(path, ("manifest.json", manifest()), ("manifest.json", manifest())), "in a way no voice file")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_refused(path: Path, kind: int) -> None:
    entry = zipfile.ZipInfo("clip.wav")
    entry.external_attr = (kind | 0o777) << 16
    refused(archive(path, ("manifest.json", manifest()), (entry, b"/etc/passwd")), "other than ordinary files")


def test_a_bomb_is_refused_without_being_unpacked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voice_file, "_LARGEST_CLIP_BYTES", 1 << 20)
    bomb = bytes((1 << 20) + 1)
    digest = hashlib.sha256(bomb).hexdigest()
    refused(archive(path, ("manifest.json", manifest(sha256=digest)), ("clip.wav", bomb)), "far more than a voice")
    refused(archive(path, ("manifest.json", manifest(notes="x" * (1 << 16))), ("clip.wav", SOUND)), "far more")


def test_a_bomb_that_lies_about_its_size_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voice_file, "_LARGEST_CLIP_BYTES", 1 << 20)
    archive(path, ("manifest.json", manifest()), ("clip.wav", bytes(8 << 20)))
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        start = data.rfind(mark)
        data[start + offset : start + offset + 4] = struct.pack("<I", 100)
    path.write_bytes(data)
    refused(path, r"far more|damaged")


def test_a_file_of_gigabytes_is_not_even_opened(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)
    refused(path, "far too large")


def test_another_recording_than_the_manifest_says(path: Path) -> None:
    refused(archive(path, ("manifest.json", manifest()), ("clip.wav", SOUND[:-2] + b"xx")), "not the one it was made")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "manifest nobody can read"),
        (b"\xff\xfe\xfd", "manifest nobody can read"),
        (b"[" * 60_000, "manifest nobody can read"),
        (b"[]", "not a voice file"),
        (b'"timbre-voice"', "not a voice file"),
        (manifest(format="zip"), "not a voice file"),
        (manifest(version=2), "another version"),
        (manifest(version="1"), "another version"),
        (manifest(name="absent"), "does not say its name"),
        (manifest(name=7), "does not say its name"),
        (manifest(transcript=["x"]), "does not say its transcript"),
        (manifest(notes={}), "does not say its notes"),
        (manifest(sha256=None), "does not say its sha256"),
        (manifest(clip=None), "does not say its clip"),
    ],
)
def test_manifests_that_are_none(path: Path, content: bytes, words: str) -> None:
    refused(archive(path, ("manifest.json", content), ("clip.wav", SOUND)), words)


def test_files_that_are_no_archives(path: Path, tmp_path: Path) -> None:
    for content in (b"", b"PK", b"hello" * 1000, SOUND):
        path.write_bytes(content)
        refused(path, "not a voice file, or is damaged")
    refused(tmp_path / "missing.voice", "There is no file")
    refused(tmp_path, "not a voice file, or is damaged")


def test_an_encrypted_archive(path: Path) -> None:
    archive(path, ("manifest.json", manifest()), ("clip.wav", SOUND))
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        start = -1
        while (start := data.find(mark, start + 1)) >= 0:
            data[start + offset] |= 1
    path.write_bytes(data)
    refused(path, "damaged")


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damage_anywhere_is_refused(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Bytes flipped and files cut short: never another kind of exception."""
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


def test_a_hostile_name_reaches_neither_disk_nor_list(path: Path, tmp_path: Path) -> None:
    library = VoiceLibrary(tmp_path / "voices", built_in=tmp_path)
    archive(path, ("manifest.json", manifest(name="../../etc/passwd")), ("clip.wav", SOUND))
    with pytest.raises(BadVoiceName):
        library.import_(path)
    assert not (tmp_path / "voices").exists()


def test_an_archive_with_a_useless_recording_leaves_nothing(path: Path, tmp_path: Path) -> None:
    library = VoiceLibrary(tmp_path / "voices", built_in=tmp_path)
    digest = hashlib.sha256(b"no sound").hexdigest()
    archive(path, ("manifest.json", manifest(sha256=digest)), ("clip.wav", b"no sound"))
    with pytest.raises(BadVoiceFile, match=r"recording in anna\.voice cannot be used"):
        library.import_(path)
    assert list((tmp_path / "voices" / "clips").iterdir()) == []
    assert library.voices() == []
