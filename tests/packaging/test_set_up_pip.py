"""Progress messages and errors derived from the output of pip."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from set_up.failure import SetUpFailed
from set_up.pip import Pip, described_step
from set_up_fakes import QuietProgress


@pytest.mark.parametrize(
    ("line", "news"),
    [
        (
            "  Downloading torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl (192.0 MB)\n",
            "downloading torch 2.13.0 (192.0 MB)",
        ),
        (
            "  Downloading https://x.org/a/torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl (1.2 GB)\n",
            "downloading torch 2.13.0+cpu (1.2 GB)",
        ),
        ("  Downloading sympy-1.14.0-py3-none-any.whl (6.3 MB)\n", None),
        ("  Downloading six-1.16.0-py3-none-any.whl (11 kB)\n", None),
        ("Installing collected packages: a, b, c\n", "unpacking 3 packages"),
        ("  Building wheel for wetext (setup.py): started\n", "building wetext"),
        ("Collecting torch\n", None),
    ],
)
def test_only_what_takes_long_is_told(line: str, news: str | None) -> None:
    assert described_step(line) == news


def pip_that(tmp_path: Path, says: str, status: int) -> tuple[Pip, QuietProgress]:
    """A pip whose Python is a script that says something and ends."""
    python = tmp_path / "python"
    python.write_text(f"#!{sys.executable}\nimport sys\nprint({says!r})\nsys.exit({status})\n")
    python.chmod(0o755)
    progress = QuietProgress()
    return Pip(python, tmp_path / "set-up.log", progress), progress


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for pip is a script with a #! line")


def test_everything_pip_says_is_kept_in_the_log(tmp_path: Path) -> None:
    pip, progress = pip_that(tmp_path, "Collecting a\nInstalling collected packages: a", 0)
    pip.install("a")
    assert progress.told == ["  unpacking 1 package"]
    assert "Collecting a\nInstalling" in (tmp_path / "set-up.log").read_text()


@pytest.mark.parametrize(
    ("says", "sentence"),
    [
        ("ERROR: Could not install packages: [Errno 28] No space left on device", "disk is full"),
        ("WARNING: Retrying: NewConnectionError('Temporary failure in name resolution')", "index cannot be reached"),
        (
            "ERROR: No matching distribution found for kaldifst",
            "could not be installed: ERROR: No matching distribution",
        ),
    ],
)
def test_a_failure_is_a_sentence_with_a_remedy(tmp_path: Path, says: str, sentence: str) -> None:
    pip, _ = pip_that(tmp_path, says, 1)
    with pytest.raises(SetUpFailed, match=sentence) as failure:
        pip.install("a")
    assert failure.value.remedy


@pytest.mark.slow
def test_a_long_silence_is_broken_by_a_sign_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("set_up.pip._SILENCE_SECONDS", 0.05)
    python = tmp_path / "python"
    download = "  Downloading torch-2.13.0-cp311-cp311-linux_x86_64.whl (192.0 MB)"
    python.write_text(f"#!{sys.executable}\nimport time\nprint({download!r}, flush=True)\ntime.sleep(0.4)\n")
    python.chmod(0o755)
    progress = QuietProgress()
    Pip(python, tmp_path / "set-up.log", progress).install("torch")
    assert "still downloading torch 2.13.0 (192.0 MB)" in progress.told[-1]
