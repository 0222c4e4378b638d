"""Dialog for the quality of the open script."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QButtonGroup, QDialog, QRadioButton, QVBoxLayout, QWidget

from studio.app.inspector.take_rows import quality_description, quality_name
from studio.app.script.project_editor import ProjectEditor
from studio.app.widgets.controls import text_label
from studio.app.widgets.dialogs import dialog_buttons
from studio.model.options import Quality
from studio.project.changes import EditDetails

_WIDTH = 480


class QualityDialog(QDialog):
    """Edits ``ProjectDetails.quality`` as one undo step."""

    def __init__(self, editor: ProjectEditor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self.setWindowTitle(self.tr("Quality of this script"))
        self.setMinimumWidth(_WIDTH)
        self.buttons = QButtonGroup(self)
        rows = QVBoxLayout(self)
        for index, quality in enumerate(Quality):
            button = QRadioButton(quality_name(quality))
            button.setAccessibleDescription(quality_description(quality))
            button.setChecked(editor.script.details.quality is quality)
            self.buttons.addButton(button, index)
            rows.addWidget(button)
            rows.addWidget(text_label(quality_description(quality), "quiet"))
        rows.addWidget(
            text_label(
                self.tr(
                    "Applies to new takes of lines without a quality of their own. The distance is measured on this "
                    "computer at first use. Takes that are not exact are marked; Speak > Make drafts final speaks them "
                    "again exactly, with the same reading."
                ),
                "quiet",
            )
        )
        box = dialog_buttons(self)
        rows.addWidget(box)

    def accept(self) -> None:
        before, chosen = self._editor.script.details, list(Quality)[self.buttons.checkedId()]
        if chosen is not before.quality:
            self._editor.push(EditDetails(replace(before, quality=chosen)), self.tr("Change quality"))
        super().accept()
