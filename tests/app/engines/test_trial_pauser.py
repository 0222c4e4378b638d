"""Trials of engines pause while the user works."""

from __future__ import annotations

from typing import Any

import pytest
from window_bench import Bench

from studio.app.engines import trial_pauser
from studio.engines.overview import EngineAction
from studio.project.changes import EditLines


def test_trials_pause_while_the_user_writes(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_pauser, "_QUIET_MILLISECONDS", 50)
    bench.open_window()
    bench.until(lambda: bench.session.is_ready)
    sent: list[EngineAction] = []

    async def manage(action: EngineAction, _keys: tuple[str, ...] = ()) -> int:
        sent.append(action)
        return 0

    monkeypatch.setattr(bench.session.bridge, "manage_engines", manage)
    line: Any = bench.lines[0]
    for text in ("a", "ab", "abc"):
        bench.session.editor.apply(EditLines({line.id: {"text": text}}))
    bench.until(lambda: len(sent) >= 2)
    assert sent == [EngineAction.SUSPEND_FOR_USER, EngineAction.RESUME_AFTER_USER]
