"""The voice library: storage, names and failures."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from safetensors.numpy import save_file

from studio.errors import (
    BadVoiceName,
    CannotWrite,
    ClipTooShort,
    DamagedLibrary,
    DiskFull,
    SilentClip,
    UnreadableClip,
    VoiceExists,
    VoiceNotFound,
)
from studio.project.fingerprint import map_voice_keys, voice_key
from studio.voices import database
from studio.voices.library import VoiceLibrary

CLIP = Path(__file__).parent.parent / "reference" / "inputs" / "prompt_a.wav"


@pytest.fixture
def built_in(tmp_path: Path) -> Path:
    folder = tmp_path / "built-in"
    folder.mkdir()
    (folder / "Harbour.wav").write_bytes(CLIP.read_bytes())
    (folder / "Harbour.txt").write_text(" The harbour was quiet.\n", "utf-8")
    return folder


@pytest.fixture
def library(tmp_path: Path, built_in: Path) -> VoiceLibrary:
    return VoiceLibrary(tmp_path / "voices", built_in=built_in)


def files(tmp_path: Path) -> list[str]:
    folder = tmp_path / "voices" / "clips"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_a_voice_is_stored_byte_for_byte(library: VoiceLibrary, tmp_path: Path, built_in: Path) -> None:
    added = library.add(CLIP, "  Anna  Maria ", " What she said. ", notes="by the window")
    again = VoiceLibrary(tmp_path / "voices", built_in=built_in).get("anna maria")
    assert again == added.voice
    assert (again.name, again.transcript, again.notes) == ("Anna Maria", "What she said.", "by the window")
    assert again.clip.read_bytes() == CLIP.read_bytes()
    assert again.clip.suffix == ".wav"
    assert again.clip_seconds == pytest.approx(soundfile.info(CLIP).duration)
    assert again.created.endswith("+00:00")
    assert len(again.sha256) == 64


def test_bundled_voices_come_first_then_names_in_order(library: VoiceLibrary) -> None:
    for name in ("zoe", "Anna"):
        library.add(CLIP, name)
    assert [(voice.name, voice.is_built_in) for voice in library.voices()] == [
        ("Harbour", True), ("Anna", False), ("zoe", False),
    ]  # fmt: skip
    assert library.get("harbour").transcript == "The harbour was quiet."
    assert library.get("anna").transcript is None


def test_reading_creates_nothing(library: VoiceLibrary, tmp_path: Path) -> None:
    assert [voice.name for voice in library.voices()] == ["Harbour"]
    assert not (tmp_path / "voices").exists()


def test_add_returns_warnings_about_a_poor_clip(library: VoiceLibrary, tmp_path: Path) -> None:
    samples, rate = soundfile.read(CLIP, dtype="float32")
    soundfile.write(tmp_path / "quiet.wav", samples * 0.02, rate, "FLOAT")
    assert library.add(tmp_path / "quiet.wav", "Quiet").warnings


@pytest.mark.parametrize("name", ["anna", "ANNA", " Anna ", "harbour"])
def test_names_are_unique_ignoring_case(library: VoiceLibrary, tmp_path: Path, name: str) -> None:
    library.add(CLIP, "Anna")
    with pytest.raises(VoiceExists, match="already"):
        library.add(CLIP, name)
    assert len(files(tmp_path)) == 1


@pytest.mark.parametrize("name", ["", "  ", "a/b", "a\\b", "-x", ".x", "x" * 81, "bell\a", "half\ud83d"])
def test_invalid_names_are_refused(library: VoiceLibrary, name: str) -> None:
    with pytest.raises(BadVoiceName, match="not a valid voice name"):
        library.add(CLIP, name)


def test_lone_surrogates_are_removed(library: VoiceLibrary) -> None:
    library.add(CLIP, "Anna", "What \udce4 she said.", notes="\ud83d")
    assert library.get("Anna").transcript == "What  she said."


def test_a_missing_name_suggests_similar_ones(library: VoiceLibrary) -> None:
    library.add(CLIP, "Annabel")
    with pytest.raises(VoiceNotFound, match=r"There is no voice named Anabel. Did you mean Annabel\?"):
        library.get("Anabel")
    with pytest.raises(VoiceNotFound, match=r"named xyz\."):
        library.get("xyz")


def test_refused_clips_leave_no_files(library: VoiceLibrary, tmp_path: Path) -> None:
    rate = 24_000
    soundfile.write(tmp_path / "silent.wav", np.zeros(rate * 4), rate)
    soundfile.write(tmp_path / "short.wav", soundfile.read(CLIP)[0][: rate // 10], rate)
    (tmp_path / "text.wav").write_text("not a sound")
    (tmp_path / "cut.safetensors").write_bytes(b"\x10")
    for name, error in {
        "silent.wav": SilentClip,
        "short.wav": ClipTooShort,
        "text.wav": UnreadableClip,
        "missing.wav": UnreadableClip,
        "cut.safetensors": UnreadableClip,
    }.items():
        with pytest.raises(error):
            library.add(tmp_path / name, "Anna")
    assert files(tmp_path) == []
    assert [voice.name for voice in library.voices()] == ["Harbour"]


def test_add_stored_features(library: VoiceLibrary, tmp_path: Path) -> None:
    features = {
        "speech_tokens": np.arange(75, dtype=np.int32),
        "mel": np.zeros((150, 80), np.float32),
        "embedding": np.ones(192, np.float32),
    }
    save_file(features, tmp_path / "anna.safetensors")
    voice = library.add(tmp_path / "anna.safetensors", "Anna", generation="cosyvoice2").voice
    assert (voice.clip_seconds, voice.generation, voice.clip.suffix) == (3.0, "cosyvoice2", ".safetensors")
    for key, array in {"mel": np.full((150, 80), np.nan, np.float32), "embedding": np.ones(5, np.float32)}.items():
        save_file({**features, key: array}, tmp_path / "bad.safetensors")
        with pytest.raises(UnreadableClip, match="no voice features"):
            library.add(tmp_path / "bad.safetensors", "Ben")


def test_remove_deletes_the_clip(library: VoiceLibrary, tmp_path: Path) -> None:
    library.add(CLIP, "Anna")
    library.remove("ANNA")
    assert files(tmp_path) == []
    with pytest.raises(VoiceNotFound):
        library.remove("Anna")


def test_rename_and_update_metadata(library: VoiceLibrary) -> None:
    library.add(CLIP, "Anna", "What she said.")
    library.add(CLIP, "Ben")
    assert library.rename("Anna", "ANNA").name == "ANNA", "only the case"
    assert library.rename("anna", "Clara").transcript == "What she said."
    with pytest.raises(VoiceExists):
        library.rename("Clara", "ben")
    with pytest.raises(VoiceNotFound):
        library.rename("Anna", "Dora")
    voice = library.update_metadata("clara", transcript="", notes="new")
    assert (voice.transcript, voice.notes) == (None, "new")
    assert library.update_metadata("clara", transcript="Said.").notes == "new"


def test_a_renamed_bundled_voice_is_found_by_either_name(library: VoiceLibrary, built_in: Path, tmp_path: Path) -> None:
    before = library.get("Harbour")
    renamed = library.rename("harbour", "Port")
    assert (renamed.name, renamed.bundled_name, renamed.clip) == ("Port", "Harbour", before.clip)
    again = VoiceLibrary(tmp_path / "voices", built_in=built_in)
    assert again.get("PORT") == again.get("harbour") == renamed
    assert voice_key(renamed) == voice_key(before), "takes stay up to date"
    assert map_voice_keys([renamed]) == {"port": voice_key(before), "harbour": voice_key(before)}
    for taken in ("port", "Harbour"):
        with pytest.raises(VoiceExists):
            library.add(CLIP, taken)
    library.add(CLIP, "Anna")
    with pytest.raises(VoiceExists):
        library.rename("Port", "anna")
    assert library.rename("Port", "Harbour") == before
    assert library.unique_name("Port") == "Port"


def test_bundled_voices_cannot_be_changed(library: VoiceLibrary, built_in: Path) -> None:
    for change in (
        lambda: library.remove("Harbour"),
        lambda: library.update_metadata("Harbour", notes="x"),
    ):
        with pytest.raises(CannotWrite, match="is a bundled voice"):
            change()
    assert (built_in / "Harbour.wav").is_file()


def test_export_and_import(library: VoiceLibrary, tmp_path: Path) -> None:
    library.add(CLIP, "Änna 安娜", "What she said.", notes="by the window")
    library.export("änna 安娜", tmp_path / "anna.voice")
    other = VoiceLibrary(tmp_path / "elsewhere", built_in=tmp_path)
    voice = other.import_(tmp_path / "anna.voice").voice
    assert (voice.name, voice.transcript, voice.notes) == ("Änna 安娜", "What she said.", "by the window")
    assert voice.clip.read_bytes() == CLIP.read_bytes()
    with pytest.raises(VoiceExists):
        other.import_(tmp_path / "anna.voice")
    assert other.import_(tmp_path / "anna.voice", name="Ben").voice.name == "Ben"


def test_export_is_deterministic(library: VoiceLibrary, tmp_path: Path) -> None:
    for name in ("a.voice", "b.voice"):
        library.export("Harbour", tmp_path / name)
    assert (tmp_path / "a.voice").read_bytes() == (tmp_path / "b.voice").read_bytes()


def test_export_into_a_missing_folder_is_an_error(library: VoiceLibrary, tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="There is no folder"):
        library.export("Harbour", tmp_path / "no" / "anna.voice")


def test_a_name_is_added_only_once_by_concurrent_processes(
    library: VoiceLibrary, tmp_path: Path, built_in: Path
) -> None:
    results: list[str] = []
    start = threading.Barrier(4)

    def add() -> None:
        start.wait()
        try:
            VoiceLibrary(tmp_path / "voices", built_in=built_in).add(CLIP, "Anna")
            results.append("added")
        except VoiceExists:
            results.append("exists")

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["added", "exists", "exists", "exists"]
    assert len(files(tmp_path)) == 1


def test_old_orphans_are_removed(library: VoiceLibrary, tmp_path: Path) -> None:
    library.add(CLIP, "Anna")
    (tmp_path / "voices" / "clips" / "orphan.wav").write_bytes(b"x")
    library.add(CLIP, "Ben")
    assert len(files(tmp_path)) == 3, "another process may be adding it"
    long_ago = time.time() - 7200
    for name in files(tmp_path):
        os.utime(tmp_path / "voices" / "clips" / name, (long_ago, long_ago))
    library.add(CLIP, "Clara")
    assert len(files(tmp_path)) == 3
    assert "orphan.wav" not in files(tmp_path)


def test_a_full_disk_leaves_no_files(library: VoiceLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull, match="The disk is full"):
        library.add(CLIP, "Anna")
    assert files(tmp_path) == []


def test_no_clip_is_left_if_the_database_cannot_be_created(tmp_path: Path, built_in: Path) -> None:
    (tmp_path / "voices" / "library.sqlite3").mkdir(parents=True)
    library = VoiceLibrary(tmp_path / "voices", built_in=built_in)
    with pytest.raises(CannotWrite, match="cannot be used"):
        library.add(CLIP, "Anna")
    assert files(tmp_path) == []


@pytest.mark.parametrize("content", [b"this is no database, but long enough to be one" * 100, b"SQLite format 3\0"])
def test_a_damaged_database_is_reported(library: VoiceLibrary, tmp_path: Path, content: bytes) -> None:
    library.add(CLIP, "Anna")
    (tmp_path / "voices" / "library.sqlite3").write_bytes(content)
    with pytest.raises(DamagedLibrary, match="damaged"):
        library.voices()


def test_a_newer_database_is_not_changed(library: VoiceLibrary, tmp_path: Path) -> None:
    library.add(CLIP, "Anna")
    with contextlib.closing(
        sqlite3.connect(tmp_path / "voices" / "library.sqlite3", isolation_level=None)
    ) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(DamagedLibrary, match="newer version"):
        library.add(CLIP, "Ben")


def test_a_locked_database_is_reported(library: VoiceLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library.add(CLIP, "Anna")
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.1)
    with contextlib.closing(
        sqlite3.connect(tmp_path / "voices" / "library.sqlite3", isolation_level=None)
    ) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(CannotWrite, match="Another program"):
            library.add(CLIP, "Ben")


@pytest.fixture(autouse=True)
def no_partial_files(tmp_path: Path) -> Iterator[None]:
    yield
    assert [str(path) for path in tmp_path.rglob("*.part")] == []
