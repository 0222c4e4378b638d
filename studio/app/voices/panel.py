"""Contents of the voices dock: search field, voice cards, and buttons for new voices."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, QStringListModel, Qt, Signal
from PySide6.QtWidgets import QCompleter, QLabel, QLineEdit, QPushButton, QStackedLayout, QWidget

from studio.app.application import after_first_paint
from studio.app.background import run_in_background
from studio.app.theme.icons import icon
from studio.app.voices.preload_queue import VoicePreloadQueue, VoicePreparer
from studio.app.voices.voice_edits import VoiceEdits
from studio.app.voices.voice_list import VoiceList
from studio.app.voices.voice_model import VoiceFilter, VoiceModel, VoiceThumbnails, tags_of
from studio.app.voices.voice_text import own_language_first
from studio.app.widgets.controls import in_column, in_row
from studio.errors import StudioError
from studio.voices.library import TrashedVoice, Voice

if TYPE_CHECKING:
    from studio.app.voices.voice_importer import VoiceImporter, VoiceImportServices


class VoicesPanel(QWidget):
    """Shows and edits the voice library. The window passes on dropped files and connects the signals."""

    voice_chosen = Signal(str)  # name of the voice to assign to the selected lines
    voice_renamed = Signal(str, str)  # old name, new name; also emitted on undo
    voices_changed = Signal()
    clip_started = Signal()  # the clip of a voice is about to be played
    status_message = Signal(str)
    repair_wanted = Signal(object)  # Voice
    failed = Signal(object)  # StudioError

    def __init__(
        self,
        edits: VoiceEdits,
        services: Callable[[], VoiceImportServices] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._edits = edits
        self._services = services
        self._num_reads = 0
        self.preparation = VoicePreloadQueue(self)
        self._thumbnails = VoiceThumbnails(self)
        self._was_seen = False
        self.is_loaded = False  # whether the library has been read; ``voices`` is empty until then
        self._trashed: list[TrashedVoice] = []
        self._to_select: str | None = None  # name of a new voice, to be selected as soon as the list contains it
        self._model = VoiceModel(self)
        self._filter = VoiceFilter(self)
        self._filter.setSourceModel(self._model)
        self._search = QLineEdit(self, placeholderText=self.tr("Search voices"), clearButtonEnabled=True)
        self._tags = QStringListModel(self)  # proposed while a tag is typed
        self._list = VoiceList(self._filter, self._edits, lambda: self.voice_importer, self)
        self._placeholder = QLabel(self, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self._new = QPushButton(icon("add"), self.tr("New voice"), self)
        self._record = QPushButton(icon("record"), self.tr("Record…"), self)
        self._lay_out()
        self._connect_signals()
        self._update_placeholder()
        self.refresh()
        after_first_paint(self, self._on_first_seen)

    @cached_property
    def voice_importer(self) -> VoiceImporter:
        """The importer of voices, created when it is first needed."""
        from studio.app.voices.voice_importer import (  # noqa: PLC0415 - after the first paint
            VoiceImporter,
            VoiceImportServices,
        )

        importer = VoiceImporter(self._edits, self._services() if self._services else VoiceImportServices(), self)
        importer.status_message.connect(self.status_message)
        importer.failed.connect(self.failed)
        return importer

    def choose_files(self) -> None:
        """Create voices from files that the user chooses."""
        self.voice_importer.choose_files()

    def record(self) -> None:
        """Record a voice."""
        self.voice_importer.record()

    @property
    def voices(self) -> list[Voice]:
        """All voices in the order of their numbers, including those that do not match the search."""
        return self._model.voices

    def voice_at(self, number: int) -> Voice | None:
        """Return the voice whose shortcut is Ctrl+``number``, if there is one."""
        return self.voices[number - 1] if 0 < number <= len(self.voices) else None

    @property
    def current_voice(self) -> Voice | None:
        return self._list.current_voice

    def select(self, name: str) -> bool:
        """Select the voice and scroll to it. Return whether it is in the list."""
        row = self._model.row_of(name)
        index = QModelIndex() if row is None else self._filter.mapFromSource(self._model.index(row))
        if index.isValid():
            self._list.setCurrentIndex(index)
            self._list.scrollTo(index)
        return index.isValid()

    def use_model(self, preparer: VoicePreparer | None, generation: str | None = None) -> None:
        """Prepare all voices for the loaded model, or stop if ``preparer`` is None because no model is loaded."""
        self.preparation.use(preparer, generation)
        for voice in own_language_first(self.voices):
            self.preparation.request(voice, is_urgent=False)

    def stop(self) -> None:
        """Stop preparation and playback before the window closes."""
        self.use_model(None)
        self._list.stop()

    def stop_clip(self) -> None:
        """Stop playing a clip."""
        self._list.stop()

    def refresh(self) -> None:
        """Read the library in the background, then show it unless it is being read again."""
        self._num_reads += 1
        library = self._edits.library
        run_in_background(
            self,
            lambda: (library.voices(), library.trashed()),
            done=partial(self._on_read, self._num_reads),
            failed=partial(self._on_not_read, self._num_reads),
        )

    def _on_not_read(self, number: int, error: StudioError) -> None:
        if number == self._num_reads:
            self.failed.emit(error)

    def _on_read(self, number: int, content: tuple[list[Voice], list[TrashedVoice]]) -> None:
        if number != self._num_reads:
            return
        voices, self._trashed = content
        if not self.is_loaded:  # if a model was loaded earlier, there were no voices to prepare yet
            self.is_loaded = True
            for voice in own_language_first(voices):
                self.preparation.request(voice, is_urgent=False)
        name = self._to_select or (self.current_voice.name if self.current_voice else None)
        self._model.show_voices(voices)
        self._tags.setStringList(tags_of(voices))
        if self._was_seen:
            self._thumbnails.request(voices)
        if self._to_select is not None and not self.select(self._to_select):
            self._search.clear()
        if name is not None:
            self.select(name)
        self._to_select = None
        self._update_placeholder()
        self._list.update_enabled()
        self.voices_changed.emit()

    def _lay_out(self) -> None:
        self._search.setAccessibleName(self._search.placeholderText())
        self._search.addAction(icon("find"), QLineEdit.ActionPosition.LeadingPosition)
        self._search.setToolTip(self.tr("Names, transcripts and notes. Words with # in the notes are tags."))
        self._search.setCompleter(QCompleter(self._tags, self, caseSensitivity=Qt.CaseSensitivity.CaseInsensitive))
        self._placeholder.setProperty("role", "quiet")
        self._placeholder.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._placeholder.setContentsMargins(16, 16, 16, 16)
        self._new.setToolTip(self.tr("Create voices from audio or .voice files. You can also drop files here."))
        self._record.setToolTip(self.tr("Record a voice with the microphone"))
        self._middle = QStackedLayout()
        self._middle.addWidget(self._list)
        self._middle.addWidget(self._placeholder)
        buttons = in_row((self._new, 1), (self._record, 1))
        in_column(self._search, (self._middle, 1), buttons, parent=self, margins=8)

    def _connect_signals(self) -> None:
        # The list.
        self._search.textChanged.connect(self._on_searched)
        self._search.returnPressed.connect(self._on_search_finished)
        for widget in (self._list, self._placeholder):
            widget.customContextMenuRequested.connect(self._open_menu)
        self._list.voice_chosen.connect(self.voice_chosen)
        self._list.status_message.connect(self.status_message)
        self._list.play_started.connect(self.clip_started)
        self._list.repair_wanted.connect(self.repair_wanted)
        self._list.failed.connect(self.failed)
        # Edits of the library.
        self._edits.changed.connect(self.refresh)
        self._edits.renamed.connect(self.voice_renamed)
        self._edits.renamed.connect(self.preparation.rename)
        self._edits.renamed.connect(self._on_renamed_in_library)
        self._edits.removed.connect(self.preparation.discard)
        self._edits.added.connect(self.preparation.request)
        self._edits.added.connect(self._on_added)
        self._edits.failed.connect(self.failed)
        # New voices.
        self._new.clicked.connect(self.choose_files)
        self._record.clicked.connect(self.record)
        # Background work.
        self._thumbnails.ready.connect(self._model.set_picture)
        self.preparation.changed.connect(self._model.set_preparation)

    def _on_first_seen(self) -> None:
        """Read the clips after the first paint, so that they do not delay it."""
        self._was_seen = True
        self._thumbnails.request(self.voices)

    def _on_searched(self, text: str) -> None:
        self._filter.search(text)
        self._update_placeholder()

    def _on_search_finished(self) -> None:
        """Select the first match after the Return key was pressed."""
        if self._filter.rowCount():
            self._list.setCurrentIndex(self._filter.index(0, 0))
            self._list.setFocus()

    def _update_placeholder(self) -> None:
        if not self.is_loaded:
            self._placeholder.setText("")
        elif not self.voices:
            self._placeholder.setText(
                self.tr("No voices yet.\n\nDrop a recording of a speaker here. Three to ten seconds are enough.")
            )
        else:
            self._placeholder.setText(self.tr("No matching voices"))
        self._middle.setCurrentWidget(self._list if self._filter.rowCount() else self._placeholder)

    def _open_menu(self, place: QPoint) -> None:
        shown = self._list if self._list.isVisible() else self._placeholder
        self._list.open_menu(shown.mapToGlobal(place), self._trashed)

    def _on_added(self, voice: Voice) -> None:
        self._to_select = voice.name

    def _on_renamed_in_library(self, _before: str, after: str) -> None:
        self._to_select = after
