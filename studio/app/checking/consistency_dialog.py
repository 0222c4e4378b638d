"""Dialog that shows how consistent the voices of a script are, and has outliers spoken again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QDialogButtonBox, QPushButton, QWidget

from studio.app.background import run_in_background
from studio.app.checking.automatic_retries import AutomaticRetries
from studio.app.checking.dot_chart import DotChart
from studio.app.checking.take_check_queue import TakeCheckQueue
from studio.app.script.project_editor import ProjectEditor
from studio.app.translation import join_sentences
from studio.app.widgets.controls import STRETCH, in_column, in_row, text_label
from studio.app.widgets.dialogs import dialog_buttons
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import fit_to_screen
from studio.project.changes import EditDetails
from studio.project.consistency import Consistency, analyse, best_targets, example_targets
from studio.project.details import VoiceRole
from studio.project.script import Script
from studio.take_checks.records import VoiceTarget

_SIZE = (920, 620)
_REFRESH_MS = 250


class ConsistencyDialog(QDialog):
    """Non-modal dialog for all lines of the open script. It follows edits and new takes."""

    line_chosen = Signal(str)

    def __init__(
        self,
        editor: ProjectEditor,
        checker: TakeCheckQueue,
        retries: AutomaticRetries,
        selected_line_ids: Callable[[], Sequence[str]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._editor = editor
        self._checker = checker
        self._retries = retries
        self._selected_line_ids = selected_line_ids
        self._found: Consistency | None = None
        self.setWindowTitle(self.tr("Consistency"))
        self.resize(fit_to_screen(*_SIZE))
        self.summary = text_label()
        self.role = QComboBox()
        self.role.setAccessibleName(self.tr("Voice"))
        self.chart = DotChart()
        self.details = text_label(role="quiet")
        self._problem = ErrorLine()
        self.keeps_targets = QCheckBox(self.tr("Check new takes against the targets"))
        self.keeps_targets.setToolTip(
            self.tr("Takes outside the targets are marked, and spoken again like other faulty takes")
        )
        self.example_button = QPushButton(self.tr("Selected lines as example"))
        self.example_button.setToolTip(self.tr("Set the targets to the takes of the lines selected in the script"))
        self.measure_button = QPushButton(self.tr("Measure takes"))
        self.next_button = QPushButton(self.tr("Next outlier"))
        self.repair_button = QPushButton(self.tr("Speak outliers again"))
        for button in (self.example_button, self.measure_button, self.next_button, self.repair_button):
            button.setAutoDefault(False)
        buttons = dialog_buttons(self, QDialogButtonBox.StandardButton.Close)
        in_column(
            in_row((self.summary, 1), self.measure_button, self.role),
            (self.chart, 1),
            self.details,
            self._problem,
            in_row(self.keeps_targets, self.example_button, STRETCH),
            in_row(self.next_button, self.repair_button, STRETCH, buttons),
            parent=self,
        )
        self._timer = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._connect_signals()
        self.refresh()

    def refresh(self) -> None:
        """Compare all takes on a background thread, and show the result."""
        script = self._editor.script
        run_in_background(
            self, partial(analyse, script), done=partial(self._show, script), failed=self._problem.show_error
        )

    def repair(self) -> None:
        """Speak the lines of the shown roles that are outside their targets again."""
        if self._found is None:
            return
        if not self._editor.script.details.targets:
            self._set_targets(self._found.targets)
        self._retries.speak_outliers([each.line.id for each in self._found.drifting if self._is_shown(each.role)])

    def measure(self) -> None:
        """Check the takes without measures again."""
        if self._found is not None:
            self._checker.check([take.id for take in self._found.unmeasured])

    def show_current_line(self, line_id: str | None) -> None:
        """Mark the current line of the script."""
        if line_id is not None:
            self.chart.choose(line_id)
            self._show_details()

    def _connect_signals(self) -> None:
        self._timer.timeout.connect(self.refresh)
        self._editor.script_changed.connect(self._timer.start)
        self._editor.project_replaced.connect(self._timer.start)
        self._checker.changed.connect(self._show_state)
        self.chart.line_chosen.connect(self.line_chosen)
        self.chart.line_chosen.connect(self._show_details)
        self.role.currentIndexChanged.connect(self._show_lines)
        self.keeps_targets.clicked.connect(self._keep_targets)
        self.example_button.clicked.connect(self._use_example)
        self.measure_button.clicked.connect(self.measure)
        self.next_button.clicked.connect(self.chart.go_to_next_drift)
        self.repair_button.clicked.connect(self.repair)

    def _show(self, script: Script, found: Consistency) -> None:
        if script is not self._editor.script:
            return  # ``script_changed`` has started the timer
        self._found = found
        self._problem.clear()
        shown: VoiceRole | None = self.role.currentData()
        with QSignalBlocker(self.role):
            self.role.clear()
            self.role.addItem(self.tr("All voices"), None)
            for role in found.targets:
                self.role.addItem(_role_name(role), role)
            roles = [self.role.itemData(row) for row in range(self.role.count())]
            self.role.setCurrentIndex(roles.index(shown) if shown in roles else 0)
        self.role.setVisible(len(found.targets) > 1)
        self._show_lines()

    def _show_lines(self) -> None:
        if self._found is not None:
            self.chart.show_lines([each for each in self._found.lines if self._is_shown(each.role)])
            self._show_details()
            self._show_state()

    def _is_shown(self, role: VoiceRole) -> bool:
        return self.role.currentData() in (None, role)

    def _show_details(self) -> None:
        current = self.chart.current
        hint = self.tr("Each dot is a line, the band its target, and the curve the median. Diamonds are outliers.")
        self.details.setText(hint if current is None else self.chart.words_of(current))

    def _show_state(self) -> None:
        found = self._found
        if found is None:
            return
        lines = [each for each in found.lines if self._is_shown(each.role)]
        num_drifting = sum(bool(each.drifts) for each in lines)
        words = [
            self.tr("{count} of {total} lines differ from their targets.").format(count=num_drifting, total=len(lines))
            if lines
            else self.tr("No line has a measured take.")
        ]
        if found.num_headings:
            words.append(self.tr("%n heading(s) are left out.", "", found.num_headings))
        if self._checker.num_waiting:
            words.append(self.tr("Checking %n take(s).", "", self._checker.num_waiting))
        elif found.unmeasured:
            words.append(self.tr("%n take(s) have not been measured.", "", len(found.unmeasured)))
        self.summary.setText(join_sentences(words))
        self.measure_button.setVisible(bool(found.unmeasured) and not self._checker.num_waiting)
        self.next_button.setEnabled(bool(num_drifting))
        self.repair_button.setEnabled(bool(num_drifting) and self._checker.is_on)
        self.repair_button.setToolTip("" if self._checker.is_on else self.tr("Checks of takes are off in the settings"))
        self.keeps_targets.setEnabled(bool(found.targets))
        self.keeps_targets.setChecked(bool(self._editor.script.details.targets))
        self.example_button.setEnabled(bool(found.targets))

    def _keep_targets(self, is_kept: bool) -> None:
        self._set_targets(best_targets(self._editor.script) if is_kept else {})

    def _use_example(self) -> None:
        script = self._editor.script
        usual = dict(script.details.targets) or dict(best_targets(script))
        self._set_targets(usual | dict(example_targets(script, set(self._selected_line_ids()))))

    def _set_targets(self, targets: Mapping[VoiceRole, VoiceTarget]) -> None:
        details = replace(self._editor.script.details, targets=targets)
        if details != self._editor.script.details:
            self._editor.push(EditDetails(details), self.tr("Set targets"))


def _role_name(role: VoiceRole) -> str:
    """Return the name of a role in the list: character, voice and style."""
    parts = (role.character, role.voice, role.style.preset or role.style.instruct or "")
    return " · ".join(dict.fromkeys(part for part in parts if part))
