"""Set-up of child processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_BEGIN = """
import logging, sys
from pathlib import Path
from studio.system.child_process import init_child
init_child(Path(sys.argv[1]))
logging.debug("a detail")
logging.info("a fact")
"""


def log_of_child(folder: Path, level: str) -> str:
    log = folder / "child.log"
    environment = {**os.environ, "TIMBRE_LOG_LEVEL": level}
    child = subprocess.run([sys.executable, "-c", _BEGIN, str(log)], env=environment, timeout=60, check=False)
    text = log.read_text("utf-8")
    assert child.returncode == 0, text
    return text


@pytest.mark.parametrize("level", ["evil", "7up", "10"])
def test_an_invalid_log_level_is_logged_once_and_the_default_is_used(tmp_path: Path, level: str) -> None:
    log = log_of_child(tmp_path, level)
    assert log.count(f"TIMBRE_LOG_LEVEL='{level}' is not a log level; INFO is used") == 1
    assert "a fact" in log
    assert "a detail" not in log


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "shows_details", "shows_facts"), [("debug", True, True), ("WARNING", False, False), ("", False, True)]
)
def test_the_environment_sets_the_log_level(tmp_path: Path, level: str, shows_details: bool, shows_facts: bool) -> None:
    log = log_of_child(tmp_path, level)
    assert ("a detail" in log, "a fact" in log) == (shows_details, shows_facts)
    assert "is not a log level" not in log
