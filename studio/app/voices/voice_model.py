"""List model of the voices with their thumbnails, numbers and states of preparation, and its search filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt

from studio.app.error_text import format_error
from studio.app.translation import join_phrases
from studio.app.voices.preload_queue import Preparation, PreparationState
from studio.app.voices.voice_text import finding_text, grade_name, language_name
from studio.app.voices.voice_thumbnails import CardPicture
from studio.app.widgets.painting_guard import paints_safely
from studio.voices.library import Voice
from studio.voices.voice import Grade

CARD_ROLE = Qt.ItemDataRole.UserRole + 1
NUM_NUMBERED_VOICES = 9

_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class VoiceCard:
    """What the card of a voice shows."""

    voice: Voice
    number: int | None  # of the shortcut Ctrl+number
    picture: CardPicture | None = None  # None until the clip has been read
    preparation: Preparation = Preparation()

    @property
    def quality(self) -> Grade | None:
        """The grade in the library or, if there is none, the one assessed with the thumbnail."""
        if self.voice.quality is None and self.picture is not None:
            return self.picture.clip_report.quality
        return self.voice.quality


@paints_safely
class VoiceModel(QAbstractListModel):
    """Voices in the order of the library. The first nine have numbers."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._cards: list[VoiceCard] = []
        self._pictures: dict[str, CardPicture] = {}
        self._preparations: dict[str, Preparation] = {}

    @property
    def voices(self) -> list[Voice]:
        return [card.voice for card in self._cards]

    def card(self, row: int) -> VoiceCard:
        return self._cards[row]

    def row_of(self, name: str) -> int | None:
        return next((row for row, card in enumerate(self._cards) if card.voice.name == name), None)

    def show_voices(self, voices: list[Voice]) -> None:
        self.beginResetModel()
        self._cards = [self._card(voice, position) for position, voice in enumerate(voices)]
        self.endResetModel()

    def set_picture(self, clip: str, picture: CardPicture) -> None:
        """Set the thumbnail of all voices with the clip at the path ``clip``."""
        self._pictures[clip] = picture
        self._update_rows([row for row, card in enumerate(self._cards) if str(card.voice.clip) == clip])

    def set_preparation(self, name: str, preparation: Preparation) -> None:
        self._preparations[name] = preparation
        row = self.row_of(name)
        self._update_rows([] if row is None else [row])

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: N802, B008
        return 0 if parent.isValid() else len(self._cards)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        if index.isValid() and not self._cards[index.row()].voice.is_built_in:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        card = self._cards[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole:
                return card.voice.name
            case Qt.ItemDataRole.ToolTipRole:
                return self._tool_tip(card)
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._accessible_text(card)
        return card if role == CARD_ROLE else None

    def preparation_text(self, preparation: Preparation) -> str:
        """Return the label of a state. It is empty for UNKNOWN."""
        match preparation.state:
            case PreparationState.WAITING:
                return self.tr("Queued")
            case PreparationState.RUNNING:
                return self.tr("Preparing, {percent} %").format(percent=round(100 * preparation.share))
            case PreparationState.READY:
                return self.tr("Ready")
            case PreparationState.FAILED:
                return self.tr("Preparation failed")
            case PreparationState.OTHER_MODEL:
                return self.tr("Needs another model")
        return ""

    def _card(self, voice: Voice, position: int) -> VoiceCard:
        return VoiceCard(
            voice=voice,
            number=position + 1 if position < NUM_NUMBERED_VOICES else None,
            picture=self._pictures.get(str(voice.clip)),
            preparation=self._preparations.get(voice.name, Preparation()),
        )

    def _update_rows(self, rows: list[int]) -> None:
        for row in rows:
            self._cards[row] = self._card(self._cards[row].voice, row)
            self.dataChanged.emit(self.index(row), self.index(row))

    def _tool_tip(self, card: VoiceCard) -> str:
        voice, parts = card.voice, [card.voice.name]
        if voice.is_built_in:
            parts.append(self.tr("Bundled voice"))
        parts.append(voice.transcript or self.tr("No transcript: cross-lingual mode"))
        if voice.consent:
            parts.append(self.tr("Consent: {by}").format(by=voice.consent.by or voice.consent.scope))
        if voice.notes:
            parts.append(voice.notes)
        if card.picture is not None:
            findings = card.picture.clip_report.findings
            parts += [finding_text(each) for each in findings if each.grade is not Grade.GOOD]
        if card.preparation.error is not None:
            parts.append(format_error(card.preparation.error))
        if card.number is not None:
            parts.append(self.tr("Ctrl+{number}: use for selected lines").format(number=card.number))
        return "\n".join(parts)

    def _accessible_text(self, card: VoiceCard) -> str:
        parts = [
            card.voice.name,
            language_name(card.voice.language),
            self.tr("{seconds:.1f} seconds").format(seconds=card.voice.clip_seconds),
            self.tr("Quality: {grade}").format(grade=grade_name(card.quality)) if card.quality else "",
            self.preparation_text(card.preparation),
        ]
        return join_phrases(part for part in parts if part)


@paints_safely
class VoiceFilter(QSortFilterProxyModel):
    """Keeps voices whose name, transcript, notes, language or consent contain all search words."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._words: list[str] = []

    def search(self, text: str) -> None:
        self._words = text.casefold().split()
        self.invalidate()

    def filterAcceptsRow(self, source_row: int, source_parent: _Index) -> bool:  # noqa: N802, ARG002
        source = self.sourceModel()
        assert isinstance(source, VoiceModel)
        voice = source.card(source_row).voice
        fields = (voice.name, voice.transcript, voice.notes, language_name(voice.language), voice.consent.by)
        text = "\n".join(field or "" for field in fields).casefold()
        return all(word in text for word in self._words)
