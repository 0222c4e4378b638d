"""Speakers of installed models are voices of the library."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import noise_models
import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from studio import paths
from studio.catalog import built_in_speakers
from studio.catalog.built_in_speakers import are_mixable, installed_speakers, list_speakers, mixed_speaker, similarities
from studio.errors import CannotWrite, VoiceExists
from studio.voices.library import VoiceLibrary
from studio.voices.voice import Voice

CLIP = paths.resources() / "voices" / "Ada.wav"


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of models, which is empty at first."""
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.setattr(
        built_in_speakers, "installed_models", lambda: {path.name: path for path in sorted(folder.iterdir())}
    )
    return folder


def install(models: Path, name: str, speakers: dict[str, float] | None = None, source: Path = noise_models.V1) -> None:
    shutil.copytree(source, models / name, ignore=shutil.ignore_patterns("*.onnx", "llm.pt", "flow.pt", "hift.pt"))
    if speakers is not None:
        entries = {speaker: {"embedding": torch.full((1, 192), value)} for speaker, value in speakers.items()}
        torch.save(entries, models / name / "spk2info.pt")


def library(tmp_path: Path, *, lists_speakers: bool = True) -> VoiceLibrary:
    return VoiceLibrary(
        tmp_path / "voices",
        built_in=tmp_path / "none",
        speakers=installed_speakers,
        lists_speakers=lambda: lists_speakers,
    )


def named(voices: list[Voice]) -> dict[str, tuple[str, ...]]:
    return {voice.name: voice.models for voice in voices}


def test_a_speaker_has_language_model_and_generation(models: Path) -> None:
    install(models, "CosyVoice-300M-SFT", {"中文女": 1.0, "粤语女": 2.0, "韩语女": 3.0, "Bob": 4.0})
    voices = list_speakers(models / "CosyVoice-300M-SFT")
    assert [(voice.name, voice.language) for voice in voices] == [
        ("中文女", "zh"),
        ("粤语女", "yue"),
        ("韩语女", "ko"),
        ("Bob", None),
    ]
    assert {(voice.generation, voice.models, voice.clip_seconds, voice.transcript) for voice in voices} == {
        ("cosyvoice1", ("CosyVoice-300M-SFT",), 0.0, None)
    }
    assert all(voice.clip.is_file() for voice in voices)


def test_the_same_speaker_of_two_models_is_one_voice(models: Path) -> None:
    install(models, "A", {"中文女": 1.0})
    install(models, "B", {"中文女": 1.0})
    assert named(installed_speakers()) == {"中文女": ("A", "B")}


def test_different_speakers_of_the_same_name_are_two_voices(models: Path) -> None:
    install(models, "A", {"中文女": 1.0})
    install(models, "B", {"中文女": 2.0})
    assert named(installed_speakers()) == {"中文女": ("A",), "中文女 (B)": ("B",)}


def test_models_without_speakers_and_damaged_files_are_skipped(models: Path) -> None:
    install(models, "A", {"中文女": 1.0})
    install(models, "B", source=noise_models.V2)
    install(models, "C")
    (models / "C" / "spk2info.pt").write_bytes(b"damaged")
    (models / "D").mkdir()
    assert named(installed_speakers()) == {"中文女": ("A",)}


def test_later_generations_may_have_speakers_without_a_clip(models: Path) -> None:
    install(models, "A", {"Anna": 1.0}, source=noise_models.V3)
    (voice,) = installed_speakers()
    assert (voice.name, voice.generation) == ("Anna", "cosyvoice3")


def test_the_library_lists_and_finds_speakers(models: Path, tmp_path: Path) -> None:
    install(models, "A", {"中文女": 1.0})
    assert named(library(tmp_path).voices()) == {"中文女": ("A",)}
    hidden = library(tmp_path, lists_speakers=False)
    assert hidden.voices() == []
    assert hidden.get("中文女").models == ("A",), "lines keep their voice"


def test_a_voice_of_the_user_comes_before_a_speaker_of_the_same_name(models: Path, tmp_path: Path) -> None:
    own = library(tmp_path)
    own.add(CLIP, "Bob")
    install(models, "A", {"Bob": 1.0})
    assert named(own.voices()) == {"Bob": (), "Bob (A)": ("A",)}
    assert own.get("Bob").models == ()
    assert own.get("Bob (A)").models == ("A",)


def test_a_speaker_can_be_renamed_but_not_removed_or_replaced(models: Path, tmp_path: Path) -> None:
    install(models, "A", {"中文女": 1.0})
    own = library(tmp_path)
    own.rename("中文女", "Mei")
    assert named(own.voices()) == {"Mei": ("A",)}
    assert own.get("中文女").name == "Mei"
    with pytest.raises(CannotWrite, match="Mei is a bundled voice"):
        own.remove("Mei")
    with pytest.raises(VoiceExists):
        own.add(CLIP, "Mei")


def test_a_speaker_is_exported_and_imported_as_a_voice_of_its_generation(models: Path, tmp_path: Path) -> None:
    install(models, "A", {"中文女": 1.0})
    library(tmp_path).export("中文女", tmp_path / "mei.voice")
    elsewhere = VoiceLibrary(tmp_path / "elsewhere", built_in=tmp_path / "none")
    voice = elsewhere.import_(tmp_path / "mei.voice").voice
    assert (voice.name, voice.generation, voice.clip_seconds) == ("中文女", "cosyvoice1", 0.0)
    copy = library(tmp_path).duplicate("中文女", "Copy")
    assert (copy.generation, copy.models) == ("cosyvoice1", ())


def test_a_mixture_of_speakers_is_an_own_voice_equally_like_both(models: Path, tmp_path: Path) -> None:
    install(models, "CosyVoice-300M-SFT", {"中文女": 1.0, "英文男": 2.0})
    voices = library(tmp_path)
    low, high = voices.get("中文女"), voices.get("英文男")
    assert are_mixable([low, high])
    assert not are_mixable([low])
    assert not are_mixable([low, replace(high, clip_seconds=4.0)]), "a recording is of one speaker"
    assert not are_mixable([low, replace(high, generation="cosyvoice2")])
    halves = np.eye(2, 192, dtype=np.float32) * 5.0
    for voice, embedding in ((low, halves[0]), (high, halves[1])):
        save_file(load_file(voice.clip) | {"embedding": embedding}, voice.clip, {"generation": "cosyvoice"})
    mixed = voices.add_copy(mixed_speaker("Mia", [low, high]), "Mia")
    assert (mixed.language, mixed.generation, mixed.is_built_in) == (None, low.generation, False)
    assert similarities(mixed, [low, high]) == pytest.approx([0.7071, 0.7071], abs=1e-4)
    with pytest.raises(VoiceExists):
        voices.add_copy(mixed, "mia")
