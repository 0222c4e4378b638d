"""Program that exports 60 lines of six characters from a window until a test kills it: ``... FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication
from window_bench import Bench

from studio import settings as declared
from studio.app.export_dialog.dialog import ExportDialog
from studio.app.export_dialog.export_task import ExportTask
from studio.project.changes import InsertLines
from studio.project.lines import Line

CHARACTERS = ("Mira", "Tom", "Bandit", "Captain", "Nurse", "Ghost")
NUM_LINES = 60


def begin_export(bench: Any) -> ExportTask:
    """Open the export dialog and click "Export"."""
    bench.trigger("file.export")
    bench.until(lambda: bench.window.findChild(ExportDialog))
    dialog = bench.window.findChild(ExportDialog)
    bench.until(dialog.export_button.isEnabled)
    bench.loop.call_soon(dialog.export_button.click)
    bench.until(lambda: bench.session.parts.exports.current is not None)
    task = bench.session.parts.exports.current
    assert task is not None
    return task


def main(folder: Path) -> None:
    bench = Bench(QApplication([]), folder)
    bench.open_window()
    for name in CHARACTERS:
        bench.add_voice(name)
    lines = []
    for number in range(NUM_LINES):
        name = CHARACTERS[number % len(CHARACTERS)]
        lines.append(Line(f"line{number}", f"Line {number} breathe breathe", name, character=name))
    bench.session.editor.push(InsertLines(0, tuple(lines)), "import")
    bench.settings[declared.EXPORT_FOLDER] = str(folder / "target")
    bench.settings[declared.EXPORT_PATTERN] = "{character}/{index}"
    bench.session.queue.job_finished.connect(lambda job: print(job.line_id, flush=True))  # noqa: T201 - read by the test
    begin_export(bench)
    bench.until(lambda: False, 300)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
