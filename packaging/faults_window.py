"""The window to which ``faults.py`` causes faults: ``faults_window.py FOLDER [full-disk | device]``.

Without a fault, it waits to be killed. It opens the script in FOLDER, recovers unsaved work, speaks, saves and exports all lines, and begins again with other
lines. It prints a word and the ids of lines for each step:

    found ID ...    the lines that had takes when the program was started
    lines ID ...    the script has been replaced by these lines
    spoken ID ...   these lines have takes
    saved, exported

With a fault, it causes the fault itself, undoes it, and ends with 0 if nothing was lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QApplication

from studio import start
from studio.app.export_dialog.dialog import ExportDialog
from studio.app.recovery_dialog import RecoveryDialog
from studio.app.window_manager import WindowManager
from studio.audio.player import PlaybackEnd
from studio.errors import DiskFull, StudioError
from studio.project.changes import InsertLines, RemoveLines
from studio.project.drafts import recoverable_drafts
from studio.project.lines import Line
from studio.settings import EXPORT_FOLDER, TAKE_CHECKS

_TEXTS = ("It rained.", "Nobody spoke.", "We walked home.", "At home we slept.")
_PATIENCE_SECONDS = 300.0
_FAILED = 3
_MAX_REPEATED_SECONDS = 1.0  # where playback continues on another device


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

    async def work(self, recovers: bool) -> None:
        await self._prepare()
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

    async def fill_disk(self) -> None:
        """Speak, save and export on a full disk, and again when there is space. FOLDER is on the disk."""
        await self._prepare()
        self._begin(0)
        await self._speak()
        await self._save()
        path = _script_path(self._folder)
        saved = path.read_bytes()
        ballast = self._folder / "ballast"
        _fill(ballast)
        self._editor.push(InsertLines(0, (Line("late", "It was late.", "Ada"),)), "type")
        await self._fail(DiskFull, "speak.stale")
        await self._fail(DiskFull, "file.save")
        assert path.read_bytes() == saved
        ballast.unlink()
        await self._speak()
        await self._save()
        await self._export()
        assert {line.id for line in self._editor.project.lines} == set(self._editor.script.takes)
        assert path.read_bytes() != saved
        assert len(list(self._folder.glob("exported/**/*.wav"))) == len(_TEXTS) + 1

    async def lose_device(self) -> None:
        """Unplug the sound device during playback: for a moment, then until playback has ended. Play again."""
        await self._prepare()
        self._begin(0, (" ".join(3 * _TEXTS),))
        await self._speak()
        assert await self._play(unplugs="for a moment") is PlaybackEnd.FINISHED
        assert await self._play(unplugs="for good") is PlaybackEnd.NO_DEVICE
        _pactl("load-module", "module-null-sink")
        assert await self._play() is PlaybackEnd.FINISHED

    async def _play(self, *, unplugs: str = "") -> PlaybackEnd:
        """Play the line to its end. Playback on another device must continue at the position of the first one."""
        player, ends, positions = self._session.playback.player, list[PlaybackEnd](), [0.0]
        ending = player.ended.connect(ends.append)
        self._trigger("play.from_here")
        while not ends:
            await asyncio.sleep(0.01)
            positions.append(player.position_seconds if player.is_playing else positions[-1])
            assert positions[-1] > positions[-2] - _MAX_REPEATED_SECONDS, f"{positions[-1]} after {positions[-2]}"
            if unplugs and positions[-1] > _MAX_REPEATED_SECONDS:
                _pactl("unload-module", "module-null-sink")
                if unplugs == "for a moment":
                    _pactl("load-module", "module-null-sink")
                unplugs = ""
        player.ended.disconnect(ending)
        return ends[0]

    async def _prepare(self) -> None:
        self._session.settings.change({TAKE_CHECKS: "off", EXPORT_FOLDER: str(self._folder / "exported")})
        await _until(lambda: self._manager.window.voices.is_loaded)

    async def _fail(self, kind: type[StudioError], action: str) -> None:
        """Trigger ``action``, which must end with a notice of an error."""
        self._trigger(action)
        await _until(lambda: isinstance(self._manager.window.notices.error, kind))
        self._manager.window.notices.hide()

    async def _recover(self) -> None:
        await _until(lambda: _shown(RecoveryDialog))
        project = self._editor.project
        _shown(RecoveryDialog)[0]._recover.click()
        await _until(lambda: self._editor.project is not project)

    def _begin(self, number: int, texts: Sequence[str] = _TEXTS) -> None:
        self._clear()
        lines = tuple(Line(f"{number}-{index}", text, "Ada") for index, text in enumerate(texts))
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


def _fill(ballast: Path) -> None:
    """Write ``ballast`` until its disk is full."""
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (1 << 20, 1 << 12):
            while shutil.disk_usage(ballast.parent).free >= size:
                file.write(b"x" * size)


def _pactl(*arguments: str) -> None:
    subprocess.run(["pactl", *arguments], check=True, stdout=subprocess.DEVNULL, timeout=_PATIENCE_SECONDS)


def _shown(kind: type) -> list:  # type: ignore[type-arg]
    return [each for each in QApplication.allWidgets() if isinstance(each, kind) and each.isVisible()]


def _script_path(folder: Path) -> Path:
    return folder / "script.timbre"


def main(folder: Path, fault: str = "") -> int:
    original = WindowManager.start_working

    def start_working(manager: WindowManager, path: Path | None) -> None:
        recovers = bool(recoverable_drafts(manager.window.session.services.drafts))
        original(manager, path)
        tasks.append(asyncio.get_running_loop().create_task(use(_User(manager, folder), recovers=recovers)))

    async def use(user: _User, *, recovers: bool) -> None:
        try:
            await {"full-disk": user.fill_disk, "device": user.lose_device}.get(fault, partial(user.work, recovers))()
        except BaseException:  # noqa: BLE001 - whatever ends the work is reported
            traceback.print_exc()
            os._exit(_FAILED)
        os._exit(0)

    tasks: list[asyncio.Task[None]] = []
    WindowManager.start_working = start_working  # type: ignore[method-assign, assignment]
    path = _script_path(folder)
    return start.main(["app", *([str(path)] if path.is_file() else [])])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
