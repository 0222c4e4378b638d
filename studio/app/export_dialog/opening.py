"""Opens the export dialog and connects it to the project and the synthesis queue."""

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
    """Show the dialog and return it at once. It deletes itself when closed.

    ``model_folder``: folder of the current model, whose name and licence go into the files' metadata.
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

    def report(job: SynthesisJob) -> None:
        if job.state is JobState.DONE:
            dialog.on_line_spoken(job.line_id)
        elif job.state is JobState.FAILED and job.error is not None:
            dialog.on_line_failed(job.line_id, job.error)
        elif job.state is JobState.CANCELLED:
            dialog.on_line_cancelled(job.line_id)

    def update_lines(*_: object) -> None:
        dialog.on_lines_changed()

    dialog.speak_wanted.connect(speak)
    dialog.speaking_unwanted.connect(stop)
    queue.job_finished.connect(report)
    editor.script_changed.connect(update_lines)
    editor.project_replaced.connect(dialog.reject)

    def disconnect() -> None:
        queue.job_finished.disconnect(report)
        editor.script_changed.disconnect(update_lines)

    dialog.finished.connect(disconnect)
    dialog.show()
    return dialog
