"""Form for the settings of one or several lines: voice, style, speed, seed, pause, file name and sampling."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRegularExpression, Qt, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from studio.app.script.delegates import CUSTOM_INSTRUCTION, fill_style_box, show_style
from studio.app.script.style_list import StyleList
from studio.app.widgets.number_field import NumberField
from studio.audio.time_stretch import FASTEST_SPEED, SLOWEST_SPEED
from studio.model.config import SamplingOptions
from studio.project.lines import LARGEST_SEED, LONGEST_PAUSE_SECONDS, Line, LineStyle
from studio.voices.voice import name_key

_SHORTEST_NAME = 9  # letters of a voice or style name visible at any width of the dock
_SPEED_STEPS = 20  # slider steps per unit of speed
_INDENT_PIXELS = 20


class LineSettingsForm(QWidget):
    """Shows the current line, and reports edits of all selected lines."""

    # ids of the lines, field, value, title of the undo step, whether further steps merge
    field_changed = Signal(list, str, object, str, bool)

    def __init__(self, styles: StyleList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._styles = styles
        self._line: Line | None = None
        self._lines: tuple[Line, ...] = ()  # the lines that edits change: the selected ones that are not locked
        self._has_transcript = False
        self._is_showing = False
        self._scope = QLabel(wordWrap=True)
        self._scope.setProperty("role", "quiet")
        self._voice = QComboBox()
        self._mode = QLabel(wordWrap=True)
        self._mode.setProperty("role", "quiet")
        self._style = QComboBox()
        self._instruction = QPlainTextEdit()
        self._instruction.setPlaceholderText(self.tr("For example: speak with great joy"))
        self._instruction.setTabChangesFocus(True)
        self._instruction.setFixedHeight(3 * self.fontMetrics().lineSpacing() + 10)
        self._speed = NumberField(minimum=SLOWEST_SPEED, maximum=FASTEST_SPEED, step=0.05, decimals=2)
        self._speed_slider = QSlider(Qt.Orientation.Horizontal)
        self._speed_slider.setRange(round(SLOWEST_SPEED * _SPEED_STEPS), round(FASTEST_SPEED * _SPEED_STEPS))
        self._is_seed_fixed = QCheckBox(self.tr("Fixed"))
        self._seed = QLineEdit()
        self._seed.setValidator(QRegularExpressionValidator(QRegularExpression(r"\d{1,19}"), self))
        self._pause = NumberField(maximum=LONGEST_PAUSE_SECONDS, step=0.1, decimals=1)
        self._pause.setSuffix(" " + self.tr("s"))
        self._file_name = QLineEdit()
        self._sampling = SamplingOptionsBox()
        for box in (self._voice, self._style):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(_SHORTEST_NAME)
        self._lay_out()
        self._connect()
        self.show_lines(None, ())

    def set_voices(self, names: tuple[str, ...]) -> None:
        self._is_showing = True
        self._voice.clear()
        self._voice.addItems(list(names))
        self._is_showing = False
        self._refresh()

    def refresh_styles(self) -> None:
        """Update the styles, which depend on the model."""
        self._is_showing = True
        self._style.clear()
        fill_style_box(self._style, self._styles)
        self._is_showing = False
        self._refresh()

    def leave(self, line_ids: Sequence[str]) -> None:
        """Report unfinished edits, unless all edited lines are in ``line_ids``."""
        if {line.id for line in self._lines} - set(line_ids):
            self.commit()

    def commit(self) -> None:
        """Report unfinished edits."""
        self._speed.commit()
        self._pause.commit()
        self._sampling.commit()

    def show_lines(self, line: Line | None, selected: Sequence[Line], *, has_transcript: bool = False) -> None:
        """Show the current ``line``, if any; edits apply to the ``selected`` lines.

        ``has_transcript`` tells whether the line's voice has a transcript; the displayed mode depends on it.
        """
        ids_before = self._shown_ids
        self._line = line
        self._lines = tuple(each for each in selected if not each.is_locked)
        is_other = self._shown_ids != ids_before
        self._has_transcript = has_transcript
        self.setEnabled(line is not None and bool(self._lines))
        if line is None:
            return
        shown = line if line in self._lines or not self._lines else self._lines[0]
        self._is_showing = True
        self._show_scope()
        self._show_voice(shown)
        self._show_style(shown, is_other=is_other)
        self._show_speed(shown)
        self._show_seed(shown, is_other=is_other)
        self._pause.show_number(shown.pause_after_seconds, is_mixed=self._is_mixed("pause_after_seconds"))
        self._show_file_name(shown, is_other=is_other)
        self._sampling.show_options(shown.sampling, is_mixed=self._is_mixed("sampling"))
        self._mode.setText(self._mode_text(line, has_transcript))
        self._mode.setVisible(len(self._lines) < 2)
        self._is_showing = False

    def edit_instruction(self) -> None:
        """Open the field for a custom style instruction."""
        self._style.setCurrentIndex(self._style.findData(CUSTOM_INSTRUCTION))
        self._instruction.show()
        self._instruction.setFocus()

    def _lay_out(self) -> None:
        form = QFormLayout(self)
        form.setContentsMargins(10, 8, 10, 4)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow(self._scope)
        rows: tuple[tuple[str, dict[QWidget, str]], ...] = (  # label, and accessible names of the controls
            (self.tr("Voice"), {self._voice: self.tr("Voice")}),
            (self.tr("Style"), {self._style: self.tr("Style")}),
            ("", {self._instruction: self.tr("Style instruction")}),
            ("", {self._mode: ""}),
            (self.tr("Speed"), {self._speed_slider: self.tr("Speed, slider"), self._speed: self.tr("Speed")}),
            (self.tr("Seed"), {self._is_seed_fixed: self.tr("Fixed seed"), self._seed: self.tr("Seed")}),
            (self.tr("Pause after"), {self._pause: self.tr("Pause after the line")}),
            (self.tr("File name"), {self._file_name: self.tr("File name")}),
        )
        for label, controls in rows:
            for control, name in controls.items():
                control.setAccessibleName(name)
            form.addRow(label, control if len(controls) == 1 else _side_by_side(*controls))
        form.addRow(self._sampling)
        self._is_seed_fixed.setToolTip(
            self.tr("With a fixed seed, the same text always gives the same take. Otherwise each take is different.")
        )

    def _connect(self) -> None:
        self._voice.activated.connect(
            lambda _: self._report_edit("voice", self._voice.currentText(), self.tr("Change voice"))
        )
        self._style.activated.connect(lambda _: self._on_style_chosen())
        self._instruction.textChanged.connect(self._on_instruction)
        self._speed.number_changed.connect(self._on_speed)
        self._speed_slider.valueChanged.connect(lambda value: self._on_speed(value / _SPEED_STEPS))
        self._is_seed_fixed.clicked.connect(self._on_seed_fixed)
        self._seed.textEdited.connect(self._on_seed)
        self._pause.number_changed.connect(
            lambda value: self._report_edit("pause_after_seconds", value, self.tr("Change pause"), merges=True)
        )
        self._file_name.textEdited.connect(self._on_file_name)
        self._sampling.changed.connect(
            lambda options: self._report_edit("sampling", options, self.tr("Change sampling"), merges=True)
        )
        self._styles.changed.connect(self.refresh_styles)

    def _report_edit(self, field: str, value: object, title: str, *, merges: bool = False) -> None:
        if not self._is_showing and any(getattr(line, field) != value for line in self._lines):
            self.field_changed.emit([line.id for line in self._lines], field, value, title, merges)

    # Display.

    def _refresh(self) -> None:
        self.show_lines(self._line, self._lines, has_transcript=self._has_transcript)

    @property
    def _shown_ids(self) -> tuple[str | None, ...]:
        return (self._line.id if self._line else None, *(line.id for line in self._lines))

    def _is_mixed(self, field: str) -> bool:
        return len({getattr(line, field) for line in self._lines}) > 1

    def _show_scope(self) -> None:
        self._scope.setText(self.tr("Changes apply to %n line(s)", "", len(self._lines)))
        self._scope.setVisible(len(self._lines) > 1)

    def _show_voice(self, line: Line) -> None:
        row = -1 if line.voice is None else self._row_of_voice(line.voice)
        is_mixed = self._is_mixed("voice")
        missing = line.voice or self.tr("no voice")
        self._voice.setPlaceholderText(self.tr("(mixed)") if is_mixed else missing)
        self._voice.setCurrentIndex(-1 if is_mixed else row)

    def _show_style(self, line: Line, *, is_other: bool) -> None:
        is_mixed = self._is_mixed("style")
        has_no_instruction = is_mixed or line.style.is_plain
        wants_instruction = self._style.currentData() == CUSTOM_INSTRUCTION and not is_other and has_no_instruction
        if is_mixed and not wants_instruction:
            self._style.setPlaceholderText(self.tr("(mixed)"))
            self._style.setCurrentIndex(-1)
        elif not wants_instruction:
            show_style(self._style, self._styles, line.style)
        self._show_instruction("" if is_mixed else line.style.instruct or "")

    def _show_speed(self, line: Line) -> None:
        self._speed.show_number(line.speed, is_mixed=self._is_mixed("speed"))
        self._speed_slider.setValue(round(line.speed * _SPEED_STEPS))

    def _show_seed(self, line: Line, *, is_other: bool) -> None:
        is_mixed = len({each.seed is None for each in self._lines}) > 1
        state = Qt.CheckState.Unchecked if line.seed is None else Qt.CheckState.Checked
        self._is_seed_fixed.setTristate(is_mixed)
        self._is_seed_fixed.setCheckState(Qt.CheckState.PartiallyChecked if is_mixed else state)
        self._seed.setEnabled(line.seed is not None and not is_mixed)
        self._seed.setPlaceholderText(self.tr("(mixed)") if self._is_mixed("seed") else "")
        wanted = None if self._is_mixed("seed") else line.seed
        is_being_typed = self._seed.hasFocus() and not is_other and self._typed_seed() == wanted
        if not is_being_typed:
            self._seed.setText("" if wanted is None else str(wanted))

    def _show_file_name(self, line: Line, *, is_other: bool) -> None:
        is_mixed = self._is_mixed("file_name")
        from_pattern = self.tr("from the export's name pattern")
        self._file_name.setPlaceholderText(self.tr("(mixed)") if is_mixed else from_pattern)
        wanted = None if is_mixed else line.file_name
        is_being_typed = self._file_name.hasFocus() and not is_other and self._typed_file_name() == wanted
        if not is_being_typed:
            self._file_name.setText(wanted or "")

    def _row_of_voice(self, name: str) -> int:
        """Return the row of a voice, ignoring case as the library does; -1 if there is none."""
        rows = range(self._voice.count())
        return next((row for row in rows if name_key(self._voice.itemText(row)) == name_key(name)), -1)

    # Editing.

    def _on_style_chosen(self) -> None:
        chosen = self._style.currentData()
        if chosen == CUSTOM_INSTRUCTION:
            self.edit_instruction()
        else:
            self._report_edit("style", LineStyle(preset=chosen or None), self.tr("Change style"))
            self._show_instruction("")

    def _on_instruction(self) -> None:
        if self._style.currentData() == CUSTOM_INSTRUCTION:
            words = self._instruction.toPlainText().strip()
            self._report_edit("style", LineStyle(instruct=words or None), self.tr("Change style"), merges=True)

    def _show_instruction(self, words: str) -> None:
        if self._instruction.toPlainText().strip() != words:
            self._instruction.setPlainText(words)
        self._instruction.setVisible(self._style.currentData() == CUSTOM_INSTRUCTION)

    def _on_speed(self, speed: float) -> None:
        self._report_edit("speed", round(speed, 2), self.tr("Change speed"), merges=True)

    def _on_seed_fixed(self) -> None:
        is_fixed = self._is_seed_fixed.isChecked()
        self._report_edit("seed", self._typed_seed() if is_fixed else None, self.tr("Change seed"))

    def _on_seed(self) -> None:
        self._report_edit("seed", self._typed_seed(), self.tr("Change seed"), merges=True)

    def _typed_seed(self) -> int:
        return min(int(self._seed.text() or 0), LARGEST_SEED)

    def _on_file_name(self) -> None:
        self._report_edit("file_name", self._typed_file_name(), self.tr("Change file name"), merges=True)

    def _typed_file_name(self) -> str | None:
        return self._file_name.text().strip() or None

    def _mode_text(self, line: Line, has_transcript: bool) -> str:
        if line.voice is not None and self._row_of_voice(line.voice) < 0:
            words = self.tr("Voice {name} not found. Choose another voice, or add one with this name.")
            return words.format(name=line.voice)
        if line.style.instruct:
            return self.tr("Instruct mode: the model follows your instruction.")
        if line.style.preset:
            return self.tr("Instruct mode: a style is selected.")
        if line.voice is None:
            return self.tr("Choose a voice first.")
        if has_transcript:
            return self.tr("Zero-shot mode. Best likeness: this voice has a transcript.")
        return self.tr("Cross-lingual mode. Add a transcript for a closer likeness.")


def _side_by_side(*widgets: QWidget) -> QWidget:
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    for widget in widgets:
        layout.addWidget(widget, 1)
    return row


class SamplingOptionsBox(QWidget):
    """Custom sampling options of lines. While the box is not checked, the defaults of the released models apply."""

    changed = Signal(object)  # SamplingOptions or None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_custom = QCheckBox(self.tr("Custom sampling"))
        self._top_p = NumberField(minimum=0.01, maximum=1.0, step=0.05, decimals=2)
        self._top_k = NumberField(minimum=1, maximum=1000, decimals=0)
        self._window = NumberField(minimum=1, maximum=1000, decimals=0)
        self._ratio = NumberField(minimum=0.01, maximum=1.0, step=0.05, decimals=2)
        self._fields = (self._top_p, self._top_k, self._window, self._ratio)
        names_and_tips = (
            (self.tr("Top p"), self.tr("Cumulative probability kept: lower is calmer, higher is livelier")),
            (self.tr("Top k"), self.tr("Maximum number of candidate tokens")),
            (self.tr("Repetition window"), self.tr("Number of recent tokens checked for repetition")),
            (self.tr("Repetition limit"), self.tr("Largest fraction of one token in the window")),
        )
        self._inside = QWidget()
        form = QFormLayout(self._inside)
        form.setContentsMargins(_INDENT_PIXELS, 0, 0, 0)
        for field, (name, tip) in zip(self._fields, names_and_tips, strict=True):
            field.setAccessibleName(name)
            field.setToolTip(tip)
            field.number_changed.connect(self._on_number)
            form.addRow(name, field)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._is_custom)
        column.addWidget(self._inside)
        self._is_custom.clicked.connect(self._on_clicked)
        self.show_options(None)

    def show_options(self, options: SamplingOptions | None, *, is_mixed: bool = False) -> None:
        """Show ``options``, or the defaults for None. If ``is_mixed``, the selected lines have different options."""
        state = Qt.CheckState.Checked if options is not None else Qt.CheckState.Unchecked
        self._is_custom.setTristate(is_mixed)
        self._is_custom.setCheckState(Qt.CheckState.PartiallyChecked if is_mixed else state)
        self._inside.setVisible(options is not None and not is_mixed)
        shown = options or SamplingOptions()
        values = (shown.top_p, shown.top_k, shown.window_tokens, shown.repetition_ratio)
        for field, value in zip(self._fields, values, strict=True):
            field.show_number(value)

    def commit(self) -> None:
        """Report unfinished edits."""
        for field in self._fields:
            field.commit()

    def _on_clicked(self) -> None:
        is_custom = self._is_custom.isChecked()
        self._inside.setVisible(is_custom)
        self.changed.emit(self._options() if is_custom else None)

    def _on_number(self) -> None:
        if self._is_custom.isChecked():
            self.changed.emit(self._options())

    def _options(self) -> SamplingOptions:
        return SamplingOptions(
            top_p=round(self._top_p.value(), 2),
            top_k=round(self._top_k.value()),
            window_tokens=round(self._window.value()),
            repetition_ratio=round(self._ratio.value(), 2),
        )
