"""Model and voice of a speech server of another program, and what such a server cannot do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QComboBox, QFormLayout, QVBoxLayout, QWidget

from studio.app.widgets.quiet_label import quiet_label
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
        self.limits = quiet_label()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.limits)
        self._form = QFormLayout()
        column.addLayout(self._form)
        self._form.addRow(self.tr("Model"), self.model)
        self._form.addRow(self.tr("Voice"), self.voice)
        self._voices = last.voices
        _fill(self.model, (), last.model)
        _fill(self.voice, last.voices, last.voice)
        self._show_kind(is_triton=last.is_triton)
        self.setVisible(last.is_other_program)

    def _show_kind(self, *, is_triton: bool) -> None:
        """Show what the server cannot do. Triton has no voices of its own."""
        self._form.setRowVisible(self.voice, not is_triton)
        if is_triton:
            self.limits.setText(
                self.tr(
                    "This server runs Triton with a model of CosyVoice. It clones voices that have a recording and a "
                    "transcript; both are sent with each sentence. It has no styles, seeds or sampling options, cannot "
                    "convert recordings, and gives less evidence to the checks of takes."
                )
            )
        else:
            self.limits.setText(
                self.tr(
                    "This server belongs to another program. It uses its own voices: the one with the name of a line's "
                    "voice, otherwise the voice chosen here. It has no cloned voices, styles, seeds or sampling options, "
                    "cannot convert recordings, and gives less evidence to the checks of takes."
                )
            )

    def show_found(self, found: OtherServer, *, is_triton: bool) -> None:
        """List the models and voices of a server. Triton lists all of its models, so that another one is not kept."""
        if is_triton and self.model.currentText() not in found.models:
            self.model.clearEditText()
        self._show_kind(is_triton=is_triton)
        self._voices = found.voices
        _fill(self.model, found.models, self.model.currentText())
        _fill(self.voice, found.voices, self.voice.currentText())
        self.show()

    def server(self, url: str) -> ServerAddress:
        """Return the server at ``url`` with the chosen model and voice, or without them while this is hidden."""
        plain = ServerAddress(url)
        if self.isHidden():
            return plain
        model, voice = self.model.currentText().strip(), self.voice.currentText().strip()
        if plain.is_triton:
            return ServerAddress(url, model=model)
        return ServerAddress(url, model=model, voice=voice, voices=self._voices)


def _fill(box: QComboBox, names: Sequence[str], chosen: str) -> None:
    """List ``names``, and show ``chosen``, or the first name if it is empty."""
    box.clear()
    box.addItems(names)
    if chosen or names:
        box.setCurrentText(chosen or names[0])
