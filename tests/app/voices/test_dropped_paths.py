"""Classification of dropped files and folders."""

from __future__ import annotations

from pathlib import Path

from studio.app.voices import voice_importer
from studio.app.voices.voice_importer import classify_paths, may_hold_voices


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_files_are_classified_by_kind(tmp_path: Path) -> None:
    names = ["a.WAV", "b.m4a", "c.voice", "spk2info.pt", "d.txt"]
    paths = [tmp_path / name for name in names]
    touch(*paths)
    found = classify_paths(paths)
    assert [path.name for path in found.recordings] == ["a.WAV", "b.m4a"]
    assert [path.name for path in found.voice_files] == ["c.voice"]
    assert [path.name for path in found.stored_voices] == ["spk2info.pt"]
    assert [path.name for path in found.others] == ["d.txt"]
    assert found.num_usable == 4


def test_folders_are_searched_in_order_of_name(tmp_path: Path) -> None:
    folder = tmp_path / "声 音"
    touch(folder / "b.wav", folder / "a" / "z.flac", folder / ".hidden.wav", folder / "notes.txt", folder / "llm.pt")
    found = classify_paths([folder])
    assert [path.name for path in found.recordings] == ["z.flac", "b.wav"]
    assert found.stored_voices == [], "model weights are not voices"
    assert found.others == []


def test_the_number_of_files_is_limited(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(voice_importer, "MAX_FILES", 5)
    touch(*(tmp_path / "music" / f"{number}.mp3" for number in range(20)))
    assert classify_paths([tmp_path / "music"]).num_usable == 5


def test_dragged_paths_are_checked_by_name_only(tmp_path: Path) -> None:
    assert may_hold_voices([Path("/nowhere/a.mp3")])
    assert may_hold_voices([tmp_path])
    assert not may_hold_voices([Path("/nowhere/a.txt"), Path("/nowhere/b.timbre")])
    assert not may_hold_voices([])
