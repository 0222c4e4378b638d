"""Without the extra ``app``, only the window is missing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import soundfile

TIMBRE = [sys.executable, "-m", "studio.start"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which the libraries of the window cannot be imported, in child processes neither."""
    for name in ("PySide6", "shiboken6", "qasync"):
        (tmp_path / "blocked" / name).mkdir(parents=True)
        (tmp_path / "blocked" / name / "__init__.py").write_text(
            f'raise ModuleNotFoundError("No module named {name!r}", name={name!r})\n', "utf-8"
        )
    folders = {f"TIMBRE_{name.upper()}": str(tmp_path / name) for name in ("data", "config", "cache", "logs")}
    search = os.pathsep.join([str(tmp_path / "blocked"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, **folders, "PYTHONPATH": search, "QT_QPA_PLATFORM": "offscreen"}


@pytest.mark.slow
def test_speech_needs_no_qt(tmp_path: Path, environment: dict[str, str]) -> None:
    words = ["say", "Good morning.", "--voice", "Ada", "-o", str(tmp_path / "out.wav"), "--precision", "float32"]
    ran = subprocess.run([*TIMBRE, *words], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert soundfile.info(tmp_path / "out.wav").frames > 0


@pytest.mark.slow
def test_the_speech_service_needs_no_qt(environment: dict[str, str]) -> None:
    command = [*TIMBRE, "serve", "--port", "0"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as service:
        try:
            assert service.stderr is not None
            address = next(found[1] for line in service.stderr if (found := re.search(r"at (http\S+)/v1;", line)))
            with urllib.request.urlopen(f"{address}/v1/models", timeout=30) as answer:
                assert b"studio-mini" in answer.read()
        finally:
            service.send_signal(signal.SIGTERM)


def test_a_missing_qt_is_an_error_with_the_command_that_installs_it(environment: dict[str, str]) -> None:
    ran = subprocess.run([*TIMBRE, "app"], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 16
    assert "The window cannot be shown: No module named" in ran.stderr
    assert re.search(
        r"Install them: \S+ -m pip install --editable \S+\[app\]'?\. \(incomplete-installation\)", ran.stderr
    )
