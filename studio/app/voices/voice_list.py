"""List of the voice cards: their painting, renaming in place, and the actions on the selected voices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import (
    QDateTime,
    QLocale,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QAction, QFont, QFontMetrics, QIcon, QKeySequence, QPainter, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFileDialog,
    QLineEdit,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.playback.audio_player import AudioPlayer
from studio.app.theme.colors import ThemeColors, theme_colors
from studio.app.theme.icons import icon
from studio.app.voices.preload_queue import PreparationState
from studio.app.voices.voice_details import EditDialog
from studio.app.voices.voice_edits import VoiceEdits
from studio.app.voices.voice_importer import VoiceImporter
from studio.app.voices.voice_model import CARD_ROLE, VoiceCard, VoiceFilter
from studio.app.voices.voice_text import GRADE_ICONS, grade_color, grade_name, language_name, preparation_text
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.waveform_painting import paint_outline
from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.voices.library import TrashedVoice, Voice
from studio.voices.voice_file import SUFFIX as VOICE_SUFFIX

_MOST_DELETED_SHOWN = 20
_MARGIN, _GAP, _ICON = 8, 6, 16
_LEAST_WIDTH = 120
_WAVE_HEIGHT = 22
_WAVE_SHARE = 0.5
_BAR_HEIGHT = 3
_STATE_ICONS = {
    PreparationState.WAITING: "state-queued",
    PreparationState.RUNNING: "engine",
    PreparationState.READY: "state-ready",
    PreparationState.FAILED: "warning",
    PreparationState.OTHER_MODEL: "warning",
}

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter

_Index = QModelIndex | QPersistentModelIndex


@paints_safely
class CardDelegate(QStyledItemDelegate):
    """Delegate for views of a ``VoiceModel`` or a ``VoiceFilter``. Voices are renamed in place."""

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802, ARG002
        line = QFontMetrics(option.font).height()
        return QSize(_LEAST_WIDTH, 2 * _MARGIN + 2 * max(line, _ICON) + _WAVE_HEIGHT + 2 * _GAP)

    def setEditorData(self, editor: QWidget, index: _Index) -> None:  # noqa: N802
        """Fill the editor unless the user has typed in it: progress on the card must not overwrite the new name."""
        if not (isinstance(editor, QLineEdit) and editor.isModified()):
            super().setEditorData(editor, index)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: _Index) -> None:  # noqa: N802, ARG002
        name = self._name_area(option.rect)
        editor.setGeometry(name.adjusted(-3, -3, 3, 3))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        card = index.data(CARD_ROLE)
        if not isinstance(card, VoiceCard):
            return
        style = option.widget.style() if option.widget else QApplication.style()
        self.initStyleOption(option, index)
        style.drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, option.widget)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_card(painter, option, card)
        painter.restore()

    def _paint_card(self, painter: QPainter, option: QStyleOptionViewItem, card: VoiceCard) -> None:
        state: QStyle.StateFlag = option.state
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        colors = _card_colors(option.palette, is_selected=is_selected)
        rect: QRect = option.rect
        name_area = self._name_area(rect)
        font = QFont(option.font)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(colors.ink)
        metrics = QFontMetrics(font)
        painter.drawText(
            name_area, _LEFT, metrics.elidedText(card.voice.name, Qt.TextElideMode.ElideRight, name_area.width())
        )
        painter.setFont(option.font)
        if card.number is not None:
            self._paint_number(painter, rect, card.number, colors)
        middle = QRect(name_area.left(), name_area.bottom() + _GAP, rect.width() - 2 * _MARGIN, _WAVE_HEIGHT)
        self._paint_clip(painter, middle, card, colors)
        bottom = QRect(middle.left(), middle.bottom() + _GAP, middle.width(), max(_ICON, metrics.height()))
        self._paint_states(painter, bottom, card, colors)
        if not is_selected:
            painter.setPen(QPen(colors.border))
            painter.drawLine(rect.left() + _MARGIN, rect.bottom(), rect.right() - _MARGIN, rect.bottom())

    def _name_area(self, rect: QRect) -> QRect:
        height = max(_ICON, QFontMetrics(QApplication.font()).height())
        return QRect(rect.left() + _MARGIN, rect.top() + _MARGIN, rect.width() - 2 * _MARGIN - 24, height)

    def _paint_number(self, painter: QPainter, rect: QRect, number: int, colors: ThemeColors) -> None:
        box = QRectF(rect.right() - _MARGIN - 17, rect.top() + _MARGIN, 18, 18)
        painter.setPen(QPen(colors.quiet))
        painter.drawRoundedRect(box, 4, 4)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(number))

    def _paint_clip(self, painter: QPainter, area: QRect, card: VoiceCard, colors: ThemeColors) -> None:
        wave = QRectF(area.left(), area.top(), area.width() * _WAVE_SHARE, area.height())
        if card.picture is not None:
            paint_outline(painter, wave, card.picture.outline, colors.accent)
        words = " · ".join(
            word
            for word in (
                language_name(card.voice.language),
                self.tr("{seconds:.1f} s").format(seconds=card.voice.clip_seconds),
            )
            if word
        )
        rest = QRect(round(wave.right()) + _GAP, area.top(), area.width() - round(wave.width()) - _GAP, area.height())
        painter.setPen(QPen(colors.quiet))
        painter.drawText(
            rest, _LEFT, painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, rest.width())
        )

    def _paint_states(self, painter: QPainter, area: QRect, card: VoiceCard, colors: ThemeColors) -> None:
        left = area.left()
        if card.quality is not None:
            badge = icon(GRADE_ICONS[card.quality], grade_color(card.quality, colors))
            left = self._paint_word(painter, area, badge, grade_name(card.quality), colors)
        words = preparation_text(card.preparation)
        if words:
            picture = icon(_STATE_ICONS[card.preparation.state], colors.quiet)
            self._paint_word(painter, QRect(QPoint(left, area.top()), area.bottomRight()), picture, words, colors)
        if card.preparation.state is PreparationState.RUNNING:
            track = QRectF(area.left(), area.bottom() + 2, area.width(), _BAR_HEIGHT)
            painter.fillRect(track, colors.border)
            track.setWidth(track.width() * card.preparation.share)
            painter.fillRect(track, colors.accent)

    def _paint_word(self, painter: QPainter, area: QRect, picture: QIcon, words: str, colors: ThemeColors) -> int:
        """Paint an icon and a text, and return the left edge of the next item."""
        place = QRect(area.left(), area.top() + (area.height() - _ICON) // 2, _ICON, _ICON)
        picture.paint(painter, place)
        words_area = QRect(place.right() + 4, area.top(), area.right() - place.right() - 4, area.height())
        shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, words_area.width())
        painter.setPen(QPen(colors.quiet))
        painter.drawText(words_area, _LEFT, shown)
        return words_area.left() + painter.fontMetrics().horizontalAdvance(shown) + 2 * _GAP


def _card_colors(palette: QPalette, *, is_selected: bool) -> ThemeColors:
    """Return the colours of a card. All text on a selected card has the same colour."""
    colors = theme_colors(palette)
    if not is_selected:
        return colors
    ink = palette.color(QPalette.ColorRole.HighlightedText).name()
    border = palette.color(QPalette.ColorRole.Highlight).darker(130).name()
    return replace(colors, ink=ink, quiet=ink, accent=ink, border=border, good=ink, warn=ink, bad=ink)


class VoiceList(QListView):
    """Shows voices as cards and renames them in place. The shortcuts of its actions work while it has the focus."""

    voice_chosen = Signal(str)  # name of the voice to assign to the selected lines
    status_message = Signal(str)
    failed = Signal(object)  # StudioError

    def __init__(
        self, voices: VoiceFilter, edits: VoiceEdits, importer: VoiceImporter, player: AudioPlayer, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._edits = edits
        self._importer = importer
        self._player = player
        self.setModel(voices)
        self.setItemDelegate(CardDelegate(self))
        self.setAccessibleName(self.tr("Voices"))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.actions_by_name = self._make_actions()
        self.doubleClicked.connect(self._choose)
        self.selectionModel().selectionChanged.connect(self.update_enabled)
        self._player.failed.connect(self.failed)
        self.update_enabled()

    def stop(self) -> None:
        """Stop playing a clip."""
        self._player.stop()

    @property
    def current_voice(self) -> Voice | None:
        card = self._current_card()
        return card.voice if card else None

    def update_enabled(self) -> None:
        voices = self._selected()
        one = voices[0] if len(voices) == 1 else None
        for name in ("choose", "duplicate", "export"):
            self.actions_by_name[name].setEnabled(one is not None)
        for name in ("listen", "reopen"):  # stored features have no recording
            self.actions_by_name[name].setEnabled(one is not None and one.generation is None)
        for name in ("rename", "edit"):
            self.actions_by_name[name].setEnabled(one is not None and not one.is_built_in)
        self.actions_by_name["problem"].setEnabled(self._problem() is not None)
        self.actions_by_name["delete"].setEnabled(any(not voice.is_built_in for voice in voices))

    def open_menu(self, place: QPoint, trashed: list[TrashedVoice]) -> None:
        """Open the context menu at ``place`` on the screen. It can restore the voices in ``trashed``."""
        self.update_enabled()
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name, action in self.actions_by_name.items():
            if name in ("rename", "delete"):
                menu.addSeparator()
            menu.addAction(action)
        menu.addSeparator()
        deleted = menu.addMenu(icon("undo"), self.tr("Restore deleted voice"))
        deleted.setEnabled(bool(trashed))
        for each in trashed[:_MOST_DELETED_SHOWN]:
            moment = QDateTime.fromString(each.removed, Qt.DateFormat.ISODate)
            day = QLocale().toString(moment.toLocalTime().date(), QLocale.FormatType.ShortFormat)
            words = self.tr("{name}, deleted on {day}").format(name=each.voice.name, day=day)
            deleted.addAction(words).triggered.connect(partial(self._edits.restore, each))
        menu.popup(place)

    def commitData(self, editor: QWidget) -> None:  # noqa: N802
        """Rename the voice by a command, which may fail, instead of changing the model."""
        voice = self.current_voice
        if isinstance(editor, QLineEdit) and voice is not None:
            self.rename(voice, editor.text())

    def rename(self, voice: Voice, new_name: str) -> None:
        if new_name.strip():
            self._edits.rename(voice, new_name)

    def _make_actions(self) -> dict[str, QAction]:
        specs: tuple[tuple[str, str, str, list[QKeySequence], Callable[[], object]], ...] = (
            ("choose", self.tr("Use for selected lines"), "voice", [QKeySequence(Qt.Key.Key_Return)], self._choose),
            ("listen", self.tr("Play clip"), "play", [], self._listen),
            ("rename", self.tr("Rename"), "", [QKeySequence(Qt.Key.Key_F2)], self._rename),
            ("edit", self.tr("Transcript, notes and consent…"), "", [], self._edit),
            ("reopen", self.tr("New voice from this recording…"), "", [], self._reopen_recording),
            ("problem", self.tr("Show preparation error"), "warning", [], self._show_problem),
            ("duplicate", self.tr("Duplicate"), "duplicate", [], self._duplicate),
            ("export", self.tr("Export voice…"), "export", [], self._export),
            ("delete", self.tr("Delete"), "remove", [QKeySequence(QKeySequence.StandardKey.Delete)], self._delete),
        )
        actions = {}
        for name, text, icon_name, keys, slot in specs:
            action = QAction(text, self)
            if icon_name:
                action.setIcon(icon(icon_name))
            action.setShortcuts(keys)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(slot)
            self.addAction(action)
            actions[name] = action
        return actions

    def _current_card(self) -> VoiceCard | None:
        card = self.currentIndex().data(CARD_ROLE)
        return card if isinstance(card, VoiceCard) else None

    def _selected(self) -> list[Voice]:
        cards = [index.data(CARD_ROLE) for index in self.selectionModel().selectedIndexes()]
        return [card.voice for card in cards if isinstance(card, VoiceCard)]

    def _problem(self) -> StudioError | None:
        card = self._current_card()
        return card.preparation.error if card else None

    def _show_problem(self) -> None:
        if (problem := self._problem()) is not None:
            self.failed.emit(problem)

    def _choose(self) -> None:
        if (voice := self.current_voice) is not None:
            self.voice_chosen.emit(voice.name)

    def _listen(self) -> None:
        if (voice := self.current_voice) is not None:
            run_in_background(self, partial(_read_clip, voice), done=self._player.play_clip, failed=self.failed.emit)

    def _rename(self) -> None:
        self.edit(self.currentIndex())

    def _edit(self) -> None:
        if (voice := self.current_voice) is None:
            return
        dialog = EditDialog(voice, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda: self._on_edited(dialog))
        dialog.open()

    def _on_edited(self, dialog: EditDialog) -> None:
        self._edits.describe(dialog.voice, dialog.details)
        self._edits.rename(dialog.voice, dialog.details.name)

    def _reopen_recording(self) -> None:
        if (voice := self.current_voice) is not None:
            self._importer.reopen_recording(voice)

    def _duplicate(self) -> None:
        if (voice := self.current_voice) is not None:
            self._edits.duplicate(voice)

    def _delete(self) -> None:
        self._edits.remove([voice for voice in self._selected() if not voice.is_built_in])

    def _export(self) -> None:
        if (voice := self.current_voice) is None:
            return
        dialog = QFileDialog(self, self.tr("Export {name}").format(name=voice.name))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(self.tr("Voices ({patterns})").format(patterns=f"*{VOICE_SUFFIX}"))
        dialog.setDefaultSuffix(VOICE_SUFFIX.removeprefix("."))
        dialog.selectFile(f"{voice.name}{VOICE_SUFFIX}")
        dialog.fileSelected.connect(lambda path: self.export_to(voice, Path(path)))
        dialog.open()

    def export_to(self, voice: Voice, path: Path) -> None:
        """Write ``voice`` to a ``.voice`` file."""
        run_in_background(
            self,
            partial(self._edits.library.export, voice.name, path),
            done=lambda _: self.status_message.emit(self.tr("Saved {path}").format(path=path)),
            failed=self.failed.emit,
        )


def _read_clip(voice: Voice) -> Waveform:
    from studio.audio.files import read_audio  # noqa: PLC0415 - after the first paint

    return read_audio(voice.clip)
