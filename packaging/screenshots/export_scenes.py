"""Scenes of an export: the dialog with its check, and the details of an export that is running, undecided or done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtWidgets import QWidget

from studio.app.export_dialog.details_dialog import ExportDetails
from studio.app.export_dialog.dialog import ExportDialog
from studio.app.export_dialog.export_options import ExportOrder, KnownVoicesAndStyles, lines_of_script
from studio.app.export_dialog.export_task import ExportState, ExportTask
from studio.app.window import MainWindow
from studio.errors import NoSpeechMade, VoiceNotFound
from studio.export.exporter import ExportResult
from studio.export.plan import ExportSettings
from studio.export.progress import Pace


def export_scenes(
    window: MainWindow, wait_for: Callable[[Callable[[], object]], None]
) -> Iterator[tuple[str, QWidget]]:
    """Yield the pages with their names."""
    session = window.session
    project = session.editor.project

    def find_voice(name: str) -> None:
        raise VoiceNotFound(
            "There is no voice named {name}.{did_you_mean}",
            remedy="Choose another voice, or add one with this name.",
            name=name,
            did_you_mean="",
        )

    dialog = ExportDialog(project, session.settings, known=KnownVoicesAndStyles(find_voice, lambda _: False))
    dialog.show()
    wait_for(lambda: dialog.findings.texts)
    yield "export-check", dialog

    lines = lines_of_script(project)
    settings = ExportSettings(project="Harbour", joined_name="Harbour")
    order = ExportOrder(project, lines, project.dictionary_in_force, Path("/home/user/Timbre/Harbour"), settings)
    task = ExportTask(order, session.queue)
    task.state = ExportState.SPEAKING
    task._num_to_speak, task._num_spoken = 200, 87
    task._pace = Pace(letters_to_speak=9_000, lines_to_write=0)
    task._pace._speaking_seconds, task._pace._letters_done, task._pace._letters_left = 290.0, 4_000, 5_000
    yield "export-running", _details(task)
    error = NoSpeechMade("The model ended the sentence without any speech.", remedy="Try again with another seed.")
    task.failures = {line.id: (line, error) for line in lines[:3]}
    task.state = ExportState.UNDECIDED
    yield "export-failures", _details(task)
    task.state, task.failures = ExportState.DONE, {}
    task.result = ExportResult(tuple(Path(str(number)) for number in range(104)), 15, (), 100.0, 10.0)
    yield "export-done", _details(task)


def _details(task: ExportTask) -> ExportDetails:
    details = ExportDetails(task)
    details.show()
    return details
