"""List model of the voices, its search filter, and the waveform thumbnails of the voice cards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
)

from studio.app.background import run_in_background
from studio.app.error_text import format_error
from studio.app.translation import join_phrases
from studio.app.voices.preload_queue import Preparation, PreparationState
from studio.app.voices.voice_text import finding_text, grade_name, language_name, preparation_text, why_unusable
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.peaks import THUMBNAIL_COLUMNS, WaveformPeaks, outline_of
from studio.errors import StudioError
from studio.voices.library import Voice
from studio.voices.voice import Grade

if TYPE_CHECKING:
    from studio.voices.clip_report import ClipReport

CARD_ROLE = Qt.ItemDataRole.UserRole + 1
NUM_NUMBERED_VOICES = 9
_MAX_THUMBNAIL_SECONDS = 60.0

_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class CardPicture:
    """Waveform thumbnail and assessment of a clip."""

    outline: WaveformPeaks
    clip_report: ClipReport


@dataclass(frozen=True, slots=True)
class VoiceCard:
    """Contents of a voice card."""

    voice: Voice
    number: int | None  # number of the shortcut Ctrl+number
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

    def __init__(self, parent: QObject | None = None) -> None:
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
        if index.isValid():
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
        if voice.models:
            parts.append(self.tr("Built-in voice of {models}").format(models=join_phrases(voice.models)))
        elif voice.is_built_in:
            is_renamed = voice.bundled_name not in ("", voice.name)
            words = self.tr("Bundled voice {name}").format(name=voice.bundled_name)
            parts.append(words if is_renamed else self.tr("Bundled voice"))
        if voice.clip_seconds:
            parts.append(voice.transcript or self.tr("No transcript"))
        if card.preparation.state is PreparationState.OTHER_MODEL:
            parts.append(why_unusable(voice))
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
            self.tr("{seconds:.1f} seconds").format(seconds=card.voice.clip_seconds) if card.voice.clip_seconds else "",
            self.tr("Quality: {grade}").format(grade=grade_name(card.quality)) if card.quality else "",
            preparation_text(card.preparation),
        ]
        return join_phrases(part for part in parts if part)


@paints_safely
class VoiceFilter(QSortFilterProxyModel):
    """Keeps voices whose name, transcript, notes, language or consent contain all search words."""

    def __init__(self, parent: QObject | None = None) -> None:
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


def tags_of(voices: Iterable[Voice]) -> list[str]:
    """Return the words of the notes that begin with #, in alphabetical order."""
    words = {word.rstrip(".,;:") for voice in voices for word in voice.notes.split() if word.startswith("#")}
    return sorted(words - {"#"}, key=str.casefold)


class VoiceThumbnails(QObject):
    """Reads each requested clip once, in the background, and emits ``ready``.

    Voices with stored features are skipped, because they have no waveform.
    """

    ready = Signal(str, object)  # path of the clip, CardPicture

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._requested: set[Path] = set()
        self._waiting: list[Path] = []
        self._is_busy = False

    def request(self, voices: list[Voice]) -> None:
        for voice in voices:
            if voice.generation is None and voice.clip not in self._requested:
                self._requested.add(voice.clip)
                self._waiting.append(voice.clip)
        self._read_next()

    def _read_next(self) -> None:
        """Read only one clip at a time, so that a long list does not delay the import of a dropped file."""
        if self._waiting and not self._is_busy:
            self._is_busy = True
            clip = self._waiting.pop(0)
            run_in_background(
                self,
                partial(_picture, clip),
                done=partial(self._on_done, clip),
                failed=partial(self._on_failed, clip),
            )

    def _on_done(self, clip: Path, picture: CardPicture) -> None:
        self._is_busy = False
        self.ready.emit(str(clip), picture)
        self._read_next()

    def _on_failed(self, clip: Path, _error: StudioError) -> None:
        """Leave the card without a waveform. The clip can be requested again."""
        self._is_busy = False
        self._requested.discard(clip)
        self._read_next()


def _picture(clip: Path) -> CardPicture:
    from studio.audio.files import read_audio  # noqa: PLC0415 - after the first paint
    from studio.voices.clip_report import assess_clip  # noqa: PLC0415

    waveform = read_audio(clip, longest_seconds=_MAX_THUMBNAIL_SECONDS)
    return CardPicture(outline_of(waveform.samples, THUMBNAIL_COLUMNS), assess_clip(waveform))
