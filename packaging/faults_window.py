"""The window that ``faults.py`` kills: ``faults_window.py FOLDER``.

It opens the script in FOLDER, recovers unsaved work, speaks, saves and exports all lines, and begins again with other
lines. It prints a word and the ids of lines for each step:

    found ID ...    the lines that had takes when the program was started
    lines ID ...    the script has been replaced by these lines
    spoken ID ...   these lines have takes
    saved, exported
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QApplication

from studio import start
from studio.app.export_dialog.dialog import ExportDialog
from studio.app.recovery_dialog import RecoveryDialog
from studio.app.window_manager import WindowManager
from studio.project.changes import InsertLines, RemoveLines
from studio.project.drafts import recoverable_drafts
from studio.project.lines import Line
from studio.settings import EXPORT_FOLDER, TAKE_CHECKS

_TEXTS = ("It rained.", "Nobody spoke.", "We walked home.", "At home we slept.")
_PATIENCE_SECONDS = 300.0
_FAILED = 3


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


def _tell(word: str, ids: object = ()) -> None:
    print(word, *sorted(ids), flush=True)  # type: ignore[call-overload]


class _User:
    def __init__(self, manager: WindowManager, folder: Path) -> None:
        self._manager, self._folder = manager, folder
        self._session = manager.window.session
        self._editor = self._session.editor

    async def work(self, *, recovers: bool) -> None:
        self._session.settings.change({TAKE_CHECKS: "off", EXPORT_FOLDER: str(self._folder / "exported")})
        await _until(lambda: self._manager.window.voices.is_loaded)
        if recovers:
            await self._recover()
        elif (path := _script_path(self._folder)).is_file():
            await _until(lambda: self._editor.project.path == path)
        _tell("found", self._editor.script.takes)
        for number in itertools.count(len(list(self._folder.glob("exported*")))):
            if not any(line.text for line in self._editor.project.lines):
                self._begin(number)
            await self._speak()
            await self._save()
            await self._export()
            self._clear()

    async def _recover(self) -> None:
        await _until(lambda: _shown(RecoveryDialog))
        project = self._editor.project
        _shown(RecoveryDialog)[0]._recover.click()
        await _until(lambda: self._editor.project is not project)

    def _begin(self, number: int) -> None:
        self._clear()
        lines = tuple(Line(f"{number}-{index}", text, "Ada") for index, text in enumerate(_TEXTS))
        self._editor.push(InsertLines(0, lines), "import")
        _tell("lines", (line.id for line in lines))

    def _clear(self) -> None:
        self._editor.push(RemoveLines(tuple(line.id for line in self._editor.project.lines)), "remove")

    async def _speak(self) -> None:
        self._trigger("speak.stale")
        for number in range(1, len(self._editor.project.lines) + 1):
            await _until(partial(self._has_takes, number))
            _tell("spoken", self._editor.script.takes)

    def _has_takes(self, num_lines: int) -> bool:
        return len(self._editor.script.takes) >= num_lines

    async def _save(self) -> None:
        path = _script_path(self._folder)
        if self._editor.project.path is None:
            await self._manager.window.documents._save(path)
        else:
            self._trigger("file.save")
        await _until(lambda: path.is_file() and not self._editor.project.is_modified)
        _tell("saved")

    async def _export(self) -> None:
        self._trigger("file.export")
        await _until(lambda: _shown(ExportDialog))
        dialog = _shown(ExportDialog)[0]
        await _until(dialog.export_button.isEnabled)
        dialog.export_button.click()
        await _until(lambda: self._session.parts.exports.current)
        task = self._session.parts.exports.current
        assert task is not None
        await _until(lambda: task.state.is_over)
        _tell("exported")

    def _trigger(self, action: str) -> None:
        asyncio.get_running_loop().call_soon(self._manager.window.actions_by_id[action].trigger)


def _shown(kind: type) -> list:  # type: ignore[type-arg]
    return [each for each in QApplication.allWidgets() if isinstance(each, kind) and each.isVisible()]


def _script_path(folder: Path) -> Path:
    return folder / "script.timbre"


def main(folder: Path) -> int:
    original = WindowManager.start_working

    def start_working(manager: WindowManager, path: Path | None) -> None:
        recovers = bool(recoverable_drafts(manager.window.session.services.drafts))
        original(manager, path)
        tasks.append(asyncio.get_running_loop().create_task(use(_User(manager, folder), recovers=recovers)))

    async def use(user: _User, *, recovers: bool) -> None:
        try:
            await user.work(recovers=recovers)
        except BaseException:  # noqa: BLE001 - whatever ends the work is reported
            traceback.print_exc()
            os._exit(_FAILED)

    tasks: list[asyncio.Task[None]] = []
    WindowManager.start_working = start_working  # type: ignore[method-assign, assignment]
    path = _script_path(folder)
    return start.main(["app", *([str(path)] if path.is_file() else [])])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
