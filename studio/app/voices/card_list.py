"""List view of the voice cards, with renaming in place."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QListView, QWidget

from studio.app.voices.card_delegate import CardDelegate
from studio.app.voices.voice_model import CARD_ROLE, VoiceCard


class CardList(QListView):
    rename_asked = Signal(object, str)  # Voice, new name

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setItemDelegate(CardDelegate(self))
        self.setAccessibleName(self.tr("Voices"))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def commitData(self, editor: QWidget) -> None:  # noqa: N802
        """Bypass the model: renaming is a command that may fail."""
        card = self.currentIndex().data(CARD_ROLE)
        if isinstance(editor, QLineEdit) and isinstance(card, VoiceCard) and editor.text() != card.voice.name:
            self.rename_asked.emit(card.voice, editor.text())
