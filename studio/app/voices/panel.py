"""The voices dock's content: search, cards, new voices, and what can be done with one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence, QUndoStack
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.first_paint import after_first_paint
from studio.app.theme.icons import icon
from studio.app.voices.card_list import CardList
from studio.app.voices.clip_player import ClipPlayer
from studio.app.voices.deleted_menu import DeletedMenu
from studio.app.voices.edit_dialog import EditDialog
from studio.app.voices.library_reader import LibraryContent, LibraryReader
from studio.app.voices.preload_queue import VoicePreloadQueue, VoicePreparer
from studio.app.voices.voice_edits import VoiceEdits
from studio.app.voices.voice_importer import VoiceImporter, VoiceImportServices
from studio.app.voices.voice_model import CARD_ROLE, VoiceCard, VoiceFilter, VoiceModel
from studio.app.voices.voice_thumbnails import VoiceThumbnails
from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.voices.library import TrashedVoice, Voice, VoiceLibrary
from studio.voices.voice_file import SUFFIX as VOICE_SUFFIX


class VoicesPanel(QWidget):
    """The window gives it a place, feeds it what is dropped, and connects its signals; it does the rest."""

    voice_chosen = Signal(str)  # the name: a person wants the selected lines to speak in it
    voice_renamed = Signal(str, str)  # before, after; also when it is undone
    voice_removed = Signal(str)
    voices_changed = Signal()
    status_message = Signal(str)  # for the status bar
    failed = Signal(object)  # StudioError

    def __init__(
        self,
        library: VoiceLibrary,
        undo_stack: QUndoStack,
        sources: VoiceImportServices | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        sources = sources or VoiceImportServices()
        self._library = library
        self._reader = LibraryReader(library, self)
        self._edits = VoiceEdits(library, undo_stack, self)
        self.preparation = VoicePreloadQueue(self)
        self.voice_importer = VoiceImporter(self._edits, sources, self)
        self._pictures = VoiceThumbnails(self)
        self._was_seen = False
        self._is_loaded = False
        self._trashed: list[TrashedVoice] = []
        self._player: ClipPlayer = sources.make_player(self)
        self._to_be_shown: str | None = None
        self._model = VoiceModel(self)
        self._filter = VoiceFilter(self)
        self._filter.setSourceModel(self._model)
        self._search = QLineEdit(self)
        self._list = CardList(self)
        self._list.setModel(self._filter)
        self._empty = QLabel(self)
        self._new = QPushButton(icon("add"), self.tr("New voice"), self)
        self._record = QPushButton(icon("record"), self.tr("Record…"), self)
        self._actions = self._make_actions()
        self._lay_out()
        self._connect_signals()
        self._show_emptiness()
        self._enable_actions()
        self.refresh()
        after_first_paint(self, self._on_first_seen)

    # For the window.

    @property
    def is_loaded(self) -> bool:
        """Whether the library has been read; until then there are no voices."""
        return self._is_loaded

    @property
    def voices(self) -> list[Voice]:
        """All, in the order of their numbers; a search changes nothing."""
        return self._model.voices

    def voice_at(self, number: int) -> Voice | None:
        """The voice of Ctrl+``number``, from 1."""
        return self.voices[number - 1] if 0 < number <= len(self.voices) else None

    @property
    def current_voice(self) -> Voice | None:
        """The one whose card is selected."""
        card = self._list.currentIndex().data(CARD_ROLE)
        return card.voice if isinstance(card, VoiceCard) else None

    def select(self, name: str) -> bool:
        """Whether that voice's card could be shown: there may be none, or the search hides it."""
        row = self._model.row_of(name)
        index = QModelIndex() if row is None else self._filter.mapFromSource(self._model.index(row))
        if index.isValid():
            self._list.setCurrentIndex(index)
            self._list.scrollTo(index)
        return index.isValid()

    def use_model(self, preparer: VoicePreparer | None, generation: str | None = None) -> None:
        """A model is loaded: every voice is prepared for it, one after the other. None: none is loaded any more."""
        self.preparation.use(preparer, generation)
        for voice in self.voices:
            self.preparation.request(voice, is_urgent=False)

    def set_busy(self, is_busy: bool) -> None:
        """While something is being spoken nothing is prepared."""
        if is_busy:
            self.preparation.pause()
        else:
            self.preparation.resume()

    def refresh(self) -> None:
        """Read the library in the background and show it when it arrives."""
        self._reader.read()

    def _on_read(self, content: LibraryContent) -> None:
        voices = content.voices
        self._trashed = content.trashed
        if not self._is_loaded:  # a model that was loaded before could not ask for the voices
            self._is_loaded = True
            for voice in voices:
                self.preparation.request(voice, is_urgent=False)
        name = self._to_be_shown or (self.current_voice.name if self.current_voice else None)
        self._model.show_voices(voices)
        if self._was_seen:
            self._pictures.ask_for(voices)
        if self._to_be_shown is not None and not self.select(self._to_be_shown):
            self._search.clear()
        if name is not None:
            self.select(name)
        self._to_be_shown = None
        self._show_emptiness()
        self._enable_actions()
        self.voices_changed.emit()

    def focus_search(self) -> None:
        self._search.setFocus()
        self._search.selectAll()

    # Made once.

    def _make_actions(self) -> dict[str, QAction]:
        """Keys work while the list has the focus."""
        specs: tuple[tuple[str, str, str, list[QKeySequence], Callable[[], object]], ...] = (
            ("choose", self.tr("Use for the selected lines"), "voice", [QKeySequence(Qt.Key.Key_Return)], self._choose),
            ("listen", self.tr("Listen to the clip"), "play", [], self._listen),
            ("rename", self.tr("Rename"), "", [QKeySequence(Qt.Key.Key_F2)], self._rename),
            ("edit", self.tr("Words, notes and consent…"), "", [], self._edit),
            ("doctor", self.tr("Another voice from this recording…"), "", [], self._examine_again),
            ("problem", self.tr("Why it could not be prepared"), "warning", [], self._tell_problem),
            ("duplicate", self.tr("Duplicate"), "duplicate", [], self._duplicate),
            ("export", self.tr("Export as a file…"), "export", [], self._export),
            ("delete", self.tr("Delete"), "remove", [QKeySequence(QKeySequence.StandardKey.Delete)], self._delete),
        )
        actions = {}
        for name, words, picture, keys, slot in specs:
            action = QAction(words, self._list)
            if picture:
                action.setIcon(icon(picture))
            action.setShortcuts(keys)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(slot)
            self._list.addAction(action)
            actions[name] = action
        return actions

    def _lay_out(self) -> None:
        self._search.setPlaceholderText(self.tr("Search voices"))
        self._search.setAccessibleName(self.tr("Search voices"))
        self._search.setClearButtonEnabled(True)
        self._search.addAction(icon("find"), QLineEdit.ActionPosition.LeadingPosition)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setProperty("role", "quiet")
        self._empty.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._empty.setContentsMargins(16, 16, 16, 16)
        self._new.setToolTip(self.tr("From sound files, or voices of another computer. Dropping them works too."))
        self._record.setToolTip(self.tr("Record a voice with the microphone"))
        self._middle = QStackedLayout()
        self._middle.addWidget(self._list)
        self._middle.addWidget(self._empty)
        buttons = QHBoxLayout()
        buttons.addWidget(self._new, 1)
        buttons.addWidget(self._record, 1)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(8, 8, 8, 8)
        rows.addWidget(self._search)
        rows.addLayout(self._middle, 1)
        rows.addLayout(buttons)

    def _connect_signals(self) -> None:
        # The list.
        self._search.textChanged.connect(self._on_searched)
        self._search.returnPressed.connect(self._on_search_finished)
        self._list.doubleClicked.connect(self._choose)
        self._list.selectionModel().selectionChanged.connect(self._enable_actions)
        for place in (self._list, self._empty):
            place.customContextMenuRequested.connect(self._open_menu)
        self._list.rename_asked.connect(self._on_renamed)
        # The library, and changes to it.
        self._reader.finished.connect(self._on_read)
        self._reader.failed.connect(self.failed)
        self._edits.changed.connect(self.refresh)
        self._edits.renamed.connect(self.voice_renamed)
        self._edits.renamed.connect(self.preparation.rename)
        self._edits.renamed.connect(self._on_renamed_in_library)
        self._edits.removed.connect(self.voice_removed)
        self._edits.removed.connect(self.preparation.forget)
        self._edits.added.connect(self.preparation.request)
        self._edits.added.connect(self._on_added)
        self._edits.failed.connect(self.failed)
        # New voices.
        self._new.clicked.connect(self.voice_importer.choose_files)
        self._record.clicked.connect(self.voice_importer.record)
        self.voice_importer.status_message.connect(self.status_message)
        self.voice_importer.failed.connect(self.failed)
        # What comes later.
        self._pictures.ready.connect(self._model.set_picture)
        self.preparation.changed.connect(self._model.set_preparation)
        self._player.failed.connect(self.failed)

    def _on_first_seen(self) -> None:
        """Clips are read when the window stands: until then everything else is more urgent."""
        self._was_seen = True
        self._pictures.ask_for(self.voices)

    # The list.

    def _on_searched(self, text: str) -> None:
        self._filter.search(text)
        self._show_emptiness()

    def _on_search_finished(self) -> None:
        """Return goes on to the first voice found."""
        if self._filter.rowCount():
            self._list.setCurrentIndex(self._filter.index(0, 0))
            self._list.setFocus()

    def _show_emptiness(self) -> None:
        if not self._is_loaded:
            self._empty.setText("")
        elif not self.voices:
            self._empty.setText(
                self.tr(
                    "No voices yet.\n\nDrop a recording of somebody speaking here: three to ten seconds are enough."
                )
            )
        else:
            self._empty.setText(self.tr("No voice is called that."))
        self._middle.setCurrentWidget(self._list if self._filter.rowCount() else self._empty)

    def _selected(self) -> list[Voice]:
        cards = [index.data(CARD_ROLE) for index in self._list.selectionModel().selectedIndexes()]
        return [card.voice for card in cards if isinstance(card, VoiceCard)]

    def _enable_actions(self) -> None:
        voices = self._selected()
        one = voices[0] if len(voices) == 1 else None
        for name in ("choose", "edit", "rename", "duplicate", "export", "listen", "doctor"):
            self._actions[name].setEnabled(one is not None)
        self._actions["problem"].setEnabled(self._problem() is not None)
        if one is not None:
            self._actions["listen"].setEnabled(one.generation is None)
            self._actions["doctor"].setEnabled(one.generation is None)
            self._actions["rename"].setEnabled(not one.is_built_in)
            self._actions["edit"].setEnabled(not one.is_built_in)
        self._actions["delete"].setEnabled(any(not voice.is_built_in for voice in voices))

    def _open_menu(self, place: QPoint) -> None:
        self._enable_actions()
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name, action in self._actions.items():
            if name in ("rename", "delete"):
                menu.addSeparator()
            menu.addAction(action)
        menu.addSeparator()
        menu.addMenu(DeletedMenu(self._trashed, self._edits, menu))
        shown = self._list if self._list.isVisible() else self._empty
        menu.popup(shown.mapToGlobal(place))

    def _on_added(self, voice: Voice) -> None:
        """Its card is shown as soon as the list has it."""
        self._to_be_shown = voice.name

    def _on_renamed_in_library(self, _before: str, after: str) -> None:
        self._to_be_shown = after

    # What can be done with one.

    def _problem(self) -> StudioError | None:
        """Of the voice that is selected."""
        card = self._list.currentIndex().data(CARD_ROLE)
        return card.preparation.error if isinstance(card, VoiceCard) else None

    def _tell_problem(self) -> None:
        problem = self._problem()
        if problem is not None:
            self.failed.emit(problem)

    def _choose(self) -> None:
        if self.current_voice is not None:
            self.voice_chosen.emit(self.current_voice.name)

    def _listen(self) -> None:
        voice = self.current_voice
        if voice is not None:
            run_in_background(self, partial(_sound_of, voice), done=self._player.play, failed=self.failed.emit)

    def _rename(self) -> None:
        self._list.edit(self._list.currentIndex())

    def _on_renamed(self, before: str, after: str) -> None:
        voice = next((voice for voice in self.voices if voice.name == before), None)
        if voice is not None and after.strip():
            self._edits.rename(voice, after)

    def _edit(self) -> None:
        voice = self.current_voice
        if voice is None:
            return
        dialog = EditDialog(voice, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda: self._on_edited(dialog))
        dialog.open()

    def _on_edited(self, dialog: EditDialog) -> None:
        self._edits.describe(dialog.voice, dialog.description)
        self._edits.rename(dialog.voice, dialog.name)

    def _examine_again(self) -> None:
        if self.current_voice is not None:
            self.voice_importer.examine_again(self.current_voice)

    def _duplicate(self) -> None:
        if self.current_voice is not None:
            self._edits.duplicate(self.current_voice)

    def _delete(self) -> None:
        self._edits.remove([voice for voice in self._selected() if not voice.is_built_in])

    def _export(self) -> None:
        voice = self.current_voice
        if voice is None:
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
        """One ``.voice`` file, for another computer."""
        run_in_background(
            self,
            partial(self._library.export, voice.name, path),
            done=lambda _: self.status_message.emit(self.tr("Wrote {path}").format(path=path)),
            failed=self.failed.emit,
        )


def _sound_of(voice: Voice) -> Waveform:
    from studio.audio.files import read_audio  # noqa: PLC0415 - after the first paint

    return read_audio(voice.clip)
