"""Offers to continue an export that a crash interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject

from studio.app.background import run_in_background
from studio.app.documents import Documents
from studio.app.export_dialog.export_manager import ExportManager
from studio.app.export_dialog.export_records import InterruptedExport, discard_records, interrupted_exports
from studio.app.export_dialog.export_task import ExportTask
from studio.app.export_dialog.opening import provenance_of_model
from studio.app.notifications import NotificationBar
from studio.app.session import Session
from studio.app.translation import join_sentences
from studio.errors import StudioError


class ExportResuming(QObject):
    """Shows a notice when the script of an interrupted export is open. If it was saved, offers to open it.

    An export that the user declines or repeats is forgotten.
    """

    def __init__(
        self,
        session: Session,
        exports: ExportManager,
        documents: Documents,
        notices: NotificationBar,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._exports = exports
        self._documents = documents
        self._notices = notices
        self._interrupted: list[InterruptedExport] = []
        self._awaited: InterruptedExport | None = None  # continued once its script is open
        self._words = ""
        session.editor.project_replaced.connect(self._offer)
        exports.started.connect(self._on_started)

    def begin(self) -> None:
        """Find the interrupted exports."""
        if self._exports.records is not None:
            work = partial(interrupted_exports, self._exports.records)
            run_in_background(self, work, done=self._on_found, failed=lambda _: None)

    def _on_found(self, found: list[InterruptedExport]) -> None:
        self._interrupted = found
        self._offer()

    def _offer(self) -> None:
        project = self._session.editor.project
        awaited, self._awaited = self._awaited, None
        of_script = next((each for each in self._interrupted if each.belongs_to(project)), None)
        if of_script is not None and awaited is of_script:
            self._continue(of_script)
        elif of_script is not None:
            self._show_offer(of_script)
        elif not self._documents.has_unsaved_changes and project.path is None:
            saved = [each for each in self._interrupted if each.project_path is not None]
            for each in saved[:1]:
                self._show_offer(each)

    def _show_offer(self, interrupted: InterruptedExport) -> None:
        is_open = interrupted.belongs_to(self._session.editor.project)
        sentences = [self.tr("The export of “{name}” was interrupted.").format(name=interrupted.name)]
        if is_open:
            project = self._session.editor.project
            ids = [line_id for line_id in interrupted.line_ids if project.has_line(line_id)]
            num_spoken = sum(project.chosen_take(line_id) is not None for line_id in ids)
            words = self.tr("{count} of %n line(s) spoken.", "", len(ids))
            sentences.append(words.format(count=num_spoken))
        self._words = join_sentences(sentences)
        self._notices.show_hint(
            self._words,
            offer=self.tr("Continue export") if is_open else self.tr("Open and continue"),
            call=partial(self._continue if is_open else self._open, interrupted),
            others=[(self.tr("Don't continue"), partial(self._forget, [interrupted]))],
            is_about_script=is_open,
        )

    def _open(self, interrupted: InterruptedExport) -> None:
        assert interrupted.project_path is not None
        self._awaited = interrupted
        self._documents.open_anew(interrupted.project_path)

    def _continue(self, interrupted: InterruptedExport) -> None:
        session = self._session
        try:
            order = interrupted.order(
                session.editor.project,
                provenance_of_model(session.model_selection.folder(), session.settings),
                session.model_selection.styles.names,
            )
        except StudioError as error:
            self._notices.show_error(error)
            return
        self._forget([interrupted])
        if order is not None:
            self._exports.start(order)

    def _on_started(self, task: ExportTask) -> None:
        """Forget an interrupted export of the same script to the same folder, which this one replaces."""
        project, folder = task.order.project, task.order.folder
        self._forget([each for each in self._interrupted if each.folder == folder and each.belongs_to(project)])

    def _forget(self, forgotten: Sequence[InterruptedExport]) -> None:
        if not forgotten:
            return
        self._notices.withdraw(self._words)
        self._interrupted = [each for each in self._interrupted if each not in forgotten]
        paths = [each.record for each in forgotten]
        run_in_background(self, partial(discard_records, paths), done=lambda _: None, failed=lambda _: None)
