"""Paths that are not regular files are rejected before they are opened."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from scripts import import_script

from studio.app.voices.new_voices import _read_transcript
from studio.audio.files import read_audio
from studio.errors import (
    BadVoiceFile,
    DamagedModelFile,
    StudioError,
    UnreadableClip,
    UnreadableProject,
    UnreadableScript,
    UnreadableText,
)
from studio.messages import message
from studio.model.generations import COSYVOICE3
from studio.pipeline.enrolment import read_features
from studio.pipeline.prompt_cache import prompt_key
from studio.pipeline.request import VoiceReference
from studio.project.dictionary import load_global_dictionary, save_global_dictionary
from studio.project.drafts import recoverable_drafts
from studio.project.project import Project
from studio.settings_store import Settings
from studio.storage.disk import NotRegularFile, require_regular_file
from studio.text.respellings import Respellings
from studio.text.styles import load_styles
from studio.voices.clip_intake import clip_seconds, validate_clip
from studio.voices.clip_store import ClipStore
from studio.voices.library import VoiceLibrary
from studio.voices.voice import VoiceDetails
from studio.voices.voice_file import read_voice_file, write_voice_file

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
# Opening a pipe without a writer would block forever.
pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def pipe(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that creates a named pipe."""

    def make(name: str) -> Path:
        path = tmp_path / name
        os.mkfifo(path)
        return path

    return make


def test_a_file_and_a_link_to_it_are_accepted(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    require_regular_file(file)
    link = tmp_path / "link"
    try:
        link.symlink_to(file)
    except OSError:
        pytest.skip("this system permits no links")
    require_regular_file(link)


def test_a_missing_file_and_a_folder_raise_the_usual_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        require_regular_file(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        require_regular_file(tmp_path)


@needs_pipes
def test_pipes_sockets_and_devices_are_rejected_with_a_reason(pipe: Callable[[str], Path], tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for path in (pipe("pipe"), tmp_path / "socket", Path(os.devnull)):
            with pytest.raises(NotRegularFile) as refused:
                require_regular_file(path)
            assert str(message("{reason}", reason=refused.value)) == "it is not an ordinary file"


def _settings(path: Path) -> None:
    (complaint,) = Settings(path).complaints
    assert "cannot be read (it is not an ordinary file)" in str(complaint)


def _words(path: Path) -> None:
    assert _read_transcript(path.with_suffix(".wav")) == ""


def _length(path: Path) -> None:
    assert clip_seconds(path) == 0.0


def _built_in_voice(path: Path) -> None:
    (voice,) = VoiceLibrary(path.parent / "library", built_in=path.parent).voices()
    assert voice.clip_seconds == 0.0


def _drafts(path: Path) -> None:
    assert recoverable_drafts(path.parent) == []


def _global_dictionary(path: Path) -> None:
    with pytest.raises(UnreadableText, match="not an ordinary file"):
        load_global_dictionary(path)
    save_global_dictionary(dictionary := load_global_dictionary(path.with_name("none")), path)
    assert load_global_dictionary(path) == dictionary


@needs_pipes
@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("settings.json", _settings),
        ("clip.txt", _words),
        ("clip.wav", _length),
        ("clip.wav", _built_in_voice),
        ("pronunciation.json", _global_dictionary),
        ("left.draft", _drafts),
    ],
)
def test_a_pipe_in_place_of_a_file_is_ignored(
    pipe: Callable[[str], Path], name: str, read: Callable[[Path], None]
) -> None:
    read(pipe(name))


def _stored_voices(path: Path) -> None:
    from studio.worker.stored_voices import _read_entries

    _read_entries(path)


@needs_pipes
@pytest.mark.parametrize(
    ("name", "read", "error"),
    [
        ("respellings.txt", Respellings.read, DamagedModelFile),
        ("styles.json", lambda path: load_styles("cosyvoice3", path.parent), DamagedModelFile),
        ("clip.wav", read_audio, UnreadableClip),
        ("clip.wav", validate_clip, UnreadableClip),
        ("clip.safetensors", validate_clip, UnreadableClip),
        ("clip.safetensors", lambda path: read_features(path, COSYVOICE3), UnreadableClip),
        ("clip.wav", lambda path: prompt_key(VoiceReference(path), ""), UnreadableClip),
        ("clip.wav", lambda path: ClipStore(path.parent / "clips").copy(path), UnreadableClip),
        ("ada.voice", read_voice_file, BadVoiceFile),
        ("script.txt", import_script, UnreadableScript),
        ("script.docx", import_script, UnreadableScript),
        ("script.timbre", lambda path: Project.open(path, path.parent / "drafts"), UnreadableProject),
        ("spk2info.pt", _stored_voices, BadVoiceFile),
        ("clip.wav", lambda path: write_voice_file(path.parent / "a.voice", path, VoiceDetails("A")), BadVoiceFile),
    ],
)
def test_a_pipe_in_place_of_a_required_file_is_an_error(
    pipe: Callable[[str], Path], name: str, read: Callable[[Path], object], error: type[StudioError]
) -> None:
    with pytest.raises(error):
        read(pipe(name))
