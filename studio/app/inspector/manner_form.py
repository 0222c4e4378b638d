"""Who says the line, and how: the fields of the inspector. Knows only what it is shown."""

from __future__ import annotations

from PySide6.QtCore import QRegularExpression, Qt, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSlider,
    QWidget,
)

from studio.app.inspector.sampling_box import SamplingBox
from studio.app.script.delegates import OWN_WORDS, fill_style_box, show_style
from studio.app.script.style_list import StyleList
from studio.audio.time_stretch import FASTEST_SPEED, SLOWEST_SPEED
from studio.project.lines import LARGEST_SEED, LONGEST_PAUSE_SECONDS, Line, LineStyle

_SHORTEST_NAME = 9  # letters of a voice or a style that are seen however narrow the dock is
_SPEED_STEPS = 20  # of the slider, a unit of speed


class MannerForm(QWidget):
    """Shows one line; what a person changes comes out as the field's name and its new value."""

    field_changed = Signal(str, object, str, bool)  # field, value, title of the step, whether further steps merge

    def __init__(self, styles: StyleList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._styles = styles
        self._line: Line | None = None
        self._has_transcript = False
        self._is_showing = False
        self._voice = QComboBox()
        self._mode = QLabel(wordWrap=True)
        self._mode.setProperty("role", "quiet")
        self._style = QComboBox()
        self._own_words = QPlainTextEdit()
        self._own_words.setPlaceholderText(self.tr("For example: speak with great joy"))
        self._own_words.setTabChangesFocus(True)
        self._own_words.setFixedHeight(3 * self.fontMetrics().lineSpacing() + 10)
        self._speed = QDoubleSpinBox(minimum=SLOWEST_SPEED, maximum=FASTEST_SPEED, singleStep=0.05, decimals=2)
        self._speed_slider = QSlider(Qt.Orientation.Horizontal)
        self._speed_slider.setRange(round(SLOWEST_SPEED * _SPEED_STEPS), round(FASTEST_SPEED * _SPEED_STEPS))
        self._has_own_seed = QCheckBox(self.tr("Always the same"))
        self._seed = QLineEdit()
        self._seed.setValidator(QRegularExpressionValidator(QRegularExpression(r"\d{1,19}"), self))
        self._pause = QDoubleSpinBox(maximum=LONGEST_PAUSE_SECONDS, singleStep=0.1, decimals=1)
        self._pause.setSuffix(" " + self.tr("s"))
        self._file_name = QLineEdit()
        self._file_name.setPlaceholderText(self.tr("by the pattern of the export"))
        self._sampling = SamplingBox()
        for box in (self._voice, self._style):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(_SHORTEST_NAME)
        self._name_controls()
        self._lay_out()
        self._connect()
        self.show_line(None)

    def set_voices(self, names: tuple[str, ...]) -> None:
        self._is_showing = True
        self._voice.clear()
        self._voice.addItems(list(names))
        self._is_showing = False
        self.show_line(self._line, has_transcript=self._has_transcript)

    def restyle(self) -> None:
        """Another model knows other styles."""
        self._is_showing = True
        self._style.clear()
        fill_style_box(self._style, self._styles)
        self._is_showing = False
        self.show_line(self._line, has_transcript=self._has_transcript)

    def show_line(self, line: Line | None, *, has_transcript: bool = False) -> None:
        """None: nothing is chosen. ``has_transcript`` is of the line's voice, and decides the mode."""
        is_other = (line.id if line else None) != (self._line.id if self._line else None)
        self._line = line
        self._has_transcript = has_transcript
        self.setEnabled(line is not None and not line.is_locked)
        if line is None:
            return
        self._is_showing = True
        self._voice.setPlaceholderText(line.voice or self.tr("no voice"))  # of one that is not here
        self._voice.setCurrentIndex(self._voice.findText(line.voice) if line.voice else -1)
        wants_own_words = self._style.currentData() == OWN_WORDS and not is_other and line.style.is_plain
        if not wants_own_words:
            show_style(self._style, line.style)
        self._show_own_words(line.style.instruct or "")
        self._speed.setValue(line.speed)
        self._speed_slider.setValue(round(line.speed * _SPEED_STEPS))
        self._has_own_seed.setChecked(line.seed is not None)
        self._seed.setText("" if line.seed is None else str(line.seed))
        self._seed.setEnabled(line.seed is not None)
        self._pause.setValue(line.pause_after_seconds)
        self._file_name.setText(line.file_name or "")
        self._sampling.show_options(line.sampling)
        self._mode.setText(self._mode_words(line, has_transcript))
        self._is_showing = False

    def write_own_words(self) -> None:
        """To where free words about the style are written."""
        self._style.setCurrentIndex(self._style.findData(OWN_WORDS))
        self._own_words.show()
        self._own_words.setFocus()

    # Inside.

    def _name_controls(self) -> None:
        for control, name in (
            (self._voice, self.tr("Voice")),
            (self._style, self.tr("Style")),
            (self._own_words, self.tr("Style in my own words")),
            (self._speed, self.tr("Speed")),
            (self._speed_slider, self.tr("Speed, slider")),
            (self._has_own_seed, self.tr("Always the same seed")),
            (self._seed, self.tr("Seed")),
            (self._pause, self.tr("Pause after the line")),
            (self._file_name, self.tr("File name")),
        ):
            control.setAccessibleName(name)
        self._has_own_seed.setToolTip(
            self.tr("With the same seed the same text becomes the same speech; otherwise each take is a new reading.")
        )

    def _lay_out(self) -> None:
        form = QFormLayout(self)
        form.setContentsMargins(10, 8, 10, 4)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow(self.tr("Voice"), self._voice)
        form.addRow(self.tr("Style"), self._style)
        form.addRow("", self._own_words)
        form.addRow("", self._mode)
        form.addRow(self.tr("Speed"), _side_by_side(self._speed_slider, self._speed))
        form.addRow(self.tr("Seed"), _side_by_side(self._has_own_seed, self._seed))
        form.addRow(self.tr("Pause after"), self._pause)
        form.addRow(self.tr("File name"), self._file_name)
        form.addRow(self._sampling)

    def _connect(self) -> None:
        self._voice.activated.connect(lambda _: self._tell("voice", self._voice.currentText(), self.tr("Change voice")))
        self._style.activated.connect(lambda _: self._on_style_chosen())
        self._own_words.textChanged.connect(self._on_own_words)
        self._speed.valueChanged.connect(self._on_speed)
        self._speed_slider.valueChanged.connect(lambda value: self._on_speed(value / _SPEED_STEPS))
        self._has_own_seed.toggled.connect(self._on_own_seed)
        self._seed.editingFinished.connect(self._on_seed)
        self._pause.valueChanged.connect(
            lambda value: self._tell("pause_after_seconds", round(value, 1), self.tr("Change pause"), merges=True)
        )
        self._file_name.editingFinished.connect(
            lambda: self._tell("file_name", self._file_name.text().strip() or None, self.tr("Change file name"))
        )
        self._sampling.changed.connect(
            lambda options: self._tell("sampling", options, self.tr("Change sampling"), merges=True)
        )
        self._styles.changed.connect(self.restyle)

    def _tell(self, field: str, value: object, title: str, *, merges: bool = False) -> None:
        if not self._is_showing and self._line is not None and getattr(self._line, field) != value:
            self.field_changed.emit(field, value, title, merges)

    def _on_style_chosen(self) -> None:
        chosen = self._style.currentData()
        if chosen == OWN_WORDS:
            self.write_own_words()
        else:
            self._tell("style", LineStyle(preset=chosen or None), self.tr("Change style"))
            self._show_own_words("")

    def _on_own_words(self) -> None:
        if self._style.currentData() == OWN_WORDS:
            words = self._own_words.toPlainText().strip()
            self._tell("style", LineStyle(instruct=words or None), self.tr("Change style"), merges=True)

    def _show_own_words(self, words: str) -> None:
        if self._own_words.toPlainText().strip() != words:
            self._own_words.setPlainText(words)
        self._own_words.setVisible(self._style.currentData() == OWN_WORDS)

    def _on_speed(self, speed: float) -> None:
        self._tell("speed", round(speed, 2), self.tr("Change speed"), merges=True)

    def _on_own_seed(self, has_own: bool) -> None:
        self._tell("seed", (int(self._seed.text() or 0) if has_own else None), self.tr("Change seed"))

    def _on_seed(self) -> None:
        if self._has_own_seed.isChecked():
            self._tell("seed", min(int(self._seed.text() or 0), LARGEST_SEED), self.tr("Change seed"))

    def _mode_words(self, line: Line, has_transcript: bool) -> str:
        if line.voice is not None and self._voice.findText(line.voice) < 0:
            return self.tr("There is no voice called {name} here. Choose another, or add one of this name.").format(
                name=line.voice
            )
        if line.style.instruct:
            return self.tr("Instruct mode: the model follows your words, and takes the voice's sound as it is.")
        if line.style.preset:
            return self.tr("Instruct mode, because a style is chosen.")
        if line.voice is None:
            return self.tr("Choose a voice first.")
        if has_transcript:
            return self.tr("Zero-shot mode: the voice has a transcript, which gives the best likeness.")
        return self.tr("Cross-lingual mode: the voice has no transcript. With one the likeness gains.")


def _side_by_side(first: QWidget, second: QWidget) -> QWidget:
    both = QWidget()
    layout = QHBoxLayout(both)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(first, 1)
    layout.addWidget(second, 1)
    return both
