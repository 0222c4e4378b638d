"""`timbre voices`: all actions, including the import of official stored voices."""

from __future__ import annotations

import shutil
from pathlib import Path

import noise_models
import pytest
import torch
from terminal import Terminal

from studio.model.generations import COSYVOICE2
from studio.pipeline.enrolment import read_features

pytestmark = pytest.mark.timeout(120)


def test_a_voice_is_added_shown_edited_and_removed(timbre: Terminal, clip: Path) -> None:
    assert "There are no voices yet" in timbre("voices", "list").err
    ran = timbre("voices", "add", "Anna", clip, "--notes", "by the window")
    assert ran.status == 0
    assert "added Anna (" in ran.err
    assert "add a --transcript for a closer likeness" in ran.err
    assert timbre("voices", "edit", "anna", "--transcript", "What she said.").status == 0
    listed = timbre("voices", "list").out
    assert listed.startswith("Anna  ")
    assert listed.endswith(" What she said.\n")
    shown = timbre("voices", "show", "Anna").out
    assert "transcript:    What she said.\n" in shown
    assert "notes:         by the window\n" in shown
    assert timbre("voices", "rename", "Anna", "Clara").err == "renamed Anna to Clara\n"
    assert timbre("voices", "show", "clara", "--json").json["name"] == "Clara"
    assert [voice["name"] for voice in timbre("voices", "list", "--json").json] == ["Clara"]
    assert timbre("voices", "export", "Clara").err == "wrote Clara.voice\n"
    assert timbre("voices", "remove", "clara").status == 0
    assert timbre("voices", "import", "Clara.voice").status == 0
    assert timbre("voices", "import", "Clara.voice").status == 7
    assert timbre("voices", "import", "Clara.voice", "--name", "Dora").status == 0
    voice = timbre.library.get("Dora")
    assert (voice.transcript, voice.notes) == ("What she said.", "by the window")
    assert voice.clip.read_bytes() == clip.read_bytes()


def test_the_default_export_name_is_valid_on_every_system(timbre: Terminal, clip: Path) -> None:
    """On Windows, ``a:b.voice`` is a stream of a file ``a``, and ``CON.voice`` is a device."""
    for name, file in (("Anna: angry?", "Anna angry.voice"), ("CON", "_CON.voice")):
        assert timbre("voices", "add", name, clip).status == 0
        assert timbre("voices", "export", name).err == f"wrote {file}\n"
        assert Path(file).is_file()


@pytest.fixture(params=["cosyvoice2", "cosyvoice3"])
def model(request: pytest.FixtureRequest) -> Path:
    return noise_models.FOLDER / f"noise-{request.param}"


@pytest.mark.slow
def test_official_stored_voices_keep_transcript_and_features(timbre: Terminal, model: Path) -> None:
    ran = timbre("voices", "import", model / "spk2info.pt")
    assert ran.status == 0, ran.err
    (voice,) = timbre.library.voices()
    assert voice.name == "my_zero_shot_spk"
    assert voice.transcript == "希望你以后能够做得比我还好呦。"
    assert voice.generation == model.name.removeprefix("noise-")
    (entry,) = torch.load(model / "spk2info.pt", weights_only=True).values()
    prompt = read_features(voice.clip, COSYVOICE2)
    assert prompt.speech_tokens == tuple(entry["flow_prompt_speech_token"][0].tolist())
    torch.testing.assert_close(torch.from_numpy(prompt.mel), entry["prompt_speech_feat"][0], rtol=0, atol=0)
    torch.testing.assert_close(torch.from_numpy(prompt.embedding), entry["flow_embedding"][0], rtol=0, atol=0)
    assert f"({voice.generation} only)" in timbre("voices", "list").out


def test_a_stored_voice_works_only_with_its_generation(timbre: Terminal) -> None:
    timbre("voices", "import", noise_models.V2 / "spk2info.pt", "--name", "Anna")
    ran = timbre("say", "x", "--voice", "Anna", "--model", "noise-cosyvoice3", "-o", "x.wav")
    assert ran.status == 7
    assert "noise-cosyvoice3 is a Fun-CosyVoice3 model" in ran.err
    assert "(voice-of-another-model)" in ran.err
    assert timbre("say", "x", "--voice", "Anna", "--model", "noise-cosyvoice2", "-o", "x.wav").status == 0


def stored(folder: Path, entries: object) -> Path:
    shutil.copy(noise_models.V3 / "cosyvoice3.yaml", folder)
    shutil.copytree(noise_models.V3 / "CosyVoice-BlankEN", folder / "CosyVoice-BlankEN")
    torch.save(entries, folder / "spk2info.pt")
    return folder / "spk2info.pt"


class Hostile:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (print, ("this must never be seen",))


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({}, "contains no voices"),
        ([1, 2], "contains no voices"),
        ({"a": torch.zeros(3)}, "contains no voices"),
        ({"a": {"x": Hostile()}}, "runs code when opened"),
    ],
)
def test_invalid_files_of_stored_voices_are_refused(
    timbre: Terminal, tmp_path: Path, entries: object, words: str
) -> None:
    ran = timbre("voices", "import", stored(tmp_path, entries))
    assert ran.status == 7
    assert words in ran.err
    assert "must never be seen" not in ran.out + ran.err
    assert timbre.library.voices() == []


def test_unusable_stored_voices_are_reported_and_the_others_imported(timbre: Terminal, tmp_path: Path) -> None:
    (good,) = torch.load(noise_models.V3 / "spk2info.pt", weights_only=True).values()
    path = stored(
        tmp_path,
        {
            "Good": good,
            "Wordless": {key: value for key, value in good.items() if key != "prompt_text"},
            "中文女": {"embedding": torch.zeros(1, 192)},
            "Short": {"embedding": torch.zeros(1, 19)},
            "Broken": {**good, "prompt_speech_feat": good["prompt_speech_feat"] * float("nan")},
            "Flat": {**good, "flow_embedding": torch.zeros(192)},
            "Alien": {**good, "flow_prompt_speech_token": good["flow_prompt_speech_token"] + 10**6},
        },
    )
    ran = timbre("voices", "import", path)
    assert [(voice.name, voice.transcript is None) for voice in timbre.library.voices()] == [
        ("Good", False), ("Wordless", True), ("中文女", True),
    ]  # fmt: skip
    assert timbre.library.get("中文女").clip_seconds == 0, "a speaker without a clip"
    for words in (
        "Short is damaged",
        "Broken is damaged",
        "Flat lacks flow_embedding",
        "Alien is damaged",
    ):
        assert words in ran.err
    assert timbre("voices", "import", path).status == 7, "the names are taken now"


def test_a_truncated_file_of_stored_voices_is_refused(timbre: Terminal, tmp_path: Path) -> None:
    path = stored(tmp_path, {"a": {"x": torch.zeros(1000)}})
    path.write_bytes(path.read_bytes()[:1000])
    ran = timbre("voices", "import", path)
    assert ran.status == 7
    assert "(bad-voice-file)" in ran.err


def test_recordings_are_not_mixed(timbre: Terminal, clip: Path) -> None:
    for name in ("Anna", "Max"):
        timbre.library.add(clip, name)
    ran = timbre("voices", "mix", "Mia", "Anna", "Max")
    assert ran.status == 2
    assert "Anna and Max cannot be mixed, because a recording is the voice of one speaker." in ran.err
