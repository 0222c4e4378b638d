"""Review of takes with problems: accept them, speak the line again, check again, choose the best take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Qt, Signal
from PySide6.QtWidgets import QDialog, QFileDialog, QWidget

from studio.app.background import run_in_background
from studio.app.checking.policy_dialog import PolicyDialog
from studio.app.error_text import message_text
from studio.app.script.script_page import ScriptPage
from studio.app.session import Session
from studio.app.translation import join_sentences
from studio.app.widgets.dialogs import bring_to_front, default_folder, open_dialog
from studio.app.widgets.progress_chip import ProgressChip
from studio.export.check_report import write_report
from studio.project.changes import AcceptTakes, Change, ChooseTake, CompositeChange, RemoveTakes
from studio.project.lines import Line
from studio.project.script import Script
from studio.project.takes import Take
from studio.take_checks.policy import find_best


class ReviewController(QObject):
    """Runs the commands on the selected lines, and shows in the status bar that takes are being checked."""

    message = Signal(str)
    failed = Signal(object)  # StudioError

    def __init__(self, session: Session, script: ScriptPage, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._script = script
        self._window = window
        self._most_waiting = 0
        self._consistency: QDialog | None = None
        self.chip = ProgressChip(self.tr("Checks of takes"))
        session.parts.checker.changed.connect(self._show_chip)
        self._show_chip()

    def accept(self) -> None:
        """Accept the chosen takes of the selected lines, and go to the next line to review.

        The other automatic takes of these lines are removed; undo restores them.
        """
        script = self._session.editor.script
        accepted = [take for take in self._chosen_takes() if take.needs_review]
        if not accepted:
            self.message.emit(self.tr("The take has no unaccepted problems."))
            return
        others = [other.id for take in accepted for other in automatic_siblings(script, take)]
        changes: list[Change] = [AcceptTakes({take.id: True for take in accepted})]
        if others:
            changes.append(RemoveTakes(tuple(others)))
        self._session.editor.push(CompositeChange(tuple(changes)), self.tr("Approve take"))
        words = [self.tr("%n take(s) accepted.", "", len(accepted))]
        if others:
            words.append(self.tr("%n other automatic take(s) removed.", "", len(others)))
        if not self._has_lines_to_review() or not self._script.navigation.next_to_review():
            words.append(self.tr("No other line needs review."))
        self.message.emit(join_sentences(words))

    def speak_again(self) -> None:
        """Speak the selected lines again with another seed."""
        self._session.synthesis.speak(self._script.selected_line_ids, varies_seed=True)

    def check_again(self) -> None:
        """Check all takes of the selected lines."""
        ids = [take.id for line in self._script.selected_lines for take in self._takes_of(line)]
        num_takes = self._session.parts.checker.check(ids)
        if not num_takes:
            self.message.emit(self.tr("There is no take that can be checked."))

    def choose_best(self) -> None:
        """Choose the take with the best check result for each selected line."""
        changes: list[Change] = []
        for line in self._script.selected_lines:
            takes = self._takes_of(line)
            if line.is_locked or not any(take.check is not None for take in takes):
                continue
            best = takes[find_best([take.check for take in takes])]
            if best.id != line.chosen_take:
                changes.append(ChooseTake(line.id, best.id))
        if changes:
            self._session.editor.push(CompositeChange(tuple(changes)), self.tr("Choose best take"))
            self.message.emit(self.tr("%n other take(s) chosen.", "", len(changes)))
        else:
            self.message.emit(self.tr("The best take is already chosen, or the takes have not been checked."))

    def open_policy(self) -> None:
        dialog = PolicyDialog(self._session.editor, self._session.settings, self._window)
        open_dialog(dialog)

    def open_consistency(self) -> None:
        """Show the measures of all lines, in a dialog that stays open while the user works on the script."""
        if self._consistency is not None:
            bring_to_front(self._consistency)
            return
        from studio.app.checking.consistency_dialog import ConsistencyDialog  # noqa: PLC0415 - rarely opened

        parts = self._session.parts
        dialog = ConsistencyDialog(
            self._session.editor,
            parts.checker,
            parts.retries,
            lambda: self._script.selected_line_ids,
            self._window,
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.line_chosen.connect(self._script.view.go_to)
        dialog.finished.connect(self._forget_consistency)
        self._script.current_line_changed.connect(dialog.show_current_line)
        self._consistency = dialog
        dialog.show()

    def _forget_consistency(self) -> None:
        self._consistency = None

    def save_report(self) -> None:
        """Ask for a file, and save a report of all lines in it."""
        project = self._session.editor.project
        title = project.path.stem if project.path is not None else self.tr("Script")
        dialog = QFileDialog(
            self._window, self.tr("Report of checks"), default_folder(QStandardPaths.StandardLocation.DocumentsLocation)
        )
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([self.tr("Web page (*.html)"), self.tr("Table (*.csv)")])
        dialog.setDefaultSuffix("html")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix("csv" if "csv" in chosen else "html"))
        dialog.selectFile(f"{title}.html")
        dialog.fileSelected.connect(lambda path: self.write_report(Path(path), title))
        open_dialog(dialog)

    def write_report(self, path: Path, title: str) -> None:
        run_in_background(
            self,
            partial(write_report, path, self._session.editor.project, title, message_text),
            done=lambda _: self.message.emit(self.tr("Report saved: {file}").format(file=path.name)),
            failed=self.failed.emit,
        )

    def _has_lines_to_review(self) -> bool:
        project = self._session.editor.project
        takes = (project.chosen_take(line.id) for line in project.lines if line.is_spoken and not line.is_locked)
        return any(take is not None and take.needs_review for take in takes)

    def _chosen_takes(self) -> list[Take]:
        project = self._session.editor.project
        found = (project.chosen_take(line.id) for line in self._script.selected_lines)
        return [take for take in found if take is not None]

    def _takes_of(self, line: Line) -> Sequence[Take]:
        return self._session.editor.script.takes_of(line.id)

    def _show_chip(self) -> None:
        num_waiting = self._session.parts.checker.num_waiting
        self._most_waiting = max(self._most_waiting, num_waiting) if num_waiting else 0
        words = self.tr("Checking %n take(s)", "", num_waiting) if num_waiting else ""
        share = 1 - num_waiting / self._most_waiting if self._most_waiting else None
        self.chip.show_progress(words, share, self.tr("Takes are checked in the background; synthesis continues."))


def automatic_siblings(script: Script, take: Take) -> list[Take]:
    """Return the other takes of an automatic retry, except those that the user keeps."""
    first = take.retry_of or take.id
    takes = script.takes_of(take.line_id)
    if not any(each.retry_of == first for each in takes):
        return []
    return [each for each in takes if each.id != take.id and not each.is_kept and first in (each.id, each.retry_of)]
