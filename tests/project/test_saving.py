"""Saved files are verified before they replace older files, and a slow disk does not block edits."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from project_samples import insert, speak

from studio.errors import CannotWrite
from studio.project import saving
from studio.project.lines import LineState
from studio.project.project import Project
from studio.storage import atomic_file


def test_a_file_that_reads_back_differently_does_not_replace_the_old_file(
    project: Project, drafts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (line_id,) = insert(project, "Old.")
    path = tmp_path / "a.timbre"
    project.save(path)
    speak(project, line_id)
    sync = saving.sync

    def lose_sound(part: Path) -> None:
        if part.is_file():
            with contextlib.closing(sqlite3.connect(part)) as connection:
                connection.execute("DELETE FROM sounds WHERE number = 0")
                connection.commit()
        sync(part)

    with monkeypatch.context() as patch:
        patch.setattr(saving, "sync", lose_sound)
        with pytest.raises(CannotWrite, match="does not read back"):
            project.save()
    assert project.is_modified
    with Project.open(path, drafts) as again:
        assert [line.text for line in again.lines] == ["Old."]
        assert again.takes_of(line_id) == ()


def test_a_slow_disk_does_not_block_edits(
    project: Project, drafts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every access to the target folder is slow, as on a network drive that has to wake up."""
    is_waiting, should_continue = threading.Event(), threading.Event()

    def wait(real: Callable[..., object]) -> Callable[..., object]:
        def slow(*arguments: object, **options: object) -> object:
            is_waiting.set()
            assert should_continue.wait(30)
            return real(*arguments, **options)

        return slow

    insert(project, "Before.")
    monkeypatch.setattr(atomic_file, "_sweep_once", wait(atomic_file._sweep_once))
    monkeypatch.setattr(Path, "touch", wait(Path.touch))
    saver = threading.Thread(target=project.save, args=(tmp_path / "a.timbre",))
    saver.start()
    assert is_waiting.wait(30)
    try:
        editor = threading.Thread(target=insert, args=(project, "Meanwhile."))
        editor.start()
        editor.join(20)
        assert not editor.is_alive()
        assert project.state_of(project.lines[0].id) is LineState.DRAFT
    finally:
        should_continue.set()
        saver.join()
    with Project.open(tmp_path / "a.timbre", drafts) as again:
        assert [line.text for line in again.lines] == ["Before."]
