"""Voices of the library in drop-down lists and in lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QCoreApplication, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QStyledItemDelegate, QStyleOptionViewItem

from studio.app.voices.voice_text import good_for_text, own_language_first, why_unusable
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.wide_list_box import WideListBox
from studio.audio.waveform import Waveform
from studio.project.lines import Line
from studio.voices.voice import Voice, name_key

_NAME = Qt.ItemDataRole.UserRole


def voice_item(voice: Voice, generation: str | None) -> QStandardItem:
    """Return the entry of ``voice``. Its data is the name of the voice.

    If models of ``generation`` cannot use the voice, the entry is disabled and shows the reason.
    """
    is_usable = voice.works_with(generation)
    item = QStandardItem(voice.name if is_usable else f"{voice.name} · {why_unusable(voice)}")
    item.setData(voice.name, _NAME)
    item.setToolTip(good_for_text(voice, voice.quality))
    item.setEnabled(is_usable)
    return item


def fill_voice_box(box: WideListBox, voices: Iterable[Voice], generation: str | None) -> None:
    """Replace the entries of ``box`` with ``voices``, those in the language of the interface first."""
    box.clear()
    entries = box.model()
    assert isinstance(entries, QStandardItemModel)
    for voice in own_language_first(voices):
        entries.appendRow(voice_item(voice, generation))
    box.delegate_type = _DescribedVoices


@paints_safely
class _DescribedVoices(QStyledItemDelegate):
    """Shows the language and the description of voices in an open list."""

    def initStyleOption(  # noqa: N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        if words := index.data(Qt.ItemDataRole.ToolTipRole):
            option.text = f"{option.text} · {words}"


def row_of_voice(box: QComboBox, name: str) -> int:
    """Return the row of the voice ``name``, or -1 if the list lacks it. Case is ignored, as in the library."""
    key = name_key(name)
    return next((row for row in range(box.count()) if name_key(box.itemData(row) or "") == key), -1)


def read_clip(voice: Voice) -> Waveform:
    """Read the clip of a voice. Raises ``UnreadableClip``."""
    from studio.audio.files import read_audio  # noqa: PLC0415 - after the first paint

    return read_audio(voice.clip)


class VoiceNames:
    """The voices of the library. Until ``use`` is called, no voice counts as missing."""

    def __init__(self) -> None:
        self.voices: tuple[Voice, ...] = ()
        self._keys: frozenset[str] | None = None  # None until the library has been read

    def use(self, voices: Sequence[Voice]) -> None:
        self.voices = tuple(voices)
        self._keys = frozenset(name_key(voice.name) for voice in voices)

    def is_missing(self, line: Line) -> bool:
        """Return whether the voice of ``line`` is not in the library, for example after it was deleted."""
        return line.voice is not None and self._keys is not None and name_key(line.voice) not in self._keys

    @staticmethod
    def missing_words(line: Line) -> str:
        words = QCoreApplication.translate(
            "VoiceNames", "There is no voice named {name}. Choose another voice, or add one with this name."
        )
        return words.format(name=line.voice)
