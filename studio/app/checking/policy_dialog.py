"""Dialog for the take-check settings of the open script."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtWidgets import QComboBox, QDialog, QFormLayout, QWidget

from studio.app.preferences.editors import translated
from studio.app.script.project_editor import ProjectEditor
from studio.app.widgets.controls import in_column, text_label
from studio.app.widgets.dialogs import dialog_buttons
from studio.project.changes import EditDetails
from studio.setting_kinds import ChoiceSetting
from studio.settings import CHECK_STRICTNESS, RECOGNIZER, TAKE_CHECKS, TAKE_RETRIES
from studio.settings_store import Settings
from studio.take_checks.policy import CheckMode, ProjectCheckPolicy
from studio.take_checks.requests import Strictness

_WIDTH = 480


class PolicyDialog(QDialog):
    """Edits ``ProjectDetails.checks`` as one undo step. Each choice can follow the settings."""

    def __init__(self, editor: ProjectEditor, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._settings = settings
        own = editor.script.details.checks
        self.setWindowTitle(self.tr("Checks of this script"))
        self.setMinimumWidth(_WIDTH)
        self.mode = self._choice(TAKE_CHECKS, own.mode and own.mode.value)
        self.num_retries = self._box(TAKE_RETRIES.title)
        self._follow(self.num_retries, str(settings[TAKE_RETRIES]))
        for number in range(TAKE_RETRIES.low, TAKE_RETRIES.high + 1):
            self.num_retries.addItem(str(number), number)
        self._select(self.num_retries, own.num_retries)
        self.strictness = self._choice(CHECK_STRICTNESS, own.strictness and own.strictness.value)
        self.recognizer = self._choice(RECOGNIZER, own.recognizer)
        fields = QFormLayout()
        for setting, box in (
            (TAKE_CHECKS, self.mode),
            (TAKE_RETRIES, self.num_retries),
            (CHECK_STRICTNESS, self.strictness),
            (RECOGNIZER, self.recognizer),
        ):
            fields.addRow(translated(setting.title), box)
        hint = text_label(self.tr("These choices are saved with the script and apply to new takes."), "quiet")
        buttons = dialog_buttons(self)
        in_column(fields, hint, buttons, parent=self)

    def accept(self) -> None:
        before = self._editor.script.details
        mode, strictness = self.mode.currentData(), self.strictness.currentData()
        own = ProjectCheckPolicy(
            mode and CheckMode(mode),
            self.num_retries.currentData(),
            strictness and Strictness(strictness),
            self.recognizer.currentData(),
        )
        if own != before.checks:
            self._editor.push(EditDetails(replace(before, checks=own)), self.tr("Change checks"))
        super().accept()

    def _choice(self, setting: ChoiceSetting[Any], own: str | None) -> QComboBox:
        box = self._box(setting.title)
        titles = {option.value: translated(option.title) for option in setting.options}
        self._follow(box, titles[self._settings[setting]])
        for value, title in titles.items():
            box.addItem(title, value)
        self._select(box, own)
        return box

    def _box(self, title: str) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(translated(title))
        return box

    def _follow(self, box: QComboBox, present: str) -> None:
        box.addItem(self.tr("As in the settings ({choice})").format(choice=present), None)

    @staticmethod
    def _select(box: QComboBox, value: object) -> None:
        """Select ``value``; add it if it is unknown, such as a recogniser that is installed on another computer."""
        if value is not None and box.findData(value) < 0:
            box.addItem(str(value), value)
        box.setCurrentIndex(max(0, box.findData(value)) if value is not None else 0)
