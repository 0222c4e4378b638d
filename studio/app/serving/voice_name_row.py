"""Fields that choose the voice for a name that programs send, such as one of OpenAI's voices."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from studio.app.background import run_in_background
from studio.app.serving.serving_controller import ServingController
from studio.serve.voice_names import OPENAI_VOICES
from studio.settings import SERVED_VOICE_NAMES
from studio.settings_store import Settings


class VoiceNameRow(QWidget):
    """A name and its voice. A chosen voice is used by the next request. ``failed`` is emitted with a ``StudioError``."""

    failed = Signal(object)

    def __init__(self, controller: ServingController, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._controller = controller
        self._settings = settings
        self.sent_name = QComboBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
        self.sent_name.setAccessibleName(self.tr("Name in requests"))
        self.sent_name.addItems([*dict.fromkeys((*OPENAI_VOICES, *settings[SERVED_VOICE_NAMES]))])
        self.voice = QComboBox()
        self.voice.setAccessibleName(self.tr("Voice"))
        self.voice.addItem(self.tr("Default voice"), "")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.sent_name, 1)
        row.addWidget(self.voice, 1)
        # Connections.
        self.sent_name.currentTextChanged.connect(self._show_voice)
        self.voice.activated.connect(self._map_voice)
        run_in_background(self, controller.voices, done=self._add_voices, failed=self.failed.emit)

    def _add_voices(self, names: list[str]) -> None:
        for name in names:
            self.voice.addItem(name, name)
        self._show_voice(self.sent_name.currentText())

    def _show_voice(self, sent: str) -> None:
        chosen = self._settings[SERVED_VOICE_NAMES].get(sent.strip(), "")
        self.voice.setCurrentIndex(max(0, self.voice.findData(chosen)))

    def _map_voice(self) -> None:
        if sent := self.sent_name.currentText().strip():
            self._controller.map_voice(sent, self.voice.currentData())
