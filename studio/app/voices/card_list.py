"""Cards below one another, renamed in place."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QListView, QWidget

from studio.app.voices.card_delegate import CardDelegate


class CardList(QListView):
    """Cards below one another; renamed in place, chosen with Return."""

    rename_asked = Signal(str, str)  # before, after

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
        """The model is not asked: a rename is a command that may fail."""
        before = self.currentIndex().data()
        if isinstance(editor, QLineEdit) and editor.text() != before:
            self.rename_asked.emit(before, editor.text())
