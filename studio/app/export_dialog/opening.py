"""How the window opens the export dialog: over its project, with its queue to speak what is missing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from studio.app.export_dialog.dialog import ExportDialog
from studio.app.script.project_editor import ProjectEditor
from studio.app.synthesis.queue import JobState, SynthesisJob, SynthesisQueue
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
    """Shows the dialog and returns it at once; it deletes itself when it is closed.

    ``model_folder``: of the model that speaks now; its licence goes into the files.
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

    def tell(job: SynthesisJob) -> None:
        if job.state is JobState.DONE:
            dialog.on_line_spoken(job.line_id)
        elif job.state is JobState.FAILED and job.error is not None:
            dialog.on_line_failed(job.line_id, job.error)
        elif job.state is JobState.CANCELLED:
            dialog.on_line_cancelled(job.line_id)

    def notice(*_: object) -> None:
        dialog.on_lines_changed()

    dialog.speak_wanted.connect(speak)
    dialog.speaking_unwanted.connect(stop)
    queue.job_finished.connect(tell)
    editor.script_changed.connect(notice)
    editor.project_replaced.connect(dialog.reject)

    def part() -> None:
        queue.job_finished.disconnect(tell)
        editor.script_changed.disconnect(notice)

    dialog.finished.connect(part)
    dialog.show()
    return dialog
