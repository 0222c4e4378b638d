"""Actions and panels for scripts with slots: fitting, fields in the inspector, and the timeline."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from studio.app.actions import Actions
from studio.app.dubbing.fit_dialog import FitDialog
from studio.app.dubbing.fitter import FitResult, Fitter
from studio.app.dubbing.guide_track import GuideTrack, LoadedGuide
from studio.app.dubbing.slot_fields import SlotFields
from studio.app.dubbing.timeline import TimelinePanel
from studio.app.inspector.inspector import Inspector
from studio.app.script.script_page import ScriptPage
from studio.app.session import Session
from studio.app.translation import join_sentences
from studio.app.widgets.focus import holds_focus
from studio.errors import StudioError
from studio.project.changes import EditDetails
from studio.project.dubbing import has_slots, plan_fit, take_seconds
from studio.project.lines import Slot
from studio.project.script import Script
from studio.project.source_files import folder_of
from studio.settings import SHOWS_TIMELINE


class DubbingController(QObject):
    """Connects the actions and panels for dubbing with the session and the script page."""

    message = Signal(str)  # for the status bar

    def __init__(
        self, session: Session, page: ScriptPage, inspector: Inspector, actions: Actions, window: QWidget
    ) -> None:
        super().__init__(window)
        self._session = session
        self._page = page
        self._actions = actions
        self._window = window
        self.fitter = Fitter(session.editor, session.queue, self)
        self.slot_fields = SlotFields()
        self.panel = TimelinePanel(window)
        self.guide = GuideTrack(session, self)
        inspector.add_line_part(self.slot_fields)
        actions["speak.fit"].triggered.connect(self.fit_selected)
        actions["speak.fit_all"].triggered.connect(self.open_fit_dialog)
        actions["view.timeline"].setChecked(session.settings[SHOWS_TIMELINE])
        actions["view.timeline"].toggled.connect(self._show_timeline)
        self.slot_fields.slot_changed.connect(self.set_slot)
        self.fitter.finished.connect(self._on_fitted)
        self._connect_panel()
        page.current_line_changed.connect(lambda _: self._show_line())
        page.view.selection_changed.connect(self._show_line)
        session.editor.script_changed.connect(self._on_script_changed)
        session.editor.project_replaced.connect(self._show_script)
        self._show_script()

    def _connect_panel(self) -> None:
        panel, view, transport = self.panel, self.panel.view, self._session.playback.player
        view.line_chosen.connect(self._page.view.go_to)
        view.slot_changed.connect(self.set_slot)
        view.time_chosen.connect(panel.show_time)
        panel.guide_chosen.connect(self.choose_guide)
        panel.play_clicked.connect(self.play_with_guide)
        panel.gain_changed.connect(self._set_gain)
        self.guide.loaded.connect(self._on_guide_loaded)
        self.guide.failed.connect(self._on_guide_failed)
        self.guide.playing_changed.connect(panel.show_playing)
        transport.moved.connect(self._on_moved)

    def choose_guide(self, path: str | None) -> None:
        editor = self._session.editor
        details = editor.script.details
        if details.guide_track != path:
            title = self.tr("Choose guide track") if path else self.tr("Remove guide track")
            editor.push(EditDetails(replace(details, guide_track=path)), title)

    def play_with_guide(self) -> None:
        """Play the takes at their times with the guide track, from the playhead; or stop."""
        if self.guide.is_playing:
            self._session.playback.stop_and_cancel()
            return
        script, line = self._session.editor.script, self._page.current_line
        start = self.panel.view.playhead_seconds
        if start is None:
            start = line.slot.start_seconds if line is not None and line.slot is not None else 0.0
        ends = [each.slot.start_seconds + (take_seconds(script, each) or 0.0) for each in script.lines if each.slot]
        guide = self.guide.guide
        end = max([*ends, guide.sound.seconds if guide is not None else 0.0], default=0.0)
        if end > start:
            self.guide.play(start, end)

    def fit_selected(self) -> None:
        """Stretch the takes of the selected lines. Show in the status bar how many takes are still too long."""
        script = self._session.editor.script
        options = self._session.parts.fit_options()
        plan = plan_fit(script, self._page.selected_line_ids, options)
        if not plan:
            self.message.emit(self.tr("The selected lines have no take with a slot."))
        elif not self.fitter.is_busy:
            self.fitter.start(plan, options)

    def open_fit_dialog(self) -> None:
        session = self._session
        dialog = FitDialog(session.editor, self.fitter, session.settings, self._style_families, parent=self._window)
        dialog.line_wanted.connect(self._page.view.go_to)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()

    def set_slot(self, line_id: str, slot: Slot) -> None:
        self._page.edit_lines([line_id], "slot", slot, self.tr("Change slot"), True)

    def _show_timeline(self, is_shown: bool) -> None:
        self._session.settings[SHOWS_TIMELINE] = is_shown
        self._show_script()

    def _style_families(self) -> Collection[str]:
        return {style.family for style in self._session.model_selection.styles.styles}

    def _set_gain(self, gain: float) -> None:
        self.guide.gain = gain

    def _on_guide_loaded(self, guide: LoadedGuide | None) -> None:
        path = self._session.editor.script.details.guide_track
        self.panel.view.show_guide(guide.peaks if guide is not None else None)
        self.panel.show_guide_name(path, is_loading=path is not None and guide is None)

    def _on_guide_failed(self, error: StudioError) -> None:
        self.panel.show_guide_name(self._session.editor.script.details.guide_track)
        self._session.failed.emit(error)

    def _on_moved(self, seconds: float) -> None:
        """Show the position of the playing take, or of the mix with the guide track, on the timeline."""
        playing = self._session.playback.player.now_playing
        if self.guide.is_playing:
            self.panel.show_time(self.guide.start_seconds + seconds)
            return
        script = self._session.editor.script
        if playing is not None and playing.line_id in script.index_of:
            slot = script.line(playing.line_id).slot
            if slot is not None:
                self.panel.show_time(slot.start_seconds + seconds)

    def _on_fitted(self, result: FitResult) -> None:
        words = [self.tr("%n line(s) fitted.", "", result.num_fitted)]
        if result.remaining:
            words.append(self.tr("%n line(s) remain too long; they are marked.", "", len(result.remaining)))
        self.message.emit(join_sentences(words))

    def _on_script_changed(self, before: Script, after: Script) -> None:
        if before is not after:
            self._show_script()

    def _show_script(self) -> None:
        script = self._session.editor.script
        is_dubbing = has_slots(script)
        for name in ("speak.fit", "speak.fit_all", "view.timeline"):
            self._actions[name].setEnabled(is_dubbing)
        is_shown = is_dubbing and self._actions["view.timeline"].isChecked()
        if (not is_shown and holds_focus(self.panel)) or (not is_dubbing and holds_focus(self.slot_fields)):
            self._page.view.setFocus()
        self.panel.setVisible(is_shown)
        self.panel.view.show_script(script)
        self.panel.folder = str(folder_of(script.details.sources, self._session.editor.project.path) or "")
        self.guide.use(script.details.guide_track if is_dubbing else None)
        self._show_line()

    def _show_line(self) -> None:
        line = self._page.current_line
        self.slot_fields.show_line(line)
        self.panel.view.show_line(line.id if line is not None else None)
