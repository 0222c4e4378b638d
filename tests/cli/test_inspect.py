"""`timbre inspect`, and the manifests of `say` and `convert`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import soundfile
from terminal import Terminal

from studio import paths
from studio.provenance import inspection, signing
from studio.provenance.mark import Marker
from studio.provenance.statement import hash_text
from studio.settings import SIGNS_FILES
from studio.settings_store import Settings

pytestmark = pytest.mark.timeout(60)
needs_library = pytest.mark.skipif(importlib.util.find_spec("c2pa") is None, reason="needs c2pa-python")


def said(timbre: Terminal, clip: Path, *options: str | Path) -> tuple[Path, str]:
    ran = timbre("say", "Hello there.", "--voice", clip, "--model", "quiet", "-o", "hello.wav", *options)
    assert ran.status == 0, ran.err
    return timbre.folder / "hello.wav", ran.err


@needs_library
def test_speech_in_a_file_is_signed_and_its_origin_printed(timbre: Terminal, clip: Path) -> None:
    path, _ = said(timbre, clip, "--seed", "5")
    ran = timbre("inspect", path)
    assert ran.status == 0
    assert "manifest: valid, not changed since it was signed by “Timbre Studio, self-made key" in ran.out
    assert "synthetic speech: model quiet" in ran.out
    assert f"line: voice {clip.stem}, seed 5" in ran.out


@needs_library
def test_json_has_the_promised_form(timbre: Terminal, clip: Path) -> None:
    path, _ = said(timbre, clip)
    (found,) = timbre("inspect", path, "--json").json["files"]
    assert set(found) == {"path", "manifest", "mark", "metadata"}
    assert found["path"] == str(path)
    signer = found["manifest"].pop("signer")
    assert signer.startswith("Timbre Studio, self-made key ")
    assert found["manifest"] == {"state": "valid", "is_trusted": True}
    assert set(found["mark"]) >= {"state", "probability"}
    (line,) = found["metadata"]["speech"]["lines"]
    assert line["text_sha256"] == hash_text("Hello there.")
    assert line["audio_sha256"]


@needs_library
def test_a_changed_file_is_status_1(timbre: Terminal, clip: Path) -> None:
    path, _ = said(timbre, clip)
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)
    ran = timbre("inspect", path)
    assert ran.status == 1
    assert "manifest: changed. The file was changed after it was signed" in ran.out


@needs_library
def test_a_recording_that_is_converted_keeps_its_manifest(timbre: Terminal, clip: Path) -> None:
    path, _ = said(timbre, clip)
    assert timbre("convert", path, "--voice", clip, "--model", "quiet", "-o", "converted.wav").status == 0
    ran = timbre("inspect", "converted.wav")
    assert ran.status == 0
    assert "recordings that keep their own manifest: 1" in ran.out


@needs_library
def test_exports_are_signed(timbre: Terminal, clip: Path) -> None:
    Path("story.txt").write_text("One line.\n\nAnother line.", "utf-8")
    words = ("export", "story.txt", "--voice", clip, "--model", "quiet", "--out", "out", "--files", "lines")
    assert timbre(*words).status == 0
    files = timbre("inspect", *sorted(Path("out").iterdir()), "--json").json["files"]
    assert [each["manifest"]["state"] for each in files] == ["valid", "valid"]
    assert [each["metadata"]["speech"]["lines"][0]["text_sha256"] for each in files] == [
        hash_text("One line."),
        hash_text("Another line."),
    ]


@needs_library
def test_a_corrected_file_is_signed_again(timbre: Terminal, clip: Path) -> None:
    path, _ = said(timbre, clip)
    assert "originals" in timbre("levels", path, "--fix").err
    ran = timbre("inspect", path, timbre.folder / "originals" / path.name)
    assert ran.status == 0
    assert "edits: marked, mastered" in ran.out
    assert "recordings that keep their own manifest: 1" in ran.out


@needs_library
def test_signing_can_be_refused(timbre: Terminal, clip: Path) -> None:
    path, _ = said(timbre, clip, "--unsigned")
    assert "manifest: absent" in timbre("inspect", path).out
    Settings()[SIGNS_FILES] = False
    path, err = said(timbre, clip)
    assert "manifest: absent" in timbre("inspect", path).out
    assert "not signed" not in err


def test_without_the_library_speech_is_written_and_the_reason_printed(
    timbre: Terminal, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing, "can_sign", lambda: False)
    path, err = said(timbre, clip)
    assert path.is_file()
    assert err.count("Files are not signed: the library c2pa-python is not installed.") == 1
    _, err = said(timbre, clip, "--unsigned")
    assert "not signed" not in err
    Path("story.txt").write_text("Hello.", "utf-8")
    assert "not signed" not in timbre("export", "story.txt", "--voice", str(clip), "--dry-run").err


@needs_library
def test_the_mark_is_found_when_the_manifest_is_gone(timbre: Terminal) -> None:
    voice = paths.resources() / "voices" / "Ada.wav"
    samples, rate = soundfile.read(voice, dtype="float32")
    soundfile.write(timbre.folder / "marked.wav", Marker(rate)(samples), rate)
    shown = timbre("inspect", "marked.wav", voice).out
    assert "  manifest: absent" in shown
    assert "  mark: found; the speech is synthetic (clearest from 0 to 4 s)" in shown
    assert "  mark: no mark found; the speech may be synthetic, too" in shown
    marked, unmarked = timbre("inspect", "marked.wav", voice, "--json").json["files"]
    assert marked["mark"]["state"] == "found"
    assert marked["mark"]["probability"] > 0.5
    assert unmarked["mark"]["state"] == "not-found"


@needs_library
def test_files_say_that_they_are_marked(timbre: Terminal, clip: Path) -> None:
    path, _ = said(timbre, clip)
    (found,) = timbre("inspect", path, "--json").json["files"]
    assert found["metadata"]["speech"]["edits"] == ["marked"]
    timbre("say", "Hello there.", "--voice", clip, "--model", "quiet", "-o", "plain.wav", "--unmarked")
    (found,) = timbre("inspect", "plain.wav", "--json").json["files"]
    assert "edits" not in found["metadata"]["speech"]


def test_without_the_library_the_mark_and_the_metadata_are_shown(
    timbre: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "can_sign", lambda: False)
    voice = paths.resources() / "voices" / "Ada.wav"
    samples, rate = soundfile.read(voice, dtype="float32")
    soundfile.write(timbre.folder / "marked.wav", Marker(rate)(samples), rate)
    ran = timbre("inspect", "marked.wav")
    assert ran.status == 0
    assert "  manifest: absent; the file does not say where it comes from" in ran.out
    assert "  mark: found; the speech is synthetic" in ran.out


@needs_library
def test_without_the_library_a_manifest_is_not_checked(
    timbre: Terminal, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = said(timbre, clip)
    monkeypatch.setattr(inspection, "can_sign", lambda: False)
    ran = timbre("inspect", path)
    assert ran.status == 1
    assert "  manifest: not checked. The library c2pa-python, which verifies it, is not installed." in ran.out
    assert "[provenance]" in ran.out
    (found,) = timbre("inspect", path, "--json").json["files"]
    assert found["manifest"] == {"state": "not-checked", "signer": None, "is_trusted": False}
