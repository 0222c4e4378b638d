"""The parts of the window that are built after the first paint.

Decision: pages, panels and dialogs that are not visible at first are imported and built after the first paint.
Reason: their imports take as long as the rest of the startup.
"""

from __future__ import annotations

from importlib import import_module

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QTabWidget

from studio.app.background import run_in_background
from studio.app.checking.review import ReviewController
from studio.app.dictionary.pronunciation import Pronunciation
from studio.app.drop_handler import DropHandler
from studio.app.engines.engines_controller import EnginesController
from studio.app.engines.trial_pauser import TrialPauser
from studio.app.export_dialog.export_controller import ExportController
from studio.app.export_dialog.resuming import ExportResuming
from studio.app.importing.casting import CastingController
from studio.app.importing.characters_panel import CharactersPanel
from studio.app.importing.source_watcher import SourceWatcher
from studio.app.importing.speakers_controller import SpeakersController
from studio.app.inspector.take_dialogs import TakeDialogs
from studio.app.models.models_page import ModelsController
from studio.app.quality.drafts_controller import DraftsController
from studio.app.synthesis.language_notices import LanguageNotices
from studio.app.synthesis.live_strip import LiveFigures
from studio.app.synthesis.recorded_take import RecordedTakes
from studio.app.synthesis.task_reporter import LengthNotices, LineNotices
from studio.app.synthesis.voice_conversion import VoiceConversionController
from studio.app.voices.clip_repair_controller import ClipRepairController
from studio.app.voices.shorter_voice_offer import ShorterVoiceOffer
from studio.app.widgets.focus import place_in_tab_order
from studio.app.window import MainWindow
from studio.project.requests import library_versions

_FIRST_USE_MODULES = (
    "studio.worker.request_handle",
    "studio.audio.output_device",
    "studio.voices.clip_intake",
    "studio.project.importing.script_file",
)


class DeferredParts(QObject):
    """Models, engines, pronunciation, casting, voice conversion and dropped files. A child of ``window``."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        session, script, notices, actions = window.session, window.script, window.notices, window.actions_by_id
        self._script = script
        window.fill_menus()
        self.pronunciation = Pronunciation(session, window)
        self.models = ModelsController(session, window.dialogs, notices, window.status, window)
        self.engines = EnginesController(session.bridge, window)
        self.trial_pauser = TrialPauser(session, window)
        self.recordings = VoiceConversionController(session, script, window)
        self.recorded_takes = RecordedTakes(session, script, window)
        self.take_dialogs = TakeDialogs(session, actions, window.takes, window)
        self.length_notices = LengthNotices(session, notices, window)
        self.line_notices = LineNotices(session, notices, window)
        self.language_notices = LanguageNotices(session, notices, window)
        self.shorter_voices = ShorterVoiceOffer(session, window.voices.preparation, notices, window)
        self.clip_repairs = ClipRepairController(session, notices, window)
        window.voices.repair_wanted.connect(self.clip_repairs.repair)
        self.live_figures = LiveFigures(session, actions["view.live"], window.add_strip, window)
        self.casting = CastingController(session, script, window)
        self.speakers = SpeakersController(session, script, notices, window)
        self.characters = CharactersPanel(session.editor, session.model_selection.styles)
        self.voice_tabs = QTabWidget(documentMode=True)
        self.voice_tabs.tabBar().setExpanding(True)
        self.voice_tabs.tabBar().setAccessibleName(self.tr("Voices and characters"))
        self.voice_tabs.addTab(window.voices, self.tr("Voices"))
        self.voice_tabs.addTab(self.characters, self.tr("Characters"))
        window.docks.voices.setWidget(self.voice_tabs)
        place_in_tab_order(script.view, self.voice_tabs)
        self.review = ReviewController(session, script, window)
        self.drafts = DraftsController(session, script, window)
        self.exports = ExportController(session.parts.exports, notices, window, script.view.select_lines)
        window.status.add_chip(self.exports.chip)
        window.status.add_chip(self.review.chip)
        self.export_resuming = ExportResuming(session, session.parts.exports, window.documents, notices, window)
        self.drops = DropHandler(
            window.documents, window.voices.voice_importer, script, self.recordings, window, dubbing=window.dubbing
        )
        self.source_watcher = SourceWatcher(session, window.documents, notices, actions["file.update"], window)
        window.add_panels(self.models.panel)
        self._connect(window)
        self.engines.begin()
        run_in_background(self, _import_for_first_use, done=lambda _: None, failed=lambda _: None)

    def _connect(self, window: MainWindow) -> None:
        session, script, notices, actions = window.session, window.script, window.notices, window.actions_by_id
        session.parts.models.installed.connect(window.voices.refresh)  # its built-in voices
        self.engines.progress_changed.connect(window.status.show_tuning)
        window.status.tuning_clicked.connect(self.engines.open_page)
        window.status.models_clicked.connect(self.models.open_page)
        window.status.serving_clicked.connect(window.dialogs.open_serving)
        self._status, self._serving = window.status, session.parts.serving
        self._serving.changed.connect(self._show_serving)
        self._show_serving()  # it may have started with the program
        window.status.engine_clicked.connect(lambda: self.models.open_engine_menu(window.status, actions["view.live"]))
        self.models.model_chosen.connect(window.use_model)
        self.language_notices.model_chosen.connect(window.use_model)
        self.language_notices.download_offered.connect(self.models.first_run.put_off_advice)
        actions["file.last_export"].triggered.connect(self.exports.open_details)
        self._exports, self._last_export = session.parts.exports, actions["file.last_export"]
        self._exports.changed.connect(self._enable_last_export)
        self._enable_last_export()
        actions["edit.pronunciation"].triggered.connect(self._open_pronunciation)
        actions["file.models"].triggered.connect(self.models.open_page)
        actions["file.engines"].triggered.connect(self.engines.open_page)
        actions["speak.recording"].triggered.connect(self.recordings.choose_file)
        takes = window.inspector.takes
        actions["play.compare_takes"].triggered.connect(lambda: self.take_dialogs.compare(takes.selected_takes))
        actions["play.edit_take"].triggered.connect(self.take_dialogs.edit_chosen)
        actions["play.cut_silence"].triggered.connect(lambda: self.take_dialogs.cut_silence(script.selected_take_ids))
        takes.menu_requested.connect(
            lambda place: self.take_dialogs.open_menu(takes.current_take, place, takes.selected_takes)
        )
        takes.drag_requested.connect(lambda take_id: self.take_dialogs.drag(take_id, takes))
        script.view.speaker_clicked.connect(
            lambda line_id, place: self.casting.open_speaker_menu(
                line_id, place, [voice.name for voice in window.voices.voices]
            )
        )
        actions["edit.cast"].triggered.connect(self.casting.open)
        actions["edit.speakers"].triggered.connect(self.speakers.open)
        window.documents.script_read.connect(lambda lines, _: self.speakers.offer(lines))
        self.speakers.divided.connect(lambda: self.voice_tabs.setCurrentWidget(self.characters))
        self.speakers.message.connect(window.tasks.show_message)
        actions["edit.select_character"].triggered.connect(self.casting.select_character)
        actions["edit.select_voice"].triggered.connect(self.casting.select_voice)
        self.characters.available.connect(self._show_characters)
        self.characters.cast.connect(self.casting.assign)
        self.characters.suggest_requested.connect(self.casting.suggest)
        self.characters.play_requested.connect(window.transport.play_lines)
        self.characters.select_requested.connect(self.casting.select_lines)
        self.characters.filter_requested.connect(script.toggle_character)
        window.voices.voices_changed.connect(lambda: self.characters.set_voices(window.voices.voices))
        self.characters.set_voices(window.voices.voices)
        self.casting.message.connect(window.tasks.show_message)
        for name, slot in {
            "takes.recording": self.recorded_takes.choose_file,
            "play.accept": self.review.accept,
            "play.best": self.review.choose_best,
            "speak.again": self.review.speak_again,
            "speak.check": self.review.check_again,
            "speak.check_policy": self.review.open_policy,
            "speak.consistency": self.review.open_consistency,
            "file.check_report": self.review.save_report,
            "speak.final": self.drafts.make_final,
            "speak.quality": self.drafts.open_quality,
        }.items():
            actions[name].triggered.connect(slot)
        for messages in (self.review.message, self.drafts.message, self.recorded_takes.message):
            messages.connect(window.tasks.show_message)
        self.review.failed.connect(notices.show_error)
        window.documents.cast_wanted.connect(self.casting.offer)
        self.recordings.failed.connect(notices.show_error)
        self.pronunciation.failed.connect(notices.show_error)

    def _enable_last_export(self) -> None:
        self._last_export.setEnabled(self._exports.current is not None)

    def _show_serving(self) -> None:
        self._status.show_serving(self._serving.url)

    def _show_characters(self, has_any: bool) -> None:
        """Show the tab of the characters, or hide it, and then the bar without a choice, too."""
        self.voice_tabs.setTabVisible(self.voice_tabs.indexOf(self.characters), has_any)
        self.voice_tabs.tabBar().setVisible(has_any)

    def release(self) -> None:
        """Stop the background work of these parts before the window closes."""
        self.models.first_run.stop()

    def open_pages_of(self, old: DeferredParts) -> None:
        """Open the pages that were open in ``old``."""
        if old.models.page is not None and old.models.page.isVisible():
            self.models.open_page()
        if old.engines.page is not None and old.engines.page.isVisible():
            self.engines.open_page()

    def _open_pronunciation(self) -> None:
        line, field = self._script.current_line, self._script.view.text_field
        selected = field.textCursor().selectedText() if field is not None else ""
        self.pronunciation.open(line.voice if line else None, selected)


def _import_for_first_use() -> None:
    """Import modules in the background that would otherwise stall the window at the first line or import."""
    for name in _FIRST_USE_MODULES:
        import_module(name)
    library_versions()
