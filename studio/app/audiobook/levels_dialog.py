"""Check of audio files against a standard, with correction of those that fail: a panel, and a dialog for any files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.theme.colors import theme_colors
from studio.app.translation import join_phrases
from studio.app.widgets.controls import STRETCH, in_column, in_row
from studio.app.widgets.dialogs import dialog_buttons
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import fit_to_screen
from studio.errors import StudioError
from studio.export.level_check import CheckedAudio, can_fix, check_file, fix_file
from studio.export.standards import STANDARDS, AudioStandard, Criterion
from studio.pipeline.request import Cancelled, RequestControl
from studio.provenance.signing import chosen_signing
from studio.settings_store import Settings

_SIZE = (960, 480)
_SOUND_FILES = "(*.wav *.flac *.mp3 *.ogg *.opus *.m4b *.m4a)"


class LevelsPanel(QWidget):
    """Table of files or chapters with a verdict for each value. Files are measured one after another."""

    def __init__(self, files: Iterable[Path] = (), standard: str = "acx", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._files = list(dict.fromkeys(files))
        self._waiting: list[Path] = []
        self._checked: list[CheckedAudio] = []
        self._control = RequestControl()
        self.standard = QComboBox()
        self.standard.setAccessibleName(self.tr("Standard"))
        for each in STANDARDS.values():
            self.standard.addItem(each.title, each.name)
        self.standard.setCurrentIndex(max(0, self.standard.findData(standard)))
        self.choose_button = QPushButton(self.tr("Choose files…"))
        self.fix_button = QPushButton(self.tr("Fix"))
        self.fix_button.setToolTip(
            self.tr("Master the files that fail. The originals are moved to the folder “originals”.")
        )
        self.summary = QLabel()
        self.bar = QProgressBar()
        self.bar.setAccessibleName(self.tr("Progress of the check"))
        self.problem = ErrorLine()
        self.table = QTableWidget()
        self.table.setAccessibleName(self.tr("Audio levels"))
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # names of chapters begin alike
        self.table.verticalHeader().hide()
        self.choice = QWidget()
        in_row(QLabel(self.tr("Standard")), self.standard, self.choose_button, STRETCH, parent=self.choice, margins=0)
        for button in (self.choose_button, self.fix_button):
            button.setAutoDefault(False)
        below = in_row(self.summary, STRETCH, self.bar, self.fix_button)
        in_column(self.choice, self.problem, (self.table, 1), below, parent=self, margins=0)
        self.standard.currentIndexChanged.connect(self.check)
        self.choose_button.clicked.connect(self._choose)
        self.fix_button.clicked.connect(self.fix)
        self.destroyed.connect(self._control.cancel)
        self.check()

    def show_files(self, files: Iterable[Path]) -> None:
        """Check these files instead of the current ones."""
        self._files = list(dict.fromkeys(files))
        self.check()

    def check(self) -> None:
        """Measure all files."""
        self.problem.clear()
        self._control.cancel()  # a check against another standard may still be running
        self._control = RequestControl()
        self.destroyed.connect(self._control.cancel)
        self._checked = []
        self._waiting = list(self._files)
        self._show()
        self._continue(is_fixing=False)

    def fix(self) -> None:
        """Master the files that fail, and check them again."""
        failing = {each.path for each in self._checked if not each.is_met}
        self._waiting = [path for path in self._files if path in failing and can_fix(path)]
        self._continue(is_fixing=True)

    @property
    def is_busy(self) -> bool:
        return bool(self._waiting)

    def _continue(self, *, is_fixing: bool) -> None:
        self._show_state()
        if not self._waiting:
            return
        path, control = self._waiting[0], self._control
        run_in_background(
            self,
            partial(_check, path, STANDARDS[self.standard.currentData()], control, is_fixing=is_fixing),
            done=partial(self._on_checked, control, path, is_fixing),
            failed=partial(self._on_failed, control, is_fixing),
        )

    def _on_checked(
        self, control: RequestControl, path: Path, is_fixing: bool, found: Sequence[CheckedAudio] | None
    ) -> None:
        if control is not self._control or found is None:
            return
        others = [each for each in self._checked if each.path != path]
        self._checked = sorted([*others, *found], key=lambda each: self._files.index(each.path))
        self._waiting.pop(0)
        self._show()
        self._continue(is_fixing=is_fixing)

    def _on_failed(self, control: RequestControl, is_fixing: bool, error: StudioError) -> None:
        if control is not self._control:
            return
        self.problem.show_error(error)
        self._waiting.pop(0)
        self._continue(is_fixing=is_fixing)

    def _show(self) -> None:
        standard = STANDARDS[self.standard.currentData()]
        columns = [each for each in Criterion if each in standard.limits or each in _ALWAYS_SHOWN]
        self.table.setColumnCount(1 + len(columns))
        has_one_file = len(self._files) == 1 and all(audio.chapter for audio in self._checked)
        subject = self.tr("Chapter") if has_one_file and self._checked else self.tr("File")
        self.table.setHorizontalHeaderLabels([subject, *(self._title(each) for each in columns)])
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.setRowCount(len(self._checked))
        for row, audio in enumerate(self._checked):
            name = QTableWidgetItem(audio.chapter if has_one_file else audio.name)
            name.setToolTip(join_phrases((audio.chapter, str(audio.path))) if audio.chapter else str(audio.path))
            self.table.setItem(row, 0, name)
            for column, criterion in enumerate(columns, 1):
                self.table.setItem(row, column, self._cell(audio, criterion))

    def _cell(self, audio: CheckedAudio, criterion: Criterion) -> QTableWidgetItem:
        """Return a value with its verdict: as a symbol, as a colour, and in words for screen readers."""
        value, finding = _value(audio, criterion), audio.finding(criterion)
        digits = 0 if criterion is Criterion.SAMPLE_RATE else 1
        words = self.tr("silence") if value is None else f"{value:.{digits}f}"
        cell = QTableWidgetItem(words)
        cell.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if finding is not None:
            colors = theme_colors(self.palette())
            cell.setText(f"{'✓' if finding.is_met else '✗'} {words}")
            cell.setForeground(QColor(colors.good if finding.is_met else colors.bad))
            verdict = self.tr("meets the standard") if finding.is_met else self.tr("outside the standard")
            cell.setData(Qt.ItemDataRole.AccessibleTextRole, join_phrases((words, verdict)))
            cell.setToolTip(verdict)
        return cell

    def _show_state(self) -> None:
        num_failing = len({each.path for each in self._checked if not each.is_met})
        self.bar.setVisible(self.is_busy)
        self.bar.setRange(0, max(1, len(self._files)))
        self.bar.setValue(len(self._files) - len(self._waiting))
        fixable = any(not each.is_met and can_fix(each.path) for each in self._checked)
        self.fix_button.setEnabled(fixable and not self.is_busy)
        if not self._files:
            self.summary.setText(self.tr("Choose audio files to check."))
        elif self.is_busy:
            self.summary.setText(self.tr("Measuring {file}").format(file=self._waiting[0].name))
        elif num_failing:
            self.summary.setText(self.tr("%n file(s) do not meet the standard.", "", num_failing))
        else:
            self.summary.setText(self.tr("All files meet the standard."))

    def _title(self, criterion: Criterion) -> str:
        titles = {
            Criterion.RMS: self.tr("RMS (dB)"),
            Criterion.PEAK: self.tr("Peak (dB)"),
            Criterion.TRUE_PEAK: self.tr("True peak (dBTP)"),
            Criterion.FLOOR: self.tr("Floor (dB)"),
            Criterion.LOUDNESS: "LUFS",
            Criterion.HEAD: self.tr("Head (s)"),
            Criterion.TAIL: self.tr("Tail (s)"),
            Criterion.LENGTH: self.tr("Length (s)"),
            Criterion.SAMPLE_RATE: "Hz",
        }
        return titles[criterion]

    def _choose(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(
            self, self.tr("Choose files"), "", f"{self.tr('Audio files')} {_SOUND_FILES}"
        )
        if names:
            self.show_files(map(Path, names))


class LevelsDialog(QDialog):
    """Check of the levels of files that the user chooses."""

    def __init__(self, files: Iterable[Path] = (), standard: str = "acx", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Check audio levels"))
        self.resize(fit_to_screen(*_SIZE))
        self.panel = LevelsPanel(files, standard)
        in_column((self.panel, 1), dialog_buttons(self, QDialogButtonBox.StandardButton.Close), parent=self)


_ALWAYS_SHOWN = frozenset({Criterion.RMS, Criterion.PEAK, Criterion.FLOOR, Criterion.LOUDNESS})


def _value(audio: CheckedAudio, criterion: Criterion) -> float | None:
    finding, levels = audio.finding(criterion), audio.levels
    if finding is not None:
        return finding.value
    others = {
        Criterion.RMS: levels.rms_dbfs,
        Criterion.PEAK: levels.peak_dbfs,
        Criterion.FLOOR: levels.floor_dbfs,
        Criterion.LOUDNESS: levels.loudness_lufs,
    }
    return others[criterion]


def _check(
    path: Path, standard: AudioStandard, control: RequestControl, *, is_fixing: bool
) -> tuple[CheckedAudio, ...] | None:
    """Check a file; master it first if requested. Return None if cancelled."""
    try:
        if is_fixing:
            fix_file(path, standard, signing=chosen_signing(Settings()), check=control.raise_if_cancelled)
        return check_file(path, standard, check=control.raise_if_cancelled)
    except Cancelled:
        return None
