"""Function that opens the export dialog and connects it to the project and the synthesis queue."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from studio.app.export_dialog.dialog import ExportDialog
from studio.app.script.project_editor import ProjectEditor
from studio.app.synthesis.queue import SynthesisQueue
from studio.export.provenance import Provenance, licence_of_model
from studio.settings_store import Settings


def open_export_dialog(
    parent: QWidget,
    editor: ProjectEditor,
    queue: SynthesisQueue,
    settings: Settings,
    model_folder: Path,
    *,
    selected_ids: Iterable[str] = (),
) -> ExportDialog:
    """Show the dialog and return it at once. It deletes itself when it is closed.

    The name and licence of the model in ``model_folder`` are written into the metadata of the files.
    """
    dialog = ExportDialog(
        editor.project,
        settings,
        selected_ids=selected_ids,
        provenance=Provenance(model_folder.name, licence_of_model(model_folder)),
        parent=parent,
    )
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def speak(line_ids: list[str]) -> None:
        waiting = {job.line_id for job in queue.jobs if not job.state.is_over}
        queue.speak([line_id for line_id in line_ids if line_id not in waiting])

    def stop(line_ids: list[str]) -> None:
        unwanted = set(line_ids)
        for job in queue.jobs:
            if job.line_id in unwanted and not job.state.is_over:
                queue.cancel(job)

    dialog.speak_wanted.connect(speak)
    dialog.speaking_unwanted.connect(stop)
    queue.job_finished.connect(dialog.on_job_finished)
    editor.script_changed.connect(dialog.on_lines_changed)
    editor.project_replaced.connect(dialog.reject)
    dialog.show()
    return dialog
