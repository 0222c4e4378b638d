"""Actions on the selected voices: assign, play, rename, edit, duplicate, export and delete."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QFileDialog

from studio.app.background import run_in_background
from studio.app.playback.audio_player import AudioPlayer
from studio.app.theme.icons import icon
from studio.app.voices.card_list import CardList
from studio.app.voices.edit_dialog import EditDialog
from studio.app.voices.voice_edits import VoiceEdits
from studio.app.voices.voice_importer import VoiceImporter
from studio.app.voices.voice_model import CARD_ROLE, VoiceCard
from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.voices.library import Voice
from studio.voices.voice_file import SUFFIX as VOICE_SUFFIX


class VoiceActions(QObject):
    """Adds its actions to ``card_list``; their shortcuts work while the list has the focus."""

    voice_chosen = Signal(str)  # name
    status_message = Signal(str)
    failed = Signal(object)  # StudioError

    def __init__(self, card_list: CardList, edits: VoiceEdits, importer: VoiceImporter, player: AudioPlayer) -> None:
        super().__init__(card_list)
        self._list = card_list
        self._edits = edits
        self._importer = importer
        self._player = player
        self.by_name = self._make_actions()
        self._list.doubleClicked.connect(self._choose)
        self._list.selectionModel().selectionChanged.connect(self.update_enabled)
        self._list.rename_asked.connect(self._on_renamed)
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
            self.by_name[name].setEnabled(one is not None)
        for name in ("listen", "reopen"):  # stored features have no recording
            self.by_name[name].setEnabled(one is not None and one.generation is None)
        for name in ("rename", "edit"):
            self.by_name[name].setEnabled(one is not None and not one.is_built_in)
        self.by_name["problem"].setEnabled(self._problem() is not None)
        self.by_name["delete"].setEnabled(any(not voice.is_built_in for voice in voices))

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
            action = QAction(text, self._list)
            if icon_name:
                action.setIcon(icon(icon_name))
            action.setShortcuts(keys)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(slot)
            self._list.addAction(action)
            actions[name] = action
        return actions

    def _current_card(self) -> VoiceCard | None:
        card = self._list.currentIndex().data(CARD_ROLE)
        return card if isinstance(card, VoiceCard) else None

    def _selected(self) -> list[Voice]:
        cards = [index.data(CARD_ROLE) for index in self._list.selectionModel().selectedIndexes()]
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
        self._list.edit(self._list.currentIndex())

    def _on_renamed(self, voice: Voice, new_name: str) -> None:
        if new_name.strip():
            self._edits.rename(voice, new_name)

    def _edit(self) -> None:
        if (voice := self.current_voice) is None:
            return
        dialog = EditDialog(voice, self._list)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda: self._on_edited(dialog))
        dialog.open()

    def _on_edited(self, dialog: EditDialog) -> None:
        self._edits.describe(dialog.voice, dialog.description)
        self._edits.rename(dialog.voice, dialog.name)

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
        dialog = QFileDialog(self._list, self.tr("Export {name}").format(name=voice.name))
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
