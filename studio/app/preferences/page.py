"""Page of the settings dialog: editors with their help texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QLabel, QScrollArea, QStyle, QVBoxLayout, QWidget

from studio.app.preferences.editors import BoolEditor, SettingEditor, editor_for, translated
from studio.setting_kinds import Setting


class SettingsPage(QScrollArea):
    """``edited`` is emitted when the user changes a value."""

    edited = Signal()

    def __init__(self, settings: Iterable[Setting[Any]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.editors = {setting: editor_for(setting) for setting in settings}
        content = QWidget()
        form = QFormLayout(content)
        form.setContentsMargins(16, 12, 16, 12)
        form.setVerticalSpacing(14)
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
        """Show the ``values`` of settings on this page."""
        for setting, editor in self.editors.items():
            if setting in values:
                editor.set_value(values[setting])
        self._enable()

    def show_defaults(self) -> None:
        self.show_values({setting: setting.default for setting in self.editors})
        self.edited.emit()

    def _add(self, form: QFormLayout, editor: SettingEditor) -> None:
        explanation = QLabel(translated(editor.setting.help))
        explanation.setWordWrap(True)
        explanation.setProperty("role", "quiet")
        field = QWidget()
        column = QVBoxLayout(field)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addWidget(editor.control)
        column.addWidget(explanation)
        if isinstance(editor, BoolEditor):  # a checkbox has its own label
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
        """Enable settings that depend on another one only if that is set."""
        for setting, editor in self.editors.items():
            if setting.needs is not None:
                editor.control.setEnabled(bool(self.editors[setting.needs].value()))
