"""Export dialog: a form, a preview of the file names, and the findings of a check before the export begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QDialog, QDialogButtonBox, QPushButton, QWidget

from studio import settings as declared
from studio.app.background import run_in_background
from studio.app.export_dialog.book_summary import BookSummary
from studio.app.export_dialog.export_options import (
    ExportCheck,
    ExportLine,
    ExportOrder,
    FormChoices,
    KnownVoicesAndStyles,
    check_export,
    default_folder,
    folder_of_script,
    lines_of_script,
    make_export_settings,
    preview_names,
    with_disclaimer,
    with_folder,
)
from studio.app.export_dialog.findings_list import FindingsList
from studio.app.export_dialog.form import ExportForm
from studio.app.export_dialog.pages import NamePreview, ReplaceQuestion
from studio.app.widgets.controls import STRETCH, in_column, in_row
from studio.app.widgets.dialogs import make_primary
from studio.app.widgets.screen_fit import ScrolledPage, fit_to_screen
from studio.errors import StudioError
from studio.export.plan import ExportSettings
from studio.export.presets import EXPORT_OPTIONS, values_for_dub
from studio.export.provenance import Provenance
from studio.project.dubbing import has_slots
from studio.project.project import Project
from studio.settings_store import Settings

_PREVIEW_DELAY_MS = 120  # avoids an update for each typed letter
DEFAULT_SIZE = (1200, 720)
# Widths, in letters, below which the list of files, and the groups of options, are below one another.
_MIN_LETTERS, _MIN_LETTERS_OF_FORM = 142, 98


class ExportDialog(QDialog):
    """A non-modal dialog. It closes when the export begins; the export runs in the background."""

    export_wanted = Signal(object)  # ExportOrder
    lines_wanted = Signal(list)  # ids of lines to show in the script
    book_wanted = Signal()  # the details of the book are to be edited

    def __init__(
        self,
        project: Project,
        settings: Settings,
        *,
        selected_ids: Iterable[str] = (),
        provenance: Provenance | None = None,
        known: KnownVoicesAndStyles | None = None,
        style_names: Mapping[str, str] = MappingProxyType({}),
        checks_takes: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        """``checks_takes`` is whether new takes are checked, so that an export can wait for the checks."""
        super().__init__(parent)
        self._project = project
        self._settings = settings
        self._selected_ids = tuple(selected_ids)
        self._provenance = provenance or Provenance()
        self._style_names = style_names
        self._lines: tuple[ExportLine, ...] | None = None  # None if the project has changed
        self._known = known or KnownVoicesAndStyles()
        self._failing: frozenset[int] = frozenset()  # numbers of lines that would fail
        self._check_number = 0
        self._is_blocked = False  # whether the latest check found that nothing can be exported
        self._starts_when_checked = False
        self.setWindowTitle(self.tr("Export audio"))
        self.resize(fit_to_screen(*DEFAULT_SIZE))
        self.form = ExportForm()
        self.preview = NamePreview()
        self.book = BookSummary()
        self.findings = FindingsList()
        self.export_button = QPushButton(self.tr("Export"))
        self._assemble()
        self._preview_timer = QTimer(self, singleShot=True, interval=_PREVIEW_DELAY_MS)
        values = {setting: settings[setting] for setting in EXPORT_OPTIONS}
        name = project.name or (project.path.stem if project.path else self.tr("Script"))
        folders = settings[declared.EXPORT_FOLDERS]
        self._default_folder = default_folder(project, settings[declared.EXPORT_FOLDER], name, folders)
        if has_slots(project.script) and folder_of_script(project, folders) is None:
            values |= values_for_dub(values)
        self.form.show_values(values, self._default_folder, name)
        self.form.show_times(has_slots(project.script))
        self.form.show_checks(is_on=checks_takes)
        if len(self._selected_ids) > 1:
            self.form.selected_lines.setChecked(True)
        self._connect_signals()
        self.show_preview()

    # Slots.

    def on_lines_changed(self) -> None:
        """Update the preview after an edit or a new take."""
        self._lines = None
        self._preview_timer.start()

    # The form.

    def show_preview(self) -> None:
        chosen = self._chosen()
        self.form.show_lines(
            num_lines=len(self._script()),
            num_selected=sum(line.id in self._selected_ids for line in self._script()),
            num_unspoken=sum(not line.is_fresh for line in chosen),
        )
        try:
            settings = self._export_settings()
            items = [line.item for line in self._lines_to_export(settings)]
            names = preview_names(items, settings, self.form.folder)
        except StudioError as error:
            self.preview.show_problem(error)
            self._check_number += 1  # drops the result of a running check
            self.findings.show_check(ExportCheck())
            self._is_blocked = False
            self.export_button.setEnabled(False)
        else:
            self.preview.show_names(names)
            self.book.setVisible(settings.has_audiobook or settings.has_chapter_files)
            self.book.show_book(settings.book, settings.project, items)
            self.export_button.setEnabled(not self._is_blocked)
            self._begin_check()

    def _script(self) -> tuple[ExportLine, ...]:
        if self._lines is None:
            self._lines = lines_of_script(self._project)
        return self._lines

    def _chosen(self) -> list[ExportLine]:
        is_for_all = not self.form.selected_lines.isChecked()
        return [line for line in self._script() if is_for_all or line.id in self._selected_ids]

    def _lines_to_export(self, settings: ExportSettings) -> list[ExportLine]:
        """Return the chosen lines, without new lines if they are left out and failing lines if they are skipped.

        They begin with the disclaimer if it is chosen.
        """
        leaves_out = self.form.leave_out.isChecked()
        skipped = self._failing if self.findings.skips_lines else frozenset()
        lines = [
            line for line in self._chosen() if not (leaves_out and not line.is_fresh) and line.item.index not in skipped
        ]
        return with_disclaimer(lines, settings, self._choices())

    def _choices(self) -> FormChoices:
        is_part = self.form.selected_lines.isChecked()
        return FormChoices(
            self.form.values,
            self.form.joined_name.text().strip(),
            ",".join(str(line.item.index) for line in self._chosen()) if is_part else "",
            replaces_files=self.form.replace_files.isChecked(),
        )

    def _export_settings(self) -> ExportSettings:
        return make_export_settings(
            self._project, self._choices(), provenance=self._provenance, style_names=self._style_names
        )

    def _assemble(self) -> None:
        body = QWidget()
        self._columns = in_row((self.form, 3), (in_column(self.book, (self.preview, 1)), 2))
        in_column(self.form.folder_row, (self._columns, STRETCH), self.findings, parent=body, margins=0)
        buttons = QDialogButtonBox()
        buttons.addButton(self.export_button, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.start)
        buttons.rejected.connect(self.reject)
        make_primary(self.export_button)
        in_column((ScrolledPage(body), STRETCH), buttons, parent=self)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Place the list of files, and in a very narrow dialog also the groups of options, below one another."""
        super().resizeEvent(event)
        letters = self.width() // self.fontMetrics().averageCharWidth()
        for layout, least in ((self._columns, _MIN_LETTERS), (self.form.columns, _MIN_LETTERS_OF_FORM)):
            is_wide = letters >= least
            layout.setDirection(QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom)

    def _connect_signals(self) -> None:
        self.form.changed.connect(self._preview_timer.start)
        self.findings.skip_toggled.connect(self._preview_timer.start)
        self.findings.lines_wanted.connect(self._show_lines)
        self.book.details_wanted.connect(self.book_wanted)
        self._preview_timer.timeout.connect(self.show_preview)

    def _show_lines(self, numbers: list[int]) -> None:
        wanted = set(numbers)
        self.lines_wanted.emit([line.id for line in self._script() if line.item.index in wanted])

    # Check and export.

    def _begin_check(self) -> None:
        """Check the lines, the folder and the disk in the background. Only the result of the latest check is used."""
        self._check_number += 1
        leaves_out = self.form.leave_out.isChecked()
        settings, choices = self._export_settings(), self._choices()
        lines = [line for line in self._chosen() if line.is_fresh or not leaves_out]
        order = ExportOrder(
            self._project,
            tuple(with_disclaimer(lines, settings, choices)),
            self._project.dictionary_in_force,
            self.form.folder,
            settings,
            choices=choices,
        )
        run_in_background(
            self,
            partial(check_export, order, self._known, skips_failing=self.findings.skip.isChecked()),
            done=partial(self._on_checked, self._check_number, order),
            failed=self.preview.show_problem,
        )

    def _on_checked(self, number: int, order: ExportOrder, check: ExportCheck) -> None:
        if number != self._check_number:
            return
        self._failing = check.failing_numbers
        self.findings.show_check(check)
        if not check.is_impossible:
            self.preview.show_forecast(check.forecast)
        lines = tuple(self._lines_to_export(order.settings))
        may_export = bool(lines) and not check.is_impossible and (self.findings.skips_lines or not self._failing)
        self._is_blocked = not may_export
        self.export_button.setEnabled(may_export)
        starts, self._starts_when_checked = self._starts_when_checked, False
        if starts and may_export:
            self._on_ready(replace(order, lines=lines), check)

    def start(self) -> None:
        """Check once more, store the options, and begin the export."""
        self._lines = None
        self._starts_when_checked = True
        self.show_preview()
        if self.export_button.isEnabled():
            self.export_button.setEnabled(False)  # until the check ends
        else:
            self._starts_when_checked = False

    def _on_ready(self, order: ExportOrder, check: ExportCheck) -> None:
        if check.foreign and not order.settings.replaces_files:
            question = ReplaceQuestion(order.folder, check.foreign, self)
            question.confirmed.connect(lambda: self._begin(replace(order, replaceable=frozenset(check.foreign))))
            question.cancelled.connect(lambda: self.export_button.setEnabled(True))
            question.open()
        else:
            self._begin(order)

    def _begin(self, order: ExportOrder) -> None:
        self._remember()
        self.export_wanted.emit(order)
        self.accept()

    def _remember(self) -> None:
        values = dict(self.form.values)
        if values[declared.EXPORT_FOLDER] == str(self._default_folder):
            # The default folder is derived from the remembered one.
            values[declared.EXPORT_FOLDER] = self._settings[declared.EXPORT_FOLDER]
        elif self._project.path and values[declared.EXPORT_FOLDER] == str(default_folder(self._project, "", "")):
            values[declared.EXPORT_FOLDER] = ""  # the default: beside the project file
        folders = with_folder(self._project, self._settings[declared.EXPORT_FOLDERS], self.form.folder)
        values[declared.EXPORT_FOLDERS] = folders
        try:
            self._settings.change(values)
        except StudioError as error:  # an export without remembered options is still possible
            self.preview.show_problem(error)
