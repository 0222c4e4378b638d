"""Entries of voices in drop-down lists."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QComboBox

from studio.app.voices.voice_text import why_unusable
from studio.voices.voice import Voice, name_key

_NAME = Qt.ItemDataRole.UserRole


def voice_item(voice: Voice, generation: str | None) -> QStandardItem:
    """Return the entry of ``voice``. Its data is the name of the voice.

    If models of ``generation`` cannot use the voice, the entry is disabled and shows the reason.
    """
    is_usable = voice.works_with(generation)
    item = QStandardItem(voice.name if is_usable else f"{voice.name} · {why_unusable(voice)}")
    item.setData(voice.name, _NAME)
    item.setEnabled(is_usable)
    return item


def fill_voice_box(box: QComboBox, voices: Iterable[Voice], generation: str | None) -> None:
    """Replace the entries of ``box`` with ``voices``."""
    box.clear()
    entries = box.model()
    assert isinstance(entries, QStandardItemModel)
    for voice in voices:
        entries.appendRow(voice_item(voice, generation))


def row_of_voice(box: QComboBox, name: str) -> int:
    """Return the row of the voice ``name``, or -1 if the list lacks it. Case is ignored, as in the library."""
    key = name_key(name)
    return next((row for row in range(box.count()) if name_key(box.itemData(row) or "") == key), -1)
