"""Run the program and take a journey through it: ``take_journey.py JOURNEY FOLDER [PICTURES]``.

Writes ``report.json`` with the effort, and what the journey returns, into FOLDER. The exit status is 0 if the journey
succeeded.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import traceback
from dataclasses import asdict
from pathlib import Path

from journey_user import User
from PySide6.QtWidgets import QApplication

from studio import start
from studio.app.window_manager import WindowManager
from studio.settings import TAKE_CHECKS

_FAILED = 3


def main(name: str, folder: Path, pictures: Path | None) -> int:
    journey = importlib.import_module(name).journey
    original = WindowManager.start_working

    def start_working(manager: WindowManager, path: Path | None) -> None:
        original(manager, path)
        tasks.append(asyncio.get_running_loop().create_task(play(manager)))

    async def play(manager: WindowManager) -> None:
        user = User(manager, folder, pictures)
        user.session.settings.change({TAKE_CHECKS: "off"})  # further takes would depend on the checks
        try:
            await user.until(lambda: user.window.voices.is_loaded, "the voices are shown")
            await user.back()
            found = await journey(user)
            user.require_no_errors()
            report = {"effort": asdict(user.effort), "found": found}
            await user.quit()
        except BaseException:  # noqa: BLE001 - whatever ends the journey is reported
            sys.stderr.write(traceback.format_exc())
            sys.stderr.flush()
            QApplication.primaryScreen().grabWindow(0).save(str(folder / "failure.png"))
            os._exit(_FAILED)  # the program may show a dialog, or be unable to close
        (folder / "report.json").write_text(json.dumps(report), "utf-8")

    tasks: list[asyncio.Task[None]] = []
    WindowManager.start_working = start_working  # type: ignore[method-assign]
    return start.main([])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None))
