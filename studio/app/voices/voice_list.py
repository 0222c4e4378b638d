"""List of the voice cards: playing their clips, renaming in place, and the actions on the selected voices."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QDateTime,
    QEvent,
    QLocale,
    QPoint,
    Qt,
    Signal,
)
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QListView,
    QMenu,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.playback.audio_player import AudioPlayer
from studio.app.theme.icons import icon
from studio.app.voices.card_delegate import CardDelegate
from studio.app.voices.voice_edits import VoiceEdits
from studio.app.voices.voice_items import read_clip
from studio.app.voices.voice_model import CARD_ROLE, VoiceCard, VoiceFilter
from studio.app.widgets.dialogs import choose_target
from studio.audio.waveform import Waveform
from studio.catalog.built_in_speakers import are_mixable
from studio.errors import StudioError
from studio.voices.library import TrashedVoice, Voice

if TYPE_CHECKING:
    from studio.app.voices.voice_details import EditDialog
    from studio.app.voices.voice_importer import VoiceImporter

_MAX_DELETED_SHOWN = 20


class VoiceList(QListView):
    """Shows voices as cards and renames them in place. The shortcuts of its actions work while it has the focus."""

    voice_chosen = Signal(str)  # name of the voice to assign to the selected lines
    play_started = Signal()  # a clip is about to be played
    status_message = Signal(str)
    repair_wanted = Signal(object)  # Voice
    failed = Signal(object)  # StudioError

    def __init__(
        self, voices: VoiceFilter, edits: VoiceEdits, importer: Callable[[], VoiceImporter], parent: QWidget
    ) -> None:
        """``importer`` returns the importer of voices, which is created when it is first needed."""
        super().__init__(parent)
        self._edits = edits
        self._importer = importer
        self.setModel(voices)
        self._cards = CardDelegate(self)
        self.setItemDelegate(self._cards)
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
        self.update_enabled()

    @cached_property
    def _player(self) -> AudioPlayer:
        player = self._importer().make_player(self)
        player.failed.connect(self.failed)
        player.ended.connect(lambda _: self._show_playing(None))
        return player

    def stop(self) -> None:
        """Stop playing a clip."""
        if self.playing is not None:
            self._show_playing(None)
            self._player.stop()

    @property
    def playing(self) -> str | None:
        """The name of the voice whose clip is being played."""
        return self._cards.playing

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
        self.actions_by_name["rename"].setEnabled(one is not None)
        self.actions_by_name["edit"].setEnabled(one is not None and not one.is_built_in)
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
            if name == "reopen":
                # These are made with the menu, because they have no shortcut.
                menu.addAction(self.tr("Repair recording…"), self._repair).setEnabled(action.isEnabled())
            elif name == "duplicate":
                mix = menu.addAction(self.tr("Mix both voices"), self._mix)
                mix.setEnabled(len(self._selected()) == 2 and are_mixable(self._selected()))
        menu.addSeparator()
        deleted = menu.addMenu(icon("undo"), self.tr("Restore deleted voice"))
        deleted.setEnabled(bool(trashed))
        for each in trashed[:_MAX_DELETED_SHOWN]:
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
        """Play the clip of the current voice, or stop it."""
        voice = self.current_voice
        if voice is None or voice.generation is not None:
            return
        is_playing = voice.name == self.playing
        self.stop()
        if not is_playing:
            self.play_started.emit()
            self._show_playing(voice.name)
            run_in_background(
                self, partial(read_clip, voice), done=partial(self._play, voice.name), failed=self._on_unreadable
            )

    def _play(self, name: str, clip: Waveform) -> None:
        if name == self.playing:  # if not stopped while the clip was being read
            self._player.play_clip(clip)
            self._show_playing(name)  # after ``play``, which stops the previous clip and clears the display

    def _on_unreadable(self, error: StudioError) -> None:
        self._show_playing(None)
        self.failed.emit(error)

    def _show_playing(self, name: str | None) -> None:
        self._cards.playing = name
        self.viewport().update()

    # Keyboard and mouse.

    def event(self, event: QEvent) -> bool:
        """Use Space, and Esc while a clip is playing; otherwise leave Esc to the window."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and not event.modifiers():
            is_ours = event.key() == Qt.Key.Key_Space or (event.key() == Qt.Key.Key_Escape and self.playing is not None)
            if is_ours and self.state() != self.State.EditingState:
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Space and not event.modifiers():
            self._listen()
        elif event.key() == Qt.Key.Key_Escape and self.playing is not None:
            self.stop()
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        super().mouseReleaseEvent(event)
        place = event.position().toPoint()
        if event.button() == Qt.MouseButton.LeftButton and not event.modifiers() and self._is_on_play(place):
            self._listen()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Two clicks on the play button play and stop; they do not assign the voice."""
        if not self._is_on_play(event.position().toPoint()):
            super().mouseDoubleClickEvent(event)

    def _is_on_play(self, place: QPoint) -> bool:
        index = self.indexAt(place)
        return index.isValid() and self._cards.play_area(self.visualRect(index)).contains(place)

    def _rename(self) -> None:
        self.edit(self.currentIndex())

    def _edit(self) -> None:
        if (voice := self.current_voice) is None:
            return
        from studio.app.voices.voice_details import EditDialog  # noqa: PLC0415 - after the first paint

        importer = self._importer()
        consents = importer.consent_services(lambda: voice.clip if voice.generation is None else None)
        dialog = EditDialog(voice, self, transcribe=importer.transcribe, models=importer.models, consents=consents)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda: self._on_edited(dialog))
        dialog.open()

    def _on_edited(self, dialog: EditDialog) -> None:
        self._edits.describe(dialog.voice, dialog.details)
        self._edits.rename(dialog.voice, dialog.details.name)

    def _reopen_recording(self) -> None:
        if (voice := self.current_voice) is not None:
            self._importer().reopen_recording(voice)

    def _repair(self) -> None:
        if (voice := self.current_voice) is not None:
            self.repair_wanted.emit(voice)

    def _duplicate(self) -> None:
        if (voice := self.current_voice) is not None:
            self._edits.duplicate(voice)

    def _mix(self) -> None:
        self._edits.mix(self._selected())

    def _delete(self) -> None:
        self._edits.remove([voice for voice in self._selected() if not voice.is_built_in])

    def _export(self) -> None:
        if (voice := self.current_voice) is None:
            return
        from studio.voices.voice_file import SUFFIX  # noqa: PLC0415 - after the first paint

        title = self.tr("Export {name}").format(name=voice.name)
        kind = self.tr("Voices ({patterns})").format(patterns=f"*{SUFFIX}")
        choose_target(self, title, partial(self.export_to, voice), name=f"{voice.name}{SUFFIX}", kind=kind)

    def export_to(self, voice: Voice, path: Path) -> None:
        """Write ``voice`` to a ``.voice`` file."""
        run_in_background(
            self,
            partial(self._edits.library.export, voice.name, path),
            done=lambda _: self.status_message.emit(self.tr("Saved {path}").format(path=path)),
            failed=self.failed.emit,
        )
