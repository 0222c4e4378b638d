"""Settings dialog. All changes are saved together when it is accepted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QListWidget,
    QScrollArea,
    QStackedWidget,
    QStyle,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.preferences.editors import DeviceEditor, ProcessorEditor, SettingEditor, editor_for, translated
from studio.app.widgets.controls import in_column, in_row, text_label
from studio.app.widgets.dialogs import dialog_buttons
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import fit_to_screen
from studio.catalog.machine import Gpu, list_gpus
from studio.errors import StudioError
from studio.setting_kinds import Page, Setting
from studio.settings import PAGE_TITLES, SETTINGS
from studio.settings_store import Settings

_log = logging.getLogger(__name__)

# Returns the names of the "input" or "output" devices. It is slow, so it is called on a background thread.
DeviceNames = Callable[[str], tuple[str, ...]]


class SettingsPage(QScrollArea):
    """Page of the dialog: the editors of ``settings`` with their help texts."""

    edited = Signal()  # the user changed a value

    def __init__(self, settings: Iterable[Setting[Any]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.editors = {setting: editor_for(setting) for setting in settings}
        content = QWidget()
        form = QFormLayout(content)
        form.setContentsMargins(16, 12, 16, 12)
        form.setVerticalSpacing(12)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        for editor in self.editors.values():
            self._add(form, editor)
            editor.changed.connect(self._on_changed)
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._enable()

    def values(self) -> dict[Setting[Any], Any]:
        return {setting: editor.value() for setting, editor in self.editors.items()}

    def show_values(self, values: Mapping[Setting[Any], Any]) -> None:
        """Show ``values``; settings of other pages are ignored."""
        for setting, editor in self.editors.items():
            if setting in values:
                editor.set_value(values[setting])
        self._enable()

    def show_defaults(self) -> None:
        self.show_values({setting: setting.default for setting in self.editors})
        self.edited.emit()

    def _add(self, form: QFormLayout, editor: SettingEditor) -> None:
        explanation = text_label(translated(editor.setting.help), "quiet")
        field = QWidget()
        in_column(editor.control, explanation, parent=field, margins=0, spacing=4)
        if isinstance(editor.control, QCheckBox):  # a checkbox has its own label
            style = editor.control.style()
            indicator = style.pixelMetric(QStyle.PixelMetric.PM_IndicatorWidth)
            spacing = style.pixelMetric(QStyle.PixelMetric.PM_CheckBoxLabelSpacing)
            explanation.setContentsMargins(indicator + spacing, 0, 0, 0)
            form.addRow(field)
            return
        title = QLabel(translated(editor.setting.title))
        title.setBuddy(editor.control.focusProxy() or editor.control)
        form.addRow(title, field)

    def _on_changed(self) -> None:
        self._enable()
        self.edited.emit()

    def _enable(self) -> None:
        """Enable a setting that depends on another one only while that one is on."""
        for setting, editor in self.editors.items():
            if setting.needs is not None:
                editor.control.setEnabled(bool(self.editors[setting.needs].value()))


class PreferencesDialog(QDialog):
    """Shows all pages of settings. Use ``add_page`` for pages of another kind, such as the shortcuts."""

    def __init__(self, settings: Settings, device_names: DeviceNames, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Settings"))
        self._settings = settings
        self._device_names = device_names
        self._has_asked_for_devices = False
        self.pages = {page: SettingsPage(s for s in SETTINGS if s.page is page) for page in Page}
        self._list = QListWidget()
        self._list.setAccessibleName(self.tr("Settings pages"))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setStyleSheet("QListWidget::item { padding: 6px; }")
        self._stack = QStackedWidget()
        self._error = ErrorLine()
        self._buttons = dialog_buttons(self)
        self.defaults_button = self._buttons.addButton(
            self.tr("Restore defaults"), QDialogButtonBox.ButtonRole.ResetRole
        )
        self._lay_out()
        for page, content in self.pages.items():
            self.add_page(translated(PAGE_TITLES[page]), content)
            content.show_values({setting: settings[setting] for setting in content.editors})
        self._connect_signals()
        self._list.setCurrentRow(0)

    def add_page(self, title: str, content: QWidget) -> None:
        """Append a page that saves its changes and restores its defaults itself."""
        self._list.addItem(title)
        self._stack.addWidget(content)
        self._list.setFixedWidth(self._list.sizeHintForColumn(0) + 2 * self.fontMetrics().averageCharWidth() + 24)
        self._reach_buttons_last()

    def open_page(self, page: Page | str) -> None:
        """Show a page of settings, or an added page by its title."""
        title = translated(PAGE_TITLES[page]) if isinstance(page, Page) else page
        for row in range(self._list.count()):
            if self._list.item(row).text() == title:
                self._list.setCurrentRow(row)

    def accept(self) -> None:
        """Save and close; if saving fails, show the error and stay open."""
        try:
            self._settings.change(self.changes())
        except StudioError as error:
            self._error.show_error(error)
            return
        super().accept()

    def changes(self) -> dict[Setting[Any], Any]:
        """Return the changed settings with their new values."""
        shown = {setting: value for page in self.pages.values() for setting, value in page.values().items()}
        return {setting: value for setting, value in shown.items() if value != self._settings[setting]}

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        if not self._has_asked_for_devices:
            self._has_asked_for_devices = True
            run_in_background(
                self, partial(_output_names, self._device_names), done=self._show_devices, failed=self._error.show_error
            )
            run_in_background(self, list_gpus, done=self._show_gpus, failed=self._error.show_error)

    def _lay_out(self) -> None:
        pages = in_row(self._list, (self._stack, 1))
        in_column((pages, 1), self._error, self._buttons, parent=self)
        width = self.fontMetrics().averageCharWidth()
        self.resize(fit_to_screen(110 * width, 72 * width))

    def _connect_signals(self) -> None:
        # Pages.
        self._list.currentRowChanged.connect(self._stack.setCurrentIndex)
        self._list.currentRowChanged.connect(self._on_page_changed)
        for page in self.pages.values():
            page.edited.connect(self._error.clear)
        # Buttons.
        self.defaults_button.clicked.connect(self._show_defaults)

    def _reach_buttons_last(self) -> None:
        """Keep the buttons last in the Tab order after a page is added."""
        standard = QDialogButtonBox.StandardButton
        last: QWidget | None = self.previousInFocusChain()
        for button in (self.defaults_button, *map(self._buttons.button, (standard.Ok, standard.Cancel))):
            if last is not None and button is not last:
                self.setTabOrder(last, button)
            last = button

    def _on_page_changed(self) -> None:
        self.defaults_button.setVisible(isinstance(self._stack.currentWidget(), SettingsPage))

    def _show_defaults(self) -> None:
        page = self._stack.currentWidget()
        if isinstance(page, SettingsPage):
            page.show_defaults()

    def _show_devices(self, names: tuple[str, ...]) -> None:
        for page in self.pages.values():
            for editor in page.editors.values():
                if isinstance(editor, DeviceEditor):
                    editor.set_names(names)

    def _show_gpus(self, gpus: tuple[Gpu, ...]) -> None:
        for page in self.pages.values():
            for editor in page.editors.values():
                if isinstance(editor, ProcessorEditor):
                    editor.set_gpus(gpus)


def _output_names(device_names: DeviceNames) -> tuple[str, ...]:
    """Return the names of the output devices, or an empty tuple if they cannot be listed."""
    try:
        return device_names("output")
    except StudioError as error:
        _log.info("cannot list audio devices: %s", error)
        return ()
