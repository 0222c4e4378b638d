"""The pre-commit configuration runs the checks of the test command."""

from __future__ import annotations

import shlex
from pathlib import Path

import yaml
from set_up.checks import CHECKS

CONFIGURATION = Path(__file__).resolve().parents[2] / "packaging" / "pre-commit.yaml"


def test_the_hooks_are_the_checks_without_the_tests() -> None:
    (repository,) = yaml.safe_load(CONFIGURATION.read_text("utf-8"))["repos"]
    assert repository["repo"] == "local"
    hooks = repository["hooks"]
    checks = [
        (title.replace(" ", "-"), [f".venv/bin/{program}", *arguments])
        for title, program, arguments in CHECKS
        if program != "pytest"
    ]
    assert [(hook["id"], shlex.split(hook["entry"])) for hook in hooks] == checks
    assert all(hook["language"] == "system" and not hook["pass_filenames"] for hook in hooks)
