"""Run the journeys of ``tests/app/journeys`` and create one page of screenshots for each.

    python packaging/take_screenshots.py --journeys FOLDER [JOURNEY …]

The program runs on a virtual screen. This needs Xvfb, openbox and xdotool.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter

_TESTS = Path(__file__).resolve().parents[2] / "tests" / "app" / "journeys"
# The parts of each journey. A part that creates a marker file is killed when the file appears.
JOURNEYS: dict[str, tuple[str, ...]] = {
    "clip_to_export": ("clip_to_export",),
    "audiobook": ("audiobook",),
    "dubbing": ("dubbing",),
    "game_lines": ("game_lines", "game_lines_resumed"),
    "expert_tour": ("expert_tour",),
}
_MARK = "ready-to-be-killed"
_COLUMNS, _WIDTH, _GAP = 2, 1300, 16


def main(arguments: list[str]) -> int:
    """Write ``NAME.png`` for each journey, and its individual screenshots to a folder."""
    parser = ArgumentParser(prog="take_screenshots.py --journeys")
    parser.add_argument("folder", type=Path)
    parser.add_argument("journey", nargs="*", choices=[[], *JOURNEYS], help="default: all")
    options = parser.parse_args(arguments)
    folder: Path = options.folder
    for name in options.journey or list(JOURNEYS):
        pictures = folder / name
        shutil.rmtree(pictures, ignore_errors=True)
        pictures.mkdir(parents=True)
        take_journey(name, pictures)
        page(sorted(pictures.glob("*.png"))).save(str(folder / f"{name}.png"))
    return 0


def take_journey(name: str, pictures: Path) -> None:
    """Run all parts of a journey from a clean state, and take screenshots of each."""
    sys.path.insert(0, str(_TESTS))
    modules = [import_module(module) for module in ("virtual_screen", "traveller")]
    with tempfile.TemporaryDirectory() as scratch, modules[0].virtual_screen(Path(scratch) / "home") as screen:
        traveller = modules[1].Traveller(screen)
        for number, part in enumerate(JOURNEYS[name], 1):
            folder = pictures / f"{number}"
            folder.mkdir()
            if part == JOURNEYS[name][-1]:
                sys.stderr.write(f"{part}: {traveller.take(part, folder)['effort']}\n")
            else:
                _kill_at_mark(traveller.start(part, folder), traveller.folder / _MARK)
            for picture in sorted(folder.iterdir()):
                picture.rename(pictures / f"{number}-{picture.name}")
            folder.rmdir()


def _kill_at_mark(program: subprocess.Popen[str], mark: Path) -> None:
    while program.poll() is None and not mark.exists():
        time.sleep(0.1)
    os.killpg(program.pid, signal.SIGKILL)
    program.communicate()


def page(files: list[Path]) -> QImage:
    """Return the pictures side by side, scaled to one width, with their names."""
    _application = QGuiApplication.instance() or QGuiApplication(["pages", "-platform", "offscreen"])
    pictures = [QImage(str(file)) for file in files]
    scaled = [each.scaledToWidth(_WIDTH, Qt.TransformationMode.SmoothTransformation) for each in pictures]
    rows = [scaled[at : at + _COLUMNS] for at in range(0, len(scaled), _COLUMNS)]
    heights = [max(each.height() for each in row) + 3 * _GAP for row in rows]
    sheet = QImage(_COLUMNS * (_WIDTH + _GAP) + _GAP, sum(heights) + _GAP, QImage.Format.Format_RGB32)
    sheet.fill(Qt.GlobalColor.white)
    painter = QPainter(sheet)
    top, names = _GAP, iter(files)
    for row, height in zip(rows, heights, strict=True):
        for column, picture in enumerate(row):
            left = _GAP + column * (_WIDTH + _GAP)
            painter.drawText(QRect(left, top, _WIDTH, 2 * _GAP), Qt.AlignmentFlag.AlignVCenter, next(names).stem)
            painter.drawImage(left, top + 2 * _GAP, picture)
        top += height
    painter.end()
    return sheet
