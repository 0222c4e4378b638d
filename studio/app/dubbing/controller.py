"""Actions and panels for scripts with slots: fitting, fields in the inspector, and the time line."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from studio.app.actions import Actions
from studio.app.dubbing.fitter import FitResult, Fitter
from studio.app.dubbing.slot_fields import SlotFields
from studio.app.inspector.inspector import Inspector
from studio.app.script.script_page import ScriptPage
from studio.app.session import Session
from studio.project.dubbing import FitOptions, has_slots, plan_fit
from studio.project.lines import Slot
from studio.project.script import Script
from studio.settings import FIT_FASTEST, FIT_SLOWEST


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
        inspector.add_line_part(self.slot_fields)
        actions.call_before(self.slot_fields.commit, "file", "edit", "speak")
        actions["speak.fit"].triggered.connect(self.fit_selected)
        actions["speak.fit_all"].triggered.connect(self.open_fit_dialog)
        self.slot_fields.slot_changed.connect(self.set_slot)
        self.fitter.finished.connect(self._on_fitted)
        page.current_line_changed.connect(lambda _: self._show_line())
        page.view.selection_changed.connect(self._show_line)
        session.editor.script_changed.connect(self._on_script_changed)
        session.editor.project_replaced.connect(self._show_script)
        self._show_script()

    def fit_selected(self) -> None:
        """Stretch the takes of the selected lines. Report what remains too long in the status bar."""
        script = self._session.editor.script
        plan = plan_fit(script, self._page.selected_line_ids, self._options)
        if not plan:
            self.message.emit(self.tr("The selected lines have no take with a slot."))
        elif not self.fitter.is_busy:
            self.fitter.start(plan, self._options)

    def open_fit_dialog(self) -> None:
        from studio.app.dubbing.fit_dialog import FitDialog  # noqa: PLC0415 - after the first paint

        session = self._session
        dialog = FitDialog(session.editor, self.fitter, session.settings, self._style_families, parent=self._window)
        dialog.line_wanted.connect(self._page.view.go_to)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()

    def set_slot(self, line_id: str, slot: Slot) -> None:
        self._page.edit_lines([line_id], "slot", slot, self.tr("Change slot"), True)

    @property
    def _options(self) -> FitOptions:
        settings = self._session.settings
        return FitOptions(settings[FIT_SLOWEST], settings[FIT_FASTEST])

    def _style_families(self) -> Collection[str]:
        return {style.family for style in self._session.styles.styles}

    def _on_fitted(self, result: FitResult) -> None:
        words = self.tr("%n line(s) fitted.", "", result.num_fitted)
        if result.remaining:
            words += " " + self.tr("%n line(s) remain too long; they are marked.", "", len(result.remaining))
        self.message.emit(words)

    def _on_script_changed(self, before: Script, after: Script) -> None:
        if before is after or before.lines is not after.lines:
            self._show_script()

    def _show_script(self) -> None:
        for name in ("speak.fit", "speak.fit_all"):
            self._actions[name].setEnabled(has_slots(self._session.editor.script))
        self._show_line()

    def _show_line(self) -> None:
        self.slot_fields.show_line(self._page.current_line)
