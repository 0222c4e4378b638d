"""Notice that changes are only in memory because they cannot be written."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal

from studio.app.background import run_in_background
from studio.app.notifications import NotificationBar
from studio.app.script.project_editor import ProjectEditor
from studio.errors import StudioError
from studio.project.draft_writer import Unwritten

_RETRY_MILLISECONDS = 3_000


class UnwrittenBar(NotificationBar):
    """Watches the project and retries in the background every few seconds until all changes are written.

    A closed notice reappears with the next change that cannot be written.
    """

    written = Signal(str)  # message for the status bar

    def __init__(self, editor: ProjectEditor, save_elsewhere: Callable[[], object]) -> None:
        super().__init__()
        self._editor = editor
        self._save_elsewhere = save_elsewhere
        self._retry = QTimer(self)
        self._retry.setInterval(_RETRY_MILLISECONDS)
        self._retry.timeout.connect(self._write_again)
        editor.unwritten_changed.connect(self._on_unwritten)
        if editor.project.unwritten is not None:
            self._on_unwritten(editor.project.unwritten)

    def _on_unwritten(self, unwritten: Unwritten | None) -> None:
        if unwritten is None:
            self._retry.stop()
            self.hide()
            self.written.emit(self.tr("All changes are saved."))
            return
        self._retry.start()
        error = type(unwritten.error)(
            "Your changes are not being saved. {reason} Changes that are only in memory: {count}.",
            remedy="Free some space: they are then saved at once. Or save the script to another disk.",
            reason=unwritten.error.problem,
            count=unwritten.num_changes,
        )
        self.show_error(error, offer=self.tr("Save elsewhere…"), call=self._save_elsewhere)

    def _write_again(self) -> None:
        project, before = self._editor.project, self._editor.script

        def done(_: object) -> None:
            if project is self._editor.project:
                self._editor.refresh(before)

        def failed(error: StudioError) -> None:
            self._editor.failed.emit(error)

        run_in_background(self, project.write_again, done=done, failed=failed)
