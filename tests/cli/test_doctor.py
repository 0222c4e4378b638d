"""`timbre doctor`: finds what is broken, says what to do, and never breaks itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from terminal import Ran, Terminal

from studio import paths
from studio.cli import health

pytestmark = pytest.mark.timeout(120)


def check(ran: Ran, subject: str) -> dict[str, str]:
    (found,) = (check for check in ran.json["checks"] if check["subject"] == subject)
    assert (found["verdict"] == "fine") == (found["remedy"] == ""), "a remedy for what is not fine, and only for that"
    return dict(found)


@pytest.fixture
def without_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading torch takes seconds, and most tests ask about something else."""
    monkeypatch.setattr(health, "_ASK_ENGINES", 'print(\'{"torch": "2", "onnxruntime": "1", "gpu": null}\')')


def test_a_machine_in_good_order(timbre: Terminal) -> None:
    timbre.with_sound_card()
    ran = timbre("doctor", "--json")
    assert ran.status == 0
    assert ran.json["can_speak"] is True
    assert "PyTorch 2." in check(ran, "engine")["finding"]
    assert check(ran, "sound card")["verdict"] == "fine"
    assert check(ran, "model noise-cosyvoice3")["finding"].startswith("Fun-CosyVoice3, ")
    assert {one["subject"] for one in ran.json["checks"]} >= {
        "Python", "engine", "processor", "memory", "sound card", "recordings", "voices", "data", "cache", "logs",
    }  # fmt: skip


@pytest.mark.usefixtures("without_engines")
def test_for_people_it_is_a_list(timbre: Terminal) -> None:
    ran = timbre("doctor")
    assert ran.status == 0
    assert ran.out.startswith("ok    Python: 3.")
    assert "note  sound card: No sound card can be used here.\n      Connect loudspeakers" in ran.out
    assert ran.out.endswith("\nSpeaking will work.\n")
    assert ran.err == ""


@pytest.mark.parametrize("code", ["import a_library_that_is_not_there", "import os; os.abort()", "print('what?')"])
def test_engines_that_do_not_load(timbre: Terminal, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(health, "_ASK_ENGINES", code)
    ran = timbre("doctor", "--json")
    assert ran.status == 1
    assert ran.json["can_speak"] is False
    assert check(ran, "engine")["verdict"] == "broken"
    assert "packaging/run.py" in check(ran, "engine")["remedy"]


def test_engines_that_take_forever(timbre: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_ASK_ENGINES", "import time; time.sleep(60)")
    monkeypatch.setattr(health, "_ENGINE_SECONDS", 0.2)
    assert check(timbre("doctor", "--json"), "engine")["finding"] == "PyTorch does not start."


@pytest.mark.usefixtures("without_engines")
def test_folders_that_are_no_models_and_models_that_are_gone(
    timbre: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert check(timbre("doctor", "--json"), "model quiet")["verdict"] == "limited"
    monkeypatch.setattr(paths, "resources", lambda: tmp_path / "nothing")
    ran = timbre("doctor", "--json")
    assert ran.status == 1
    assert check(ran, "model")["verdict"] == "broken"


@pytest.mark.usefixtures("without_engines")
def test_a_folder_that_cannot_be_written(timbre: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("")
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path / "a-file"))
    assert "cannot be written" in check(timbre("doctor", "--json"), "cache")["finding"]


@pytest.mark.usefixtures("without_engines")
def test_a_disk_that_is_full(timbre: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_LEAST_DISK_BYTES", 1 << 60)
    assert "as good as full" in check(timbre("doctor", "--json"), "data")["remedy"]


@pytest.mark.usefixtures("without_engines")
def test_voices_without_their_recordings(timbre: Terminal, clip: Path) -> None:
    voice = timbre.library.add(clip, "Anna").voice
    assert check(timbre("doctor", "--json"), "voices")["finding"] == "1 kept"
    voice.clip.unlink()
    assert check(timbre("doctor", "--json"), "voices")["finding"] == "1 of 1 have lost their recording"
    (timbre.folder / "data" / "voices" / "library.sqlite3").write_bytes(b"nonsense" * 1000)
    assert "damaged" in check(timbre("doctor", "--json"), "voices")["finding"]


@pytest.mark.usefixtures("without_engines")
def test_a_python_of_the_future(timbre: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    assert check(timbre("doctor", "--json"), "Python")["verdict"] == "broken"
