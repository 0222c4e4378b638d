"""Dialog for the metadata of a voice."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from studio.app.voices.details_form import DetailsForm
from studio.app.voices.voice_edits import Description
from studio.app.widgets.screen_fit import fit_to_screen
from studio.voices.library import Voice


class EditDialog(QDialog):
    """After it is accepted, ``name`` and ``description`` hold the new values."""

    def __init__(self, voice: Voice, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.voice = voice
        self.setWindowTitle(self.tr("Details of {name}").format(name=voice.name))
        self.resize(fit_to_screen(520, 420))
        self._form = DetailsForm(self)
        self._form.fill(voice.name, Description.of(voice))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel, self)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        save = buttons.button(QDialogButtonBox.StandardButton.Save)
        self._form.name_changed.connect(lambda name: save.setEnabled(bool(name.strip())))
        rows = QVBoxLayout(self)
        rows.addWidget(self._form)
        rows.addWidget(buttons)

    @property
    def name(self) -> str:
        return self._form.name.text()

    @property
    def description(self) -> Description:
        return self._form.description
