"""Main window: builds its parts, connects their signals, and shows the session."""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import cached_property, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QMainWindow, QWidget

from studio.app.actions import NUM_VOICE_KEYS, Actions, belongs_to_focus, voice_action_id
from studio.app.bridge import Engine, EngineState
from studio.app.closing import Closing
from studio.app.dialogs import Dialogs
from studio.app.documents import Documents
from studio.app.inspector.inspector import Inspector
from studio.app.inspector.normalized_text import NormalizedTextPreview
from studio.app.inspector.take_rows import take_rows
from studio.app.inspector.takes_controller import TakesController
from studio.app.layout import LINE_ACTIONS, BottomBar, Docks, make_toolbar, restore_layout, save_layout
from studio.app.log_panel import LogHandler, LogPanel
from studio.app.notifications import NotificationBar, UnwrittenBar
from studio.app.playback.audio_player import AudioDeviceNotifier
from studio.app.playback.transport_bar import TransportBar
from studio.app.playback.transport_controller import FocusKeyFilter, TransportController
from studio.app.recent_files import RecentFiles
from studio.app.script.project_editor import LineVoiceUpdater
from studio.app.script.script_actions import connect_script_actions, remember_compact_table
from studio.app.script.script_page import ScriptPage
from studio.app.session import Session
from studio.app.status_bar import StatusBar
from studio.app.synthesis.task_reporter import TaskReporter
from studio.app.theme.icons import icon
from studio.app.undo import UndoActions
from studio.app.voices.panel import VoicesPanel
from studio.app.widgets.controls import in_column
from studio.errors import ConnectionLost, NotOnServer, ServerRefused, ServerUnreachable, StudioError, UnknownService
from studio.project.draft_writer import PendingChanges
from studio.project.requests import language_tag, reading_rules
from studio.setting_kinds import Page
from studio.settings import LISTS_BUILT_IN_SPEAKERS, SHORTCUTS, SHOWS_MORE_FIELDS, TAKES_AT_ONCE, TEXT_SPLITTING

if TYPE_CHECKING:
    from studio.app.dubbing.controller import DubbingController
    from studio.app.synthesis.queue_panel import QueuePanel
    from studio.app.voices.voice_importer import VoiceImportServices
    from studio.app.widgets.collapsible_panel import CollapsiblePanel
    from studio.voices.voice import Voice


_ERRORS_OF_SERVERS = (ConnectionLost, NotOnServer, ServerRefused, ServerUnreachable, UnknownService)


class MainWindow(QMainWindow):
    """Main window of a session."""

    closed = Signal()  # the session has ended and the program may exit

    def __init__(self, session: Session, log: LogHandler) -> None:
        super().__init__()
        self.session = session
        self.actions_by_id = Actions(self, session.settings[SHORTCUTS])
        self.notices = NotificationBar()
        # Connected first: other parts show notices about the new script.
        session.editor.project_replaced.connect(self.notices.forget_script)
        self.documents = Documents(session, self)
        self.dialogs = Dialogs(session, self.actions_by_id, self)
        self._unwritten: UnwrittenBar | None = None  # until a change cannot be written
        self._device_notices = AudioDeviceNotifier(session.playback.player, self.notices, self)
        self.script = ScriptPage(
            session.editor,
            session.line_statuses,
            session.model_selection.styles,
            self._split_text,
            outline_of=session.thumbnails.outline,
        )
        self.inspector = Inspector(session.model_selection.styles, session.thumbnails.outline)
        self.normalized_text = NormalizedTextPreview(session.bridge, self)
        self.takes = TakesController(session, self)
        self.transport_bar = TransportBar(self.actions_by_id)
        self.transport = TransportController(session, self.script, self.takes, self.transport_bar)
        self.tasks = TaskReporter(session, self)
        self.status = StatusBar()
        self.voices = VoicesPanel(session.voice_edits, self._voice_services)
        self.actions_by_id.call_before(self._commit_typing, "file", "edit", "speak")
        self._undo_actions = UndoActions(
            session.editor.undo_stack, self.actions_by_id["edit.undo"], self.actions_by_id["edit.redo"], self
        )
        self._line_voices = LineVoiceUpdater(session.editor, self)
        self._may_close = False
        self._assemble(log)
        self._connect_signals()
        self._show_title()
        self._on_engine_changed(session.bridge.engine)
        self.script.view.go_to(session.editor.script.lines[0].id)
        self._show_line()

    @cached_property
    def dubbing(self) -> DubbingController:
        """The timeline and the fields of slots, created after the first paint."""
        from studio.app.dubbing.controller import DubbingController  # noqa: PLC0415 - after the first paint

        dubbing = DubbingController(self.session, self.script, self.inspector, self.actions_by_id, self)
        self._column.addWidget(dubbing.panel)
        dubbing.message.connect(self.tasks.show_message)
        return dubbing

    @cached_property
    def recent_files(self) -> RecentFiles:
        """The menu of recent files, created with the entries of the menus."""
        recent_files = RecentFiles(self.session.settings, self)
        self.documents.file_used.connect(recent_files.add)
        recent_files.open_requested.connect(self.documents.open_anew)
        recent_files.failed.connect(self.notices.show_error)
        return recent_files

    @cached_property
    def _closing(self) -> Closing:
        closing = Closing(self.session, self.documents, self)
        closing.leaving.connect(self._leave)
        closing.ended.connect(self._end)
        return closing

    @cached_property
    def queue_panel(self) -> QueuePanel:
        """The queue, created when it is first shown."""
        from studio.app.synthesis.queue_panel import QueuePanel  # noqa: PLC0415 - after the first paint

        return QueuePanel(self.session.queue)

    def _voice_services(self) -> VoiceImportServices:
        """Return what the importer of voices needs: devices, worker, model folder."""
        from studio.app.voices.voice_importer import VoiceImportServices  # noqa: PLC0415 - after the first paint

        session = self.session
        return VoiceImportServices(
            make_player=session.playback.make_player,
            start_worker=session.services.start_worker,
            model_folder=session.model_selection.local_folder,
            for_current_line=self._voice_taker,
            transcribe=None if session.services.open_checks is None else session.parts.checker.transcribe,
            models=session.parts.models,
            open_checks=session.services.open_checks,
        )

    def _voice_taker(self) -> Callable[[Voice], object] | None:
        """Return the call that gives a new voice to the line that is current now, unless it is locked."""
        line = self.script.current_line
        if line is None or line.is_locked:
            return None
        return lambda voice: self.script.give_voice(line.id, voice.name)

    def add_panels(self, *panels: CollapsiblePanel) -> None:
        """Add ``panels`` above the script."""
        for panel in panels:
            self._column.insertWidget(self._column.indexOf(self.script), panel)
            panel.focus_left.connect(self.script.view.setFocus)

    def fill_menus(self) -> None:
        """Add the entries of the menus, and the buttons of an empty script. Call after the first paint."""
        self.actions_by_id.fill_menus(self._menus)
        self.script.view.offer_start([self.actions_by_id[name] for name in ("file.import", "help.sample")])
        self._menus["file"].insertMenu(self.actions_by_id["file.save"], self.recent_files.menu)
        reset = self.actions_by_id["view.reset"]
        toggles = [*(dock.toggleViewAction() for dock in self.docks.all), self._toolbar.toggleViewAction()]
        self._menus["view"].insertActions(reset, toggles)
        self._menus["view"].insertSeparator(reset)

    def add_strip(self, strip: QWidget) -> None:
        """Put ``strip``, which is one line high, above the transport bar."""
        self._bottom.insertWidget(0, strip)

    def _assemble(self, log: LogHandler) -> None:
        self.setWindowIcon(icon("timbre"))
        centre = QWidget()
        self._column = in_column((self.script, 1), self.notices, parent=centre, margins=0, spacing=0)
        self.script.view.setProperty("role", "page")  # without a frame: the selection shows the focus
        self.setCentralWidget(centre)
        self._menus = self.actions_by_id.add_menus(self.menuBar())
        self._toolbar = make_toolbar(self, self.actions_by_id, self.tr("Tools"))
        self.docks = Docks(self, (self.tr("Voices"), self.tr("Line"), self.tr("Queue and log")))
        self.docks.fill(self.voices, self.inspector)
        for make, words, icon_name in (
            (lambda: self.queue_panel, self.tr("Queue"), "queue"),
            (lambda: LogPanel(log), self.tr("Log"), "log"),
        ):
            self.docks.add_tab(make, icon(icon_name), words)
        self.script.view.addActions([self.actions_by_id[name] for name in LINE_ACTIONS])
        for name in ("play.restore_take", "play.edit_take", "play.compare_takes"):
            self.inspector.add_takes_action(self.actions_by_id[name])
        bottom = BottomBar(self.transport_bar, self.status)
        self._bottom = bottom.column
        self.setStatusBar(bottom)
        self.inspector.form.more.setChecked(self.session.settings[SHOWS_MORE_FIELDS])
        remember_compact_table(self.actions_by_id["view.compact"], self.script.view, self.session.settings)
        restore_layout(self, self.docks, self.session.settings)

    def _connect_signals(self) -> None:  # noqa: PLR0915 - one list of all connections
        session, script, actions = self.session, self.script, self.actions_by_id
        # files
        actions["file.new"].triggered.connect(self.documents.new)
        actions["file.open"].triggered.connect(self.documents.open)
        actions["file.save"].triggered.connect(self.documents.save)
        actions["file.save_as"].triggered.connect(self.documents.save_as)
        actions["file.import"].triggered.connect(self.documents.import_text)
        actions["file.update"].triggered.connect(self.documents.update)
        actions["file.export"].triggered.connect(self._export)
        actions["file.book"].triggered.connect(self.dialogs.open_book)
        actions["file.levels"].triggered.connect(self.dialogs.open_levels)
        actions["file.inspect"].triggered.connect(self.dialogs.open_inspection)
        actions["file.serve"].triggered.connect(self.dialogs.open_serving)
        actions["file.settings"].triggered.connect(lambda: self.dialogs.open_settings(Page.WINDOW))
        actions["file.quit"].triggered.connect(self.close)
        self.documents.title_changed.connect(self._show_title)
        self.documents.task_changed.connect(self.tasks.show_document_task)
        script.dialogue_pasted.connect(self.documents.insert_dialogue)
        self.documents.script_read.connect(script.insert_lines)
        self.documents.script_read.connect(self._line_voices.resolve_names)
        self.documents.script_updated.connect(script.show_updated)
        # editing
        connect_script_actions(actions, script)
        self._undo_actions.status_message.connect(self.tasks.show_message)
        # speaking
        actions["speak.line"].triggered.connect(lambda: self._speak(num_takes=1))
        actions["speak.takes"].triggered.connect(lambda: self._speak(num_takes=session.settings[TAKES_AT_ONCE]))
        actions["speak.stale"].triggered.connect(lambda: session.synthesis.speak_changed_lines(script.speakable_ids))
        actions["speak.pause"].setChecked(session.queue.is_paused)
        actions["speak.pause"].toggled.connect(session.queue.set_paused)
        actions["speak.cancel"].triggered.connect(session.queue.cancel_all)
        session.queue.synthesis_started.connect(self.voices.preparation.pause)
        session.queue.became_idle.connect(self.voices.preparation.resume)
        # playback
        actions["play.toggle"].triggered.connect(self.transport.toggle)
        actions["play.from_here"].triggered.connect(self.transport.play_from_here)
        actions["play.character"].triggered.connect(self.transport.play_character)
        actions["play.stop"].triggered.connect(self.transport.stop)
        actions["play.previous_line"].triggered.connect(lambda: self.transport.step_line(-1))
        actions["play.next_line"].triggered.connect(lambda: self.transport.step_line(1))
        actions["play.previous_take"].triggered.connect(lambda: self.takes.step(-1))
        actions["play.next_take"].triggered.connect(lambda: self.takes.step(1))
        actions["play.compare"].triggered.connect(self.takes.compare)
        actions["play.keep"].triggered.connect(self.takes.toggle_kept)
        actions["play.remove_take"].triggered.connect(self.takes.remove_chosen)
        actions["play.restore_take"].triggered.connect(self.takes.restore_last)
        self.takes.status_message.connect(self.tasks.show_message)
        self.transport.status_message.connect(self.tasks.show_message)
        session.playback.script_player.line_changed.connect(script.view.go_to)
        # current line
        script.current_line_changed.connect(lambda _: self._show_line())
        script.view.selection_changed.connect(self._show_form)
        script.view.style_delegate.instruction_requested.connect(self.inspector.form.edit_instruction)
        session.editor.script_changed.connect(self._show_line)
        session.editor.project_replaced.connect(self._on_project_replaced)
        self.inspector.form.field_changed.connect(script.edit_lines)
        self.inspector.form.suggest_characters(
            lambda: {line.character for line in session.editor.script.lines if line.character}
        )
        self.inspector.form.more.toggled.connect(partial(session.settings.__setitem__, SHOWS_MORE_FIELDS))
        self.inspector.form.speak_requested.connect(lambda: self._speak(num_takes=1))
        self.inspector.takes.take_chosen.connect(self.takes.choose)
        self.inspector.takes.play_requested.connect(session.playback.play_take)
        self.inspector.takes.play_toggled.connect(self.takes.toggle_play)
        self.normalized_text.ready.connect(self.inspector.show_normalized_text)
        session.thumbnails.ready.connect(script.view.viewport().update)
        session.thumbnails.ready.connect(self.inspector.takes.viewport().update)
        # voices
        actions["voices.new"].triggered.connect(self.voices.choose_files)
        actions["voices.record"].triggered.connect(self.voices.record)
        for number in range(1, NUM_VOICE_KEYS + 1):
            actions[voice_action_id(number)].triggered.connect(lambda _=False, n=number: self._assign_voice(n))
        self.voices.clip_started.connect(session.playback.stop)
        session.playback.player.started.connect(self.voices.stop_clip)
        self.voices.voice_chosen.connect(script.assign_voice)
        self.voices.voices_changed.connect(self._on_voices_changed)
        self.voices.voice_renamed.connect(self._line_voices.on_renamed)
        self.voices.status_message.connect(self.tasks.show_message)
        self.voices.failed.connect(self.notices.show_error)
        self.notices.focus_left.connect(script.view.setFocus)
        # window and status bar
        session.settings_changed.connect(self.documents.apply_settings)
        session.settings_changed.connect(self._list_built_in_speakers)
        actions["view.reset"].triggered.connect(self.docks.reset)
        actions["help.guide"].triggered.connect(self.dialogs.open_manual)
        actions["help.sample"].triggered.connect(self.documents.open_sample)
        actions["help.shortcuts"].triggered.connect(self.dialogs.open_shortcuts)
        actions["help.doctor"].triggered.connect(self.dialogs.open_doctor)
        actions["help.about"].triggered.connect(self.dialogs.open_about)
        actions.keys_changed.connect(self._keep_keys)
        script.message.connect(self.tasks.show_message)
        script.view.text_delegate.stop_playback = session.playback.stop_and_cancel
        self._focus_keys = FocusKeyFilter(session, self.transport.stop, self)
        session.bridge.engine_changed.connect(self._on_engine_changed)
        session.failed.connect(self._show_failure)
        self.documents.failed.connect(self.notices.show_error)
        self.documents.noticed.connect(partial(self.notices.show_hint, is_about_script=True))
        session.editor.unwritten_changed.connect(self._on_unwritten)
        self._on_unwritten(session.editor.project.unwritten)
        self.tasks.task_changed.connect(self.status.show_task)
        self.tasks.message_changed.connect(self.status.show_message)
        self.status.cancel_requested.connect(session.queue.cancel_all)
        self.status.tab_requested.connect(self.docks.toggle_tab)
        session.queue.job_changed.connect(self._show_queue)
        session.queue.became_idle.connect(self._show_queue)

    # Synthesis and playback.

    def _speak(self, *, num_takes: int) -> None:
        self.session.synthesis.speak(self.script.selected_line_ids, num_takes=num_takes)

    def _show_queue(self) -> None:
        self.status.show_queue(self.session.queue.num_waiting)

    # Current line.

    def _show_line(self) -> None:
        line = self.script.current_line
        project, settings = self.session.editor.project, self.session.settings
        language = "" if line is None else language_tag(line, project.script.language, reading_rules(settings))
        self.normalized_text.show(line, project.dictionary_in_force, language)
        self.takes.show_line(line)
        self._show_form()

    def _show_form(self) -> None:
        self.inspector.form.leave(self.script.selected_line_ids)
        line = self.script.current_line
        takes = take_rows(self.session.editor.project, line.id) if line else ()
        self.inspector.form.set_script_quality(self.session.editor.script.details.quality)
        self.inspector.show_line(line, self.script.selected_lines, takes)
        self._show_actions()

    def _commit_typing(self) -> None:
        """Write text that is being typed to the script."""
        self.script.view.commit_text()
        self.inspector.form.commit()
        if "dubbing" in self.__dict__:
            self.dubbing.slot_fields.commit()

    def _show_actions(self) -> None:
        line = self.script.current_line
        has_take = line is not None and line.chosen_take is not None
        for name in ("play.previous_take", "play.next_take", "play.compare", "play.compare_takes"):
            self.actions_by_id[name].setEnabled(line is not None and len(self.takes.takes) > 1)
        for name in ("play.edit_take", "play.keep", "play.remove_take"):
            self.actions_by_id[name].setEnabled(has_take)
        self.actions_by_id["play.cut_silence"].setEnabled(bool(self.script.selected_take_ids))
        self.actions_by_id["takes.recording"].setEnabled(line is not None and bool(line.text.strip()))
        self.actions_by_id["play.restore_take"].setEnabled(bool(self.takes.removed_takes))
        self.actions_by_id["play.keep"].setChecked(self.takes.is_kept)
        self.actions_by_id["edit.lock"].setChecked(line is not None and line.is_locked)

    # Files.

    def _export(self) -> None:
        self.dialogs.open_export(self.script.selected_line_ids, self.script.view.select_lines)

    def _on_unwritten(self, unwritten: PendingChanges | None) -> None:
        """Create the bar when a change cannot be written for the first time. It then updates itself."""
        if unwritten is not None and self._unwritten is None:
            self._unwritten = UnwrittenBar(self.session.editor, self.documents.save_as, self.centralWidget())
            self._unwritten.written.connect(self.tasks.show_message)
            self._column.insertWidget(self._column.indexOf(self.notices), self._unwritten)

    def _show_title(self) -> None:
        num_lines = sum(bool(line.text.strip()) for line in self.session.editor.script.lines)
        lines = " · " + self.tr("%n line(s)", "", num_lines) if num_lines else ""
        self.setWindowTitle(f"{self.documents.name}[*]{lines} – Timbre Studio")
        self.setWindowModified(self.documents.has_unsaved_changes)

    def _on_project_replaced(self) -> None:
        lines = self.session.editor.script.lines
        if lines:
            self.script.view.go_to(lines[0].id)
        self.script.view.setFocus()
        self._show_line()

    def _split_text(self, text: str) -> list[list[str]]:
        from studio.project.splitting import SplitMode, split_paragraphs  # noqa: PLC0415 - after the first paint

        return split_paragraphs(text, SplitMode(self.session.settings[TEXT_SPLITTING]))

    def _assign_voice(self, number: int) -> None:
        voice = self.voices.voice_at(number)
        if voice is not None:
            self.script.assign_voice(voice.name)

    def _list_built_in_speakers(self, changed: Container[object]) -> None:
        if LISTS_BUILT_IN_SPEAKERS in changed:
            self.voices.refresh()

    def _on_voices_changed(self) -> None:
        self.script.view.set_voices(self.voices.voices)
        self.inspector.form.set_voices(self.voices.voices)
        self._line_voices.on_voices_changed(self.voices.voices)
        self._show_line()

    # Engine and status bar.

    def _on_engine_changed(self, engine: Engine) -> None:
        self.status.show_engine(engine)
        if engine.state is EngineState.READY and engine.description is not None:
            server = self.session.model_selection.server()
            self.inspector.form.allow_seed(server is None or not server.is_other_program)
            self.inspector.form.allow_instructions(server is None or not server.is_triton)
            self.voices.use_model(self.session.bridge, engine.description.generation)
        self.tasks.show()

    def _show_failure(self, error: StudioError) -> None:
        """Show an error of the session. If another computer fails, offer to use this one."""
        is_remote = isinstance(error, _ERRORS_OF_SERVERS)
        if is_remote and self.session.model_selection.server() is not None:
            self.notices.show_error(
                error, offer=self.tr("Use this computer"), call=self.session.model_selection.use_this_computer
            )
        else:
            self.notices.show_error(error)

    def use_model(self, choice: str) -> None:
        self.voices.use_model(None)
        self.session.model_selection.use_model(choice)

    def _keep_keys(self) -> None:
        self.session.settings[SHORTCUTS] = self.actions_by_id.own_keys

    # Qt.

    def event(self, event: QEvent) -> bool:
        if belongs_to_focus(event):
            event.accept()
            return True
        return super().event(event)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "docks"):
            self.status.show_engine(self.session.bridge.engine)
        super().changeEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        if self._may_close:
            super().closeEvent(event)
            return
        event.ignore()
        self._commit_typing()
        self._closing.begin()

    @property
    def is_closing(self) -> bool:
        return "_closing" in self.__dict__ and self._closing.is_under_way

    def release(self) -> None:
        """Save the layout and text being typed; stop the work of this window."""
        self._commit_typing()
        save_layout(self, self.session.settings)
        self.voices.stop()
        self.normalized_text.stop()

    def take_over(self, old: MainWindow) -> None:
        """Restore the selection, tab and error of ``old``, and show the session's state."""
        current = old.script.current_line
        if current is not None:
            self.script.view.go_to(current.id)
            if len(old.script.selected_line_ids) > 1:
                self.script.view.select_lines(old.script.selected_line_ids)
        self.docks.tabs.setCurrentIndex(old.docks.tabs.currentIndex())
        if old.notices.error is not None:
            self.notices.show_error(old.notices.error)
        if self.session.queue.current is not None:
            self.voices.preparation.pause()
        self.session.playback.update_meters()
        self.tasks.show()

    def _leave(self) -> None:
        self.release()
        self.hide()

    def _end(self) -> None:
        self._may_close = True
        self.close()
        self.closed.emit()
