"""Dialog for the title, author, narrator and cover of the work."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import (
    QDialog,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.script.project_editor import ProjectEditor
from studio.app.widgets.controls import in_column, text_label
from studio.app.widgets.dialogs import dialog_buttons
from studio.app.widgets.error_line import ErrorLine
from studio.export.book import read_cover
from studio.project.changes import Change, CompositeChange, EditDetails, EditLines
from studio.project.lines import DEFAULT_PAUSE_SECONDS, MAX_PAUSE_SECONDS, paragraph_ends

_COVER_SIZE = 128
_WIDTH = 480


class BookDialog(QDialog):
    """Edits the details of the project as one undo step."""

    def __init__(self, editor: ProjectEditor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        details = editor.script.details
        self._cover = details.cover
        self.setWindowTitle(self.tr("Book details"))
        self.setMinimumWidth(_WIDTH)
        self.title = QLineEdit(details.title)
        self.author = QLineEdit(details.author)
        self.narrator = QLineEdit(details.narrator)
        self._ends = paragraph_ends(editor.script.lines)
        self.pause = QDoubleSpinBox(maximum=MAX_PAUSE_SECONDS, singleStep=0.1, decimals=2)
        self.pause.setSuffix(" " + self.tr("s"))
        pauses = Counter(line.pause_after_seconds for line in self._ends)
        self.pause.setValue(max(pauses, key=lambda seconds: pauses[seconds], default=DEFAULT_PAUSE_SECONDS))
        self._pause_before = self.pause.value()
        self.picture = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self.picture.setFixedSize(_COVER_SIZE, _COVER_SIZE)
        self.picture.setAccessibleName(self.tr("Cover"))
        self.choose_button = QPushButton(self.tr("Choose image…"))
        self.remove_button = QPushButton(self.tr("Remove cover"))
        self.problem = ErrorLine()
        fields = QFormLayout()
        for label, field in (
            (self.tr("Title"), self.title),
            (self.tr("Author"), self.author),
            (self.tr("Narrator"), self.narrator),
            (self.tr("Paragraph pause"), self.pause),
        ):
            fields.addRow(label, field)
        cover = QHBoxLayout()
        cover.addWidget(self.picture)
        cover_buttons = QVBoxLayout()
        for button in (self.choose_button, self.remove_button):
            button.setAutoDefault(False)
            cover_buttons.addWidget(button)
        cover_buttons.addStretch()
        cover.addLayout(cover_buttons)
        cover.addStretch()
        fields.addRow(self.tr("Cover"), cover)
        hint = text_label(self.tr("Exported files get these as tags. Audiobooks (M4B) also get the cover."), "quiet")
        buttons = dialog_buttons(self)
        in_column(fields, hint, self.problem, buttons, parent=self)
        self.choose_button.clicked.connect(self._choose)
        self.remove_button.clicked.connect(lambda: self._show_cover(None))
        self._show_cover(self._cover)

    def accept(self) -> None:
        before = self._editor.script.details
        after = replace(
            before,
            title=self.title.text().strip(),
            author=self.author.text().strip(),
            narrator=self.narrator.text().strip(),
            cover=self._cover,
        )
        changes: list[Change] = [] if after == before else [EditDetails(after)]
        if self.pause.value() != self._pause_before:
            changes.append(EditLines({line.id: {"pause_after_seconds": self.pause.value()} for line in self._ends}))
        if changes:
            self._editor.push(CompositeChange(tuple(changes)), self.tr("Edit book details"))
        super().accept()

    def load_cover(self, path: Path) -> None:
        """Read an image on a background thread and show it, or the reason why it cannot be used."""
        self.problem.clear()
        run_in_background(self, partial(read_cover, path), done=self._show_cover, failed=self.problem.show_error)

    def _choose(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self, self.tr("Choose cover"), "", self.tr("Images") + " (*.jpg *.jpeg *.png)"
        )
        if name:
            self.load_cover(Path(name))

    def _show_cover(self, image: bytes | None) -> None:
        self._cover = image
        self.remove_button.setEnabled(image is not None)
        picture = QPixmap()
        if image is None or not picture.loadFromData(image):
            self.picture.setText(self.tr("No cover"))
            return
        self.picture.setPixmap(
            picture.scaled(
                _COVER_SIZE,
                _COVER_SIZE,
                Qt.AspectRatioMode.KeepAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
        )
