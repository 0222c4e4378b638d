"""Export dialog: a form with a preview of the file names, then the progress, then the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import PurePosixPath

from PySide6.QtCore import QCoreApplication, Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from studio import settings as declared
from studio.app.background import run_in_background
from studio.app.export_dialog.export_options import (
    REMEMBERED,
    ExportLine,
    default_folder,
    export_settings,
    lines_of_script,
    preview_names,
)
from studio.app.export_dialog.form import ExportForm
from studio.app.export_dialog.pages import NamePreview, PendingLines, ProgressPage, ReplaceQuestion, ResultPage
from studio.app.synthesis.queue import JobState, SynthesisJob
from studio.app.widgets.screen_fit import ScrolledPage, fit_to_screen
from studio.errors import StudioError
from studio.export.exporter import Exporter, ExportResult, check_target
from studio.export.plan import ExportPlan, ExportSettings
from studio.export.progress import ExportProgress
from studio.export.project_lines import TakeSource, lines_of_project, origin_of_project
from studio.export.provenance import Provenance
from studio.pipeline.control import Cancelled, RequestControl
from studio.project.project import Project
from studio.settings_store import Settings

_PREVIEW_DELAY_MS = 120  # avoids an update for each typed letter
_DEFAULT_SIZE = (940, 440)


class ExportDialog(QDialog):
    """A non-modal dialog. An export writes the takes that are chosen when writing starts."""

    speak_wanted = Signal(list)  # ids of the lines to synthesise before the export
    speaking_unwanted = Signal(list)  # ids of the lines to remove from the queue
    exported = Signal(object)  # ExportResult
    _progressed = Signal(object)  # ExportProgress, emitted on the thread of the export

    def __init__(
        self,
        project: Project,
        settings: Settings,
        *,
        selected_ids: Iterable[str] = (),
        provenance: Provenance | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._project = project
        self._settings = settings
        self._selected_ids = tuple(selected_ids)
        self._provenance = provenance or Provenance()
        self._lines: tuple[ExportLine, ...] | None = None  # None if the project has changed
        self._checked_plan: ExportPlan | None = None  # set while the target folder is checked
        self._replaceable: frozenset[PurePosixPath] = (
            frozenset()
        )  # files of other scripts that the user allowed to replace
        self._pending: PendingLines | None = None
        self._failures: list[StudioError] = []
        self._exporter: Exporter | None = None
        self._control = RequestControl()  # cancels the running export
        self._closes_when_finished = False
        self.setWindowTitle(self.tr("Export audio"))
        self.resize(fit_to_screen(*_DEFAULT_SIZE))
        self.form = ExportForm()
        self.preview = NamePreview()
        self.progress = ProgressPage()
        self.outcome = ResultPage()
        self.pages = QStackedWidget()
        self.export_button = QPushButton(self.tr("Export"))
        for page in (self._form_page(), self.progress, self.outcome):
            self.pages.addWidget(page)
        QVBoxLayout(self).addWidget(self.pages)
        self._preview_timer = QTimer(self)
        self._preview_timer.setSingleShot(True)
        self._preview_timer.setInterval(_PREVIEW_DELAY_MS)
        values = {setting: settings[setting] for setting in REMEMBERED}
        name = project.name or (project.path.stem if project.path else self.tr("Script"))
        self._default_folder = default_folder(project, settings[declared.EXPORT_FOLDER], name)
        self.form.show_values(values, self._default_folder, name)
        if len(self._selected_ids) > 1:
            self.form.selected_lines.setChecked(True)
        self._connect_signals()
        self.show_preview()

    # Slots.

    def on_lines_changed(self) -> None:
        """Update the preview after an edit or a new take."""
        self._lines = None
        if self.pages.currentIndex() == 0:
            self._preview_timer.start()

    def on_job_finished(self, job: SynthesisJob) -> None:
        """Wait for the next pending line. Cancel the export if the line was removed from the queue."""
        pending = self._pending
        if pending is None or job.line_id not in pending:
            return
        if job.state is JobState.CANCELLED:
            self._cancel()
            return
        if job.error is not None:
            self._failures.append(job.error)
            pending.failed(job.line_id)
        else:
            pending.spoke(job.line_id)
        self._wait_on(pending)

    # The form.

    def show_preview(self) -> None:
        chosen = self._chosen()
        self.form.show_lines(
            num_lines=len(self._script()),
            num_selected=sum(line.id in self._selected_ids for line in self._script()),
            num_unspoken=sum(not line.is_fresh for line in chosen),
        )
        items = [line.item for line in chosen if line.is_fresh or not self.form.leave_out.isChecked()]
        try:
            names = preview_names(items, self._export_settings(), self.form.folder)
        except StudioError as error:
            self.preview.show_problem(error)
            self.export_button.setEnabled(False)
        else:
            self.preview.show_names(names)
            self.export_button.setEnabled(True)

    def _script(self) -> tuple[ExportLine, ...]:
        if self._lines is None:
            self._lines = lines_of_script(self._project)
        return self._lines

    def _chosen(self) -> list[ExportLine]:
        is_for_all = not self.form.selected_lines.isChecked()
        return [line for line in self._script() if is_for_all or line.id in self._selected_ids]

    def _unspoken(self) -> list[str]:
        """Return the ids of lines that must be synthesised before the export."""
        leaves_out = self.form.leave_out.isChecked()
        return [] if leaves_out else [line.id for line in self._chosen() if not line.is_fresh]

    def _export_settings(self, *, replaces_files: bool = False) -> ExportSettings:
        is_part = self.form.selected_lines.isChecked()
        part = ",".join(str(line.item.index) for line in self._chosen()) if is_part else ""
        origin = origin_of_project(self._project, part=part)
        return export_settings(
            self.form.values,
            joined_name=self.form.joined_name.text().strip(),
            project_name=self._project.name,
            provenance=self._provenance,
            origin=origin,
            replaces_files=replaces_files or self.form.replace_files.isChecked(),
        )

    def _form_page(self) -> QWidget:
        page = QWidget()
        rows = QVBoxLayout(page)
        rows.setContentsMargins(0, 0, 0, 0)
        body = QWidget()
        body_rows = QVBoxLayout(body)
        body_rows.setContentsMargins(0, 0, 0, 0)
        body_rows.addWidget(self.form.folder_row)
        columns = QHBoxLayout()
        columns.addWidget(self.form, 3)
        columns.addWidget(self.preview, 2)
        body_rows.addLayout(columns, 1)
        buttons = QDialogButtonBox()
        buttons.addButton(self.export_button, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.start)
        buttons.rejected.connect(self.reject)
        self.export_button.setDefault(True)
        rows.addWidget(ScrolledPage(body), 1)
        rows.addWidget(buttons)
        return page

    def _connect_signals(self) -> None:
        # the form
        self.form.changed.connect(self._preview_timer.start)
        self._preview_timer.timeout.connect(self.show_preview)
        # progress
        self._progressed.connect(self.progress.show_progress, Qt.ConnectionType.QueuedConnection)
        self.progress.cancel_clicked.connect(self._cancel)
        # result
        self.outcome.back_clicked.connect(self._go_back)
        self.outcome.close_clicked.connect(self.accept)

    # The export.

    def start(self) -> None:
        """Store the options, synthesise missing lines, then export."""
        self._lines = None
        self.show_preview()
        if not self.export_button.isEnabled():
            return
        self._remember()
        self._failures = []
        self._replaceable = frozenset()
        self.outcome.folder = self.form.folder
        self.pages.setCurrentWidget(self.progress)
        if self._unspoken():
            self._check_target()
        else:
            self._export()

    def _check_target(self) -> None:
        """Check the folder, and ask about files of other scripts, before the synthesis, which may take hours."""
        items = [line.item for line in self._chosen()]
        try:
            plan = ExportPlan.make(items, self.form.folder, self._export_settings())
        except StudioError as error:
            self._show_error(error)
            return
        self._checked_plan = plan
        self.progress.show_checking()
        run_in_background(
            self,
            partial(check_target, plan),
            done=partial(self._on_target_checked, plan),
            failed=self._show_error,
        )

    def _on_target_checked(self, plan: ExportPlan, foreign: tuple[PurePosixPath, ...]) -> None:
        if self._checked_plan is not plan:  # cancelled
            return
        if foreign and not plan.settings.replaces_files:
            self._ask_to_replace(foreign, self._synthesize)
        else:
            self._synthesize()

    def _ask_to_replace(self, files: tuple[PurePosixPath, ...], call: Callable[[], object]) -> None:
        def on_confirmed() -> None:
            self._replaceable |= frozenset(files)
            call()

        question = ReplaceQuestion(self.form.folder, files, self)
        question.confirmed.connect(on_confirmed)
        question.cancelled.connect(self._on_cancelled)
        question.open()

    def _synthesize(self) -> None:
        self._checked_plan = None
        self._lines = None
        if unspoken := self._unspoken():
            self._pending = PendingLines(self._project, unspoken)
            self.progress.show_speaking(self._pending)
            self.speak_wanted.emit(unspoken)
        else:
            self._export()

    def _remember(self) -> None:
        values = dict(self.form.values)
        if values[declared.EXPORT_FOLDER] == str(self._default_folder):
            # The default folder is derived from the remembered one.
            values[declared.EXPORT_FOLDER] = self._settings[declared.EXPORT_FOLDER]
        elif self._project.path and values[declared.EXPORT_FOLDER] == str(default_folder(self._project, "", "")):
            values[declared.EXPORT_FOLDER] = ""  # the default: beside the project file
        try:
            self._settings.change(values)
        except StudioError as error:  # the export is still possible
            self.preview.show_problem(error)

    def _wait_on(self, lines: PendingLines) -> None:
        self._lines = None
        if lines.waiting:
            self.progress.show_speaking(lines)
            return
        self._pending = None
        if self._failures:
            sentence = self.tr("%n line(s) could not be spoken, so nothing was exported.", "", len(self._failures))
            self.outcome.show_unspoken(sentence, self._failures)
            self._finish()
        elif unspoken := self._unspoken():
            sentence = self.tr("%n line(s) changed while being spoken.", "", len(unspoken))
            self.outcome.show_outcome(sentence, self.tr("Export again."))
            self._finish()
        else:
            self._export()

    def _export(self, *, replaces_files: bool = False) -> None:
        lines = lines_of_project(self._project, [line.id for line in self._chosen()])
        try:
            plan = ExportPlan.make(lines.items, self.form.folder, self._export_settings(replaces_files=replaces_files))
        except StudioError as error:
            self._show_error(error)
            return
        self._control = control = RequestControl()
        self.destroyed.connect(control.cancel)
        application = QCoreApplication.instance()
        if application is not None:  # quitting does not wait for the remaining lines
            application.aboutToQuit.connect(control.cancel)

        def on_progress(progress: ExportProgress) -> None:
            try:
                self._progressed.emit(progress)
            except RuntimeError:  # the dialog was destroyed
                control.cancel()

        source = TakeSource(self._project, lines)
        self._exporter = Exporter(plan, source, control=control, on_progress=on_progress)
        self.progress.cancel.setEnabled(True)
        run_in_background(self, partial(_run, self._exporter), done=self._on_ended, failed=self._on_failed)

    def _cancel(self) -> None:
        if self._pending:
            unwanted, self._pending = self._pending.waiting, None
            self.speaking_unwanted.emit(unwanted)
            self._on_cancelled()
        elif self._checked_plan is not None:
            self._on_cancelled()
        elif self._exporter is not None:
            self.progress.show_cancelling()
            self._control.cancel()

    def _on_ended(self, result: ExportResult | None) -> None:
        if result is None:
            self._on_cancelled()
            return
        self.outcome.show_result(result)
        self._finish()
        self.exported.emit(result)

    def _on_failed(self, error: StudioError) -> None:
        in_the_way = self._exporter.files_in_the_way if self._exporter is not None else ()
        if not in_the_way or self._closes_when_finished:
            self._show_error(error)
            return
        self._exporter = None
        if self._replaceable.issuperset(in_the_way):
            self._export(replaces_files=True)
        else:
            self._ask_to_replace(in_the_way, partial(self._export, replaces_files=True))

    def _show_error(self, error: StudioError) -> None:
        self.outcome.show_error(error)
        self._finish()

    def _on_cancelled(self) -> None:
        self.outcome.show_cancelled()
        self._finish()

    def _finish(self) -> None:
        self._exporter = None
        self._checked_plan = None
        self.pages.setCurrentWidget(self.outcome)
        self.outcome.close_button.setFocus()
        if self._closes_when_finished:
            super().reject()

    def _go_back(self) -> None:
        self._lines = None
        self.show_preview()
        self.pages.setCurrentIndex(0)

    @property
    def is_busy(self) -> bool:
        return any(work is not None for work in (self._checked_plan, self._pending, self._exporter))

    def reject(self) -> None:
        """Close the dialog. A running export is cancelled first, and the dialog closes when it has ended."""
        if not self.is_busy:
            super().reject()
            return
        self._closes_when_finished = True
        self._cancel()


def _run(exporter: Exporter) -> ExportResult | None:
    """Run an export on a background thread; return None if it is cancelled."""
    try:
        return exporter.run()
    except Cancelled:
        return None
