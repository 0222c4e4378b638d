"""``packaging/faults.py`` notices what a fault has damaged."""

from __future__ import annotations

from pathlib import Path

import faults
import numpy as np
import pytest
import soundfile


class RecordedTrials(faults.FaultTrials):
    """Trials whose undisturbed export has two files."""

    def run(self, command, environment=None):  # type: ignore[no-untyped-def]
        for name in ("1.wav", "2.wav"):
            write(self.work / "undisturbed" / name, 0.25)


def write(path: Path, level: float) -> None:
    path.parent.mkdir(exist_ok=True)
    soundfile.write(path, np.full(100, level, np.float32), 24_000)


def test_missing_additional_and_other_files_are_noticed(tmp_path: Path) -> None:
    trials, found = RecordedTrials(tmp_path, 1), tmp_path / "found"
    write(found / "1.wav", 0.25)
    with pytest.raises(AssertionError, match=r"\['1.wav'\] instead of"):
        trials.require_undisturbed(found)
    write(found / "2.wav", 0.5)
    with pytest.raises(AssertionError, match=r"2\.wav differs"):
        trials.require_undisturbed(found)
    write(found / "2.wav", 0.25)
    trials.require_undisturbed(found)
    (found / ".timbre.part").touch()
    with pytest.raises(AssertionError, match=r"\.timbre\.part"):
        trials.require_undisturbed(found)


def test_an_unknown_fault_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        faults.main(["--work", str(tmp_path), "flood"])
    assert ended.value.code == 2
    assert "unknown fault flood" in capsys.readouterr().err
