"""Model and voice of a speech server of another program, and what such a server cannot do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QComboBox, QFormLayout, QLabel, QVBoxLayout, QWidget

from studio.remote.address import ServerAddress

if TYPE_CHECKING:
    from studio.remote.probing import OtherServer


class OtherServerFields(QWidget):
    """Hidden unless ``last``, the server that was used last, belongs to another program."""

    def __init__(self, last: ServerAddress, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model, self.voice = QComboBox(editable=True), QComboBox(editable=True)
        self.model.setAccessibleName(self.tr("Model"))
        self.voice.setAccessibleName(self.tr("Voice"))
        limits = QLabel(
            self.tr(
                "This server belongs to another program. Its own voices speak: the one with the name of a line's voice, "
                "otherwise the voice chosen here. It has no cloned voices, styles, seeds or sampling options, cannot "
                "convert recordings, and gives less evidence to the checks of takes."
            ),
            wordWrap=True,
        )
        limits.setProperty("role", "quiet")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(limits)
        form = QFormLayout()
        column.addLayout(form)
        form.addRow(self.tr("Model"), self.model)
        form.addRow(self.tr("Voice"), self.voice)
        self._voices = last.voices
        _fill(self.model, (), last.model)
        _fill(self.voice, last.voices, last.voice)
        self.setVisible(last.is_other_program)

    def show_found(self, found: OtherServer) -> None:
        """List the models and voices of a server."""
        self._voices = found.voices
        _fill(self.model, found.models, self.model.currentText())
        _fill(self.voice, found.voices, self.voice.currentText())
        self.show()

    def server(self, url: str) -> ServerAddress:
        """Return the server at ``url`` with the chosen model and voice, or without them while this is hidden."""
        if self.isHidden():
            return ServerAddress(url)
        model, voice = self.model.currentText().strip(), self.voice.currentText().strip()
        return ServerAddress(url, model=model, voice=voice, voices=self._voices)


def _fill(box: QComboBox, names: Sequence[str], chosen: str) -> None:
    """List ``names``, and show ``chosen``, or the first name if it is empty."""
    box.clear()
    box.addItems(names)
    if chosen or names:
        box.setCurrentText(chosen or names[0])
