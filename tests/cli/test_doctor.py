"""`timbre doctor`: problems are found and have a remedy, and no check raises."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from terminal import Ran, Terminal

from studio import paths
from studio.catalog.installed import InstallRecord, RecordedFile, write_record
from studio.catalog.machine import Gpu, MachineFacts
from studio.engines.stage import Device
from studio.health import checks
from studio.model.device_kind import DeviceKind
from studio.voices.library import VoiceLibrary

pytestmark = pytest.mark.timeout(120)


def check(ran: Ran, subject: str) -> dict[str, str]:
    (found,) = (check for check in ran.json["checks"] if check["subject"] == subject)
    assert (found["verdict"] == "fine") == (found["remedy"] == ""), "exactly the checks that are not fine have a remedy"
    return dict(found)


@pytest.fixture
def without_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the probe of the engines, because loading torch takes seconds."""
    answer = {"torch": "2", "onnxruntime": "1", "gpus": [], "unsupported": [], "seconds_per_second": 3.2}
    monkeypatch.setattr(checks, "_ENGINES_PROBE", ("-c", f"print({json.dumps(json.dumps(answer))})"))


@pytest.mark.slow
def test_the_report_of_a_working_installation(timbre: Terminal) -> None:
    timbre.with_sound_card()
    ran = timbre("doctor", "--json")
    assert ran.status == 0
    assert ran.json["can_speak"] is True
    assert "PyTorch 2." in check(ran, "engine")["finding"]
    assert check(ran, "sound card")["verdict"] == "fine"
    assert check(ran, "model studio-mini")["finding"].startswith("Fun-CosyVoice3, ")
    assert {one["subject"] for one in ran.json["checks"]} >= {
        "program", "Python", "engine", "graphics card", "processor", "memory", "sound card", "recordings", "voices",
        "data", "models", "cache", "logs", "last errors", "libraries", "accelerators", "speech service", "cluster", "engine plans",
    }, "identifiers that earlier versions wrote"  # fmt: skip


@pytest.mark.usefixtures("without_engines")
def test_the_report_as_text(timbre: Terminal) -> None:
    ran = timbre("doctor")
    assert ran.status == 0
    assert ran.out.startswith("ok    program: Timbre Studio ")
    assert "\nok    Python: 3." in ran.out
    assert "note  sound device: No sound card can be used here.\n      Connect loudspeakers" in ran.out
    for subject in ("GPU", "audio formats", "recent errors", "built engines"):
        assert f"  {subject}: " in ran.out
    assert "\nSynthesis works. " in ran.out
    assert ran.err == ""


@pytest.mark.parametrize("code", ["import a_library_that_is_not_there", "import os; os.abort()", "print('what?')"])
def test_engines_that_do_not_load_are_reported(timbre: Terminal, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(checks, "_ENGINES_PROBE", ("-c", code))
    ran = timbre("doctor", "--json")
    assert ran.status == 1
    assert ran.json["can_speak"] is False
    assert check(ran, "engine")["verdict"] == "broken"
    assert "packaging/run.py" in check(ran, "engine")["remedy"]


def test_engines_that_do_not_respond_are_reported(timbre: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_ENGINES_PROBE", ("-c", "import time; time.sleep(60)"))
    monkeypatch.setattr(checks, "_ENGINE_SECONDS", 0.2)
    assert check(timbre("doctor", "--json"), "engine")["finding"] == "PyTorch does not start."


@pytest.mark.usefixtures("without_engines")
def test_invalid_and_missing_models_are_reported(
    timbre: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert check(timbre("doctor", "--json"), "model quiet")["verdict"] == "limited"
    monkeypatch.setattr(paths, "resources", lambda: tmp_path / "nothing")
    ran = timbre("doctor", "--json")
    assert ran.status == 1
    assert check(ran, "model")["verdict"] == "broken"


@pytest.mark.usefixtures("without_engines")
def test_an_unwritable_folder_is_reported(timbre: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("")
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path / "a-file"))
    assert "is not writable" in check(timbre("doctor", "--json"), "cache")["finding"]


@pytest.mark.usefixtures("without_engines")
def test_a_full_disk_is_reported(timbre: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_MIN_DISK_BYTES", 1 << 60)
    assert "almost full" in check(timbre("doctor", "--json"), "data")["remedy"]


@pytest.mark.usefixtures("without_engines")
def test_voices_without_recordings_are_reported(timbre: Terminal, clip: Path) -> None:
    voice = timbre.library.add(clip, "Anna").voice
    assert check(timbre("doctor", "--json"), "voices")["finding"] == "1 in the library"
    voice.clip.unlink()
    assert check(timbre("doctor", "--json"), "voices")["finding"] == "1 of 1 voices have no recording"
    (timbre.folder / "data" / "voices" / "library.sqlite3").write_bytes(b"nonsense" * 1000)
    assert "damaged" in check(timbre("doctor", "--json"), "voices")["finding"]


@pytest.mark.usefixtures("without_engines")
def test_an_unsupported_python_is_reported(timbre: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    assert check(timbre("doctor", "--json"), "Python")["verdict"] == "broken"


@pytest.mark.usefixtures("without_engines")
def test_recent_errors_are_listed_by_code(timbre: Terminal) -> None:
    assert check(timbre("doctor", "--json"), "last errors")["finding"] == "none in the log"
    assert timbre("say", "Something private.", "--voice", "nobody").status == 7
    found = check(timbre("doctor", "--json"), "last errors")["finding"]
    assert "(voice-not-found, " in found
    assert "private" not in timbre("doctor").out


@pytest.mark.usefixtures("without_engines")
def test_damaged_and_partly_downloaded_models_are_reported(timbre: Terminal, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "models" / "mine"
    folder.mkdir()
    write_record(folder, InstallRecord("mine", "a folder", "", (RecordedFile("llm.pt", 10, "0" * 64),)))
    found = check(timbre("doctor", "--json"), "model mine")
    assert found["verdict"] == "limited"
    assert "llm.pt must be repaired" in found["finding"]


@pytest.mark.usefixtures("without_engines")
def test_the_report_does_not_contain_the_user_name(
    timbre: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    ran = timbre("doctor")
    assert str(tmp_path) not in ran.out
    assert f"~{os.sep}data" in ran.out


@pytest.mark.usefixtures("without_engines")
def test_a_gpu_that_pytorch_cannot_use_is_reported(timbre: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    card = Gpu("NVIDIA GeForce RTX 4070", 12 << 30, "580.1", 12 << 30)
    facts = MachineFacts("A processor", 8, 32 << 30, 20 << 30, 1 << 40, card)
    monkeypatch.setattr("studio.health.report.probe_machine", lambda: facts)
    found = check(timbre("doctor", "--json"), "graphics card")
    assert found["finding"] == "NVIDIA GeForce RTX 4070, 12.0 GB of memory, driver 580.1; not usable by PyTorch"
    assert "build of PyTorch" in found["remedy"]


@pytest.mark.parametrize(
    ("capability", "driver", "is_supported", "finding", "remedy"),
    [
        ((8, 9), "580.95.05", True, "NVIDIA card, 8.0 GB of memory, driver 580.95.05", ""),
        (
            (6, 1),
            "580.95.05",
            False,
            "; the installed PyTorch does not support NVIDIA card",
            "Install PyTorch for CUDA 12.6 from",
        ),
        (
            (12, 0),
            "576.80",
            False,
            "; the installed PyTorch does not support NVIDIA card",
            "Update the NVIDIA driver to 580",
        ),
        (
            (8, 6),
            "550.54",
            True,
            "; too old for TensorRT and ONNX Runtime on the GPU",
            "Update the NVIDIA driver to 580",
        ),
        ((6, 1), "550.54", True, "NVIDIA card, 8.0 GB of memory, driver 550.54", ""),
    ],
)
def test_build_and_driver_that_the_gpu_needs_are_named(
    timbre: Terminal,
    monkeypatch: pytest.MonkeyPatch,
    capability: tuple[int, int],
    driver: str,
    is_supported: bool,
    finding: str,
    remedy: str,
) -> None:
    card = Gpu("NVIDIA card", 8 << 30, driver, 8 << 30)
    facts = MachineFacts("A processor", 8, 32 << 30, 20 << 30, 1 << 40, card)
    monkeypatch.setattr("studio.health.report.probe_machine", lambda: facts)
    device = Device(DeviceKind.CUDA, "NVIDIA card", 8, 8 << 30, 0, capability, driver)
    answer = {"torch": "2", "onnxruntime": "1", "gpus": [], "unsupported": [], "seconds_per_second": 3.2}
    answer["gpus" if is_supported else "unsupported"] = [asdict(device) | {"kind": "cuda"}]
    monkeypatch.setattr(checks, "_ENGINES_PROBE", ("-c", f"print({json.dumps(json.dumps(answer))})"))
    found = check(timbre("doctor", "--json"), "graphics card")
    assert found["finding"].endswith(finding)
    assert found["remedy"].startswith(remedy)


@pytest.mark.parametrize(
    ("torch_version", "driver", "remedy"),
    [
        ("2.13.0+cu130", "550.54", "Update the NVIDIA driver to 580 or later, or install PyTorch for CUDA 12.6 from"),
        ("2.13.0+cpu", "550.54", "Run the set-up again"),
        ("2.13.0+cu130", "580.95.05", "Run the set-up again"),
    ],
)
def test_driver_that_is_too_old_for_the_installed_pytorch_is_the_reason(
    timbre: Terminal, monkeypatch: pytest.MonkeyPatch, torch_version: str, driver: str, remedy: str
) -> None:
    facts = MachineFacts("A processor", 8, 32 << 30, 20 << 30, 1 << 40, Gpu("NVIDIA card", 8 << 30, driver, 8 << 30))
    monkeypatch.setattr("studio.health.report.probe_machine", lambda: facts)
    answer = {"torch": torch_version, "onnxruntime": "1", "gpus": [], "unsupported": [], "seconds_per_second": 3.2}
    monkeypatch.setattr(checks, "_ENGINES_PROBE", ("-c", f"print({json.dumps(json.dumps(answer))})"))
    found = check(timbre("doctor", "--json"), "graphics card")
    assert found["finding"].endswith("; not usable by PyTorch")
    assert found["remedy"].startswith(remedy)


@pytest.mark.usefixtures("without_engines")
@pytest.mark.parametrize(
    ("gpu_bytes", "verdict", "words"),
    [
        (8 << 30, "fine", "on NVIDIA card, beside a prompt of 10 s, lines of up to about "),
        (1 << 30, "limited", "it does not fit into the memory of NVIDIA card"),
    ],
)
def test_what_fits_on_the_gpu_is_told(
    timbre: Terminal, monkeypatch: pytest.MonkeyPatch, gpu_bytes: int, verdict: str, words: str
) -> None:
    card = Gpu("NVIDIA card", gpu_bytes, "580.95.05", gpu_bytes)
    facts = MachineFacts("A processor", 8, 32 << 30, 20 << 30, 1 << 40, card)
    monkeypatch.setattr("studio.health.report.probe_machine", lambda: facts)
    found = check(timbre("doctor", "--json"), "model studio-mini")
    assert found["verdict"] == verdict
    assert found["finding"].startswith("Fun-CosyVoice3, ")
    assert words in found["finding"]


def test_the_error_codes_are_explained(timbre: Terminal) -> None:
    ran = timbre("doctor", "--codes")
    assert ran.status == 0
    assert "voice-not-found (status 7)\n  There is no voice or file with that name.\n  Add the voice" in ran.out
    codes = {one["code"]: one for one in timbre("doctor", "--codes", "--json").json}
    assert codes["disk-full"]["exit_status"] == 10
    assert codes["disk-full"]["remedy"].startswith("Free disk space")


@pytest.mark.usefixtures("without_engines")
def test_inaccessible_folders_are_reported(timbre: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with too long a name fails like one without permission, also for the root user."""
    for variable in ("TIMBRE_DATA", "TIMBRE_CACHE", "TIMBRE_LOGS"):
        monkeypatch.setenv(variable, str(timbre.folder / (300 * "x")))
    timbre.change(open_library=VoiceLibrary)
    ran = timbre("doctor", "--json")
    assert (ran.status, ran.json["can_speak"]) == (0, True)
    assert "the name is too long" in check(ran, "voices")["finding"]
    assert check(ran, "engine plans")["verdict"] == "limited"
    assert timbre("models", "list").status == 0
    ran = timbre("voices", "list")
    assert (ran.status, ran.out) == (10, ""), "not as if there had never been any voices"


def test_a_removed_disk_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows, even the root folder of a removed disk does not exist."""
    monkeypatch.setattr("os.path.exists", lambda _path: False)
    assert all("is not writable" in str(check.finding) for check in checks.check_folders())
