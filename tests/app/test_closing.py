"""Closing: unsaved work is saved or discarded, and the program ends even if a step fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox, QPushButton
from window_bench import Bench

from studio.app.background import end_background_threads
from studio.app.documents import Documents
from studio.app.window import MainWindow
from studio.errors import DiskFull
from studio.project import drafts
from studio.project.changes import EditLines
from studio.project.project import Project
from studio.project.saving import Snapshot
from studio.settings_store import Settings


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    window = bench.open_window()
    bench.until(lambda: bench.session.is_ready)
    return window


@pytest.fixture
def saved(bench: Bench, window: MainWindow, tmp_path: Path) -> Path:
    """Open a saved script and edit it."""
    path = tmp_path / "a.timbre"
    bench.run(window.documents._save(path))
    bench.session.editor.push(EditLines({bench.lines[0].id: {"text": "Edited."}}), "Edit")
    return path


def closed_of(window: MainWindow) -> list[bool]:
    closed: list[bool] = []
    window.closed.connect(lambda: closed.append(True))
    return closed


def box_of(bench: Bench) -> QMessageBox:
    """Return the message box that is open."""
    window = bench.window
    assert window is not None
    bench.until(lambda: any(box.isVisible() for box in window.findChildren(QMessageBox)))
    return next(box for box in window.findChildren(QMessageBox) if box.isVisible())


def press(bench: Bench, words: str) -> None:
    box = box_of(bench)
    next(button for button in box.findChildren(QPushButton) if button.text().replace("&", "") == words).click()
    bench.until(lambda: not box.isVisible())


def texts_in(path: Path, folder: Path) -> list[str]:
    with Project.open(path, folder) as project:
        return [line.text for line in project.lines]


def disk_full(*_: object) -> None:
    raise DiskFull("The disk is full.", remedy="Free some space and try again.")


def end(bench: Bench, closed: list[bool]) -> None:
    bench.until(lambda: closed)
    bench.is_closed = True
    end_background_threads()
    bench.loop.close()


@pytest.mark.slow
def test_a_save_that_fails_while_closing_is_shown_and_can_be_tried_again(
    bench: Bench, window: MainWindow, saved: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    closed = closed_of(window)
    with monkeypatch.context() as patch:
        patch.setattr(Snapshot, "write", disk_full)
        window.close()
        press(bench, "Save")
        assert box_of(bench).text() == "The disk is full."
        assert window.isVisible()
        press(bench, "Try again")
        assert box_of(bench).text() == "The disk is full."
        press(bench, "Cancel")
        bench.live(0.05)
        assert window.isVisible()
        assert not closed
        window.close()
        press(bench, "Save")
        box_of(bench)
    press(bench, "Try again")
    end(bench, closed)
    assert not window.isVisible()
    assert texts_in(saved, tmp_path / "other drafts") == ["Edited."]


def test_a_script_that_cannot_be_saved_in_its_place_is_saved_elsewhere(
    bench: Bench, window: MainWindow, saved: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    closed, elsewhere, write = closed_of(window), tmp_path / "elsewhere.timbre", Snapshot.write

    def write_elsewhere(self: Snapshot, target: Path, save_id: str) -> None:
        if target == saved:
            disk_full()
        write(self, target, save_id)

    async def choose(self: Documents) -> Path:
        return elsewhere

    monkeypatch.setattr(Snapshot, "write", write_elsewhere)
    monkeypatch.setattr(Documents, "_ask_where", choose)
    window.close()
    press(bench, "Save")
    press(bench, "Save elsewhere…")
    end(bench, closed)
    assert texts_in(elsewhere, tmp_path / "other drafts") == ["Edited."]


def test_changes_that_cannot_be_saved_can_be_discarded(
    bench: Bench, window: MainWindow, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = closed_of(window)
    monkeypatch.setattr(Snapshot, "write", disk_full)
    window.close()
    press(bench, "Save")
    press(bench, "Don't save")
    end(bench, closed)
    assert not window.isVisible()


def test_a_draft_that_another_program_holds_does_not_keep_the_program_alive(
    bench: Bench, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Windows a virus scanner may hold the file."""

    def refuse(path: Path) -> None:
        raise PermissionError(13, "the file is in use", str(path))

    closed = closed_of(window)
    monkeypatch.setattr(drafts, "_remove", refuse)
    window.close()
    end(bench, closed)
    assert not window.isVisible()


def test_a_worker_that_fails_to_end_does_not_keep_the_draft_open(
    bench: Bench, window: MainWindow, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bridge_close = bench.session.bridge.close

    async def fail() -> None:
        await bridge_close()
        raise RuntimeError("the pipe is broken")

    closed = closed_of(window)
    monkeypatch.setattr(bench.session.bridge, "close", fail)
    window.close()
    end(bench, closed)
    assert "the pipe is broken" in caplog.text
    assert list(bench.services.drafts.iterdir()) == []


def test_settings_that_cannot_be_written_do_not_keep_the_window_open(
    bench: Bench, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = closed_of(window)
    monkeypatch.setattr(Settings, "change", disk_full)
    window.close()
    end(bench, closed)


@pytest.mark.slow
@pytest.mark.usefixtures("window")
def test_a_step_that_fails_does_not_prevent_the_others(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    session, done = bench.session, list[str]()

    def fail_after(close: Callable[[], None], name: str) -> Callable[[], None]:
        def step() -> None:
            close()
            done.append(name)
            raise OSError(name)

        return step

    parts = {"checker": (session.parts.checker, "close"), "serving": (session.parts.serving, "release")}
    parts |= {"playback": (session.playback, "close"), "queue": (session.queue, "cancel_all")}
    for name, (part, method) in parts.items():
        monkeypatch.setattr(part, method, fail_after(getattr(part, method), name))
    with pytest.raises(OSError, match="queue"):
        bench.run(session.close(keeps_draft=False))
    assert done == ["checker", "serving", "playback", "queue"]
    session.close = lambda **_: asyncio.sleep(0)  # type: ignore[method-assign]  # the bench closes the window
