"""Form for the settings of one or several lines: voice, style, sound and name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from operator import attrgetter, eq, is_

from PySide6.QtCore import QRegularExpression, Qt, Signal
from PySide6.QtGui import QRegularExpressionValidator, QStandardItemModel
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from studio.app.inspector.speed_slider import SpeedSlider
from studio.app.inspector.take_rows import quality_description, quality_name
from studio.app.inspector.text_fields import NameField, NoteField, WordsField
from studio.app.script.delegates import CUSTOM_INSTRUCTION, fill_style_box, show_style
from studio.app.script.style_list import StyleList
from studio.app.theme.icons import icon
from studio.app.voices.voice_items import fill_voice_box, row_of_voice
from studio.app.widgets.controls import set_role, text_label
from studio.app.widgets.deferred_page import DeferredPage
from studio.app.widgets.number_field import NumberField
from studio.app.widgets.wide_list_box import WideListBox
from studio.audio.edits import MAX_FADE_SECONDS, MAX_GAIN_DB, MIN_GAIN_DB
from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED
from studio.model.options import Quality
from studio.project.lines import MAX_PAUSE_SECONDS, MAX_SEED, Line, LineStyle
from studio.voices.voice import Voice, name_key

_MIN_NAME = 9  # letters of a voice or style name visible at any width of the dock
_MIN_NUMBER_PIXELS = 72
_ID = attrgetter("id")
_SHOWN_FIELDS = (
    "voice", "style", "speed", "quality", "pause_after_seconds", "gain_db", "fade_in_seconds", "fade_out_seconds",
    "character", "note", "seed", "file_name",
)  # fmt: skip
_DEFAULTS = Line(id="")


class LineSettingsForm(QWidget):
    """Shows the current line, and reports edits of all selected lines."""

    # ids of the lines, field, value, title of the undo step, whether later steps merge
    field_changed = Signal(list, str, object, str, bool)
    speak_requested = Signal()  # speak the selected lines again

    def __init__(self, styles: StyleList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._styles = styles
        self._line: Line | None = None
        self._lines: tuple[Line, ...] = ()  # the lines that edits change: selected and not locked
        self._mixed: frozenset[str] = frozenset()  # the fields in which they differ
        self._voices: tuple[Voice, ...] = ()
        self._is_showing = False
        self._scope = text_label("", "quiet")
        self._voice = WideListBox()
        self._mode = text_label("", "quiet")
        self._style = WideListBox()
        self._instruction_page = DeferredPage(lambda: self._instruction)
        self._quality = QComboBox()
        self._speed = NumberField(minimum=MIN_SPEED, maximum=MAX_SPEED, step=0.05, decimals=2)
        self._speed_slider = SpeedSlider()
        self._is_seed_fixed = QCheckBox(self.tr("Fixed"))
        self._seed = QLineEdit()
        self._seed.setValidator(QRegularExpressionValidator(QRegularExpression(r"\d{1,19}"), self))
        self._pause = NumberField(maximum=MAX_PAUSE_SECONDS, step=0.1, decimals=1)
        self._pause.setSuffix(" " + self.tr("s"))
        self._allows_seed = True
        self._allows_instructions = True
        self._speed_note = text_label("", "warn")
        self._speed_note.hide()
        self._speak_again = QPushButton(icon("retry"), self.tr("Speak again"))
        self._volume = NumberField(minimum=MIN_GAIN_DB, maximum=MAX_GAIN_DB, step=0.5, decimals=1)
        self._volume.setSuffix(" dB")
        self._fade_in = NumberField(maximum=MAX_FADE_SECONDS, step=0.1, decimals=2)
        self._fade_out = NumberField(maximum=MAX_FADE_SECONDS, step=0.1, decimals=2)
        for fade in (self._fade_in, self._fade_out):
            fade.setSuffix(" " + self.tr("s"))
        self._character = NameField()
        self._note = NoteField()
        self._file_name = WordsField(empty_text=self.tr("from the name pattern"))
        self.more = QToolButton(autoRaise=True)  # shows the fields that are seldom used
        self.more.setCheckable(True)
        self.more.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        for box in (self._voice, self._style, self._quality):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(_MIN_NAME)
        for control in (self._voice, self._style, self._quality, self._speed, *self._numbers.values()):
            control.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._mode.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        for number in (self._speed, *self._numbers.values()):
            number.setMinimumWidth(_MIN_NUMBER_PIXELS)
        self._fill_qualities()
        self._lay_out()
        self._connect()
        self.show_lines(None, ())
        self.allow_seed(True)

    def set_voices(self, voices: Sequence[Voice]) -> None:
        self._voices = tuple(voices)
        self._is_showing = True
        fill_voice_box(self._voice, self._voices, self._styles.generation)
        self._is_showing = False
        self._refresh()

    def use_model(self) -> None:
        """Update the voices and the styles, which depend on the model."""
        self.set_voices(self._voices)
        self._is_showing = True
        self._style.clear()
        fill_style_box(self._style, self._styles)
        self._is_showing = False
        self.allow_instructions(self._allows_instructions)
        self._refresh()

    def allow_instructions(self, is_allowed: bool) -> None:
        """Enable styles in the user's own words, which Triton does not support."""
        self._allows_instructions = is_allowed
        place, entries = self._style.findData(CUSTOM_INSTRUCTION), self._style.model()
        if place < 0:  # no model has been loaded
            return
        assert isinstance(entries, QStandardItemModel)
        entries.item(place).setEnabled(is_allowed)
        why_not = "" if is_allowed else self.tr("Not supported by the server")
        self._style.setItemData(place, why_not, Qt.ItemDataRole.ToolTipRole)

    def allow_seed(self, is_allowed: bool) -> None:
        """Enable the seed, which servers of other programs do not support."""
        self._allows_seed = is_allowed
        self._is_seed_fixed.setEnabled(is_allowed)
        self._is_seed_fixed.setToolTip(
            self.tr("With a fixed seed, the same text always gives the same take. Otherwise each take is different.")
            if is_allowed
            else self.tr("Not supported by the server")
        )
        self._refresh()

    def leave(self, line_ids: Sequence[str]) -> None:
        """Report unfinished edits, unless all edited lines are in ``line_ids``."""
        if not {line.id for line in self._lines}.issubset(line_ids):
            self.commit()

    def commit(self) -> None:
        """Report unfinished edits."""
        for field in (self._speed, self._pause, self._volume, self._fade_in, self._fade_out, self._character):
            field.commit()

    def show_lines(self, line: Line | None, selected: Sequence[Line]) -> None:
        """Show the current ``line``, if any; edits apply to the ``selected`` lines."""
        line_id_before, before = self._line.id if self._line else None, self._lines
        self._line = line
        self._lines = tuple(each for each in selected if not each.is_locked)
        if self._lines != before:
            self._mixed = _mixed_fields(self._lines)
        is_other = (line.id if line else None) != line_id_before or not _are_versions(self._lines, before)
        self.setEnabled(line is not None and bool(self._lines))
        if line is None:
            return
        shown = line if not self._lines or any(map(partial(is_, line), self._lines)) else self._lines[0]
        self._is_showing = True
        self._show_scope()
        self._show_voice(shown)
        self._show_style(shown, is_other=is_other)
        self._show_quality(shown)
        self._show_speed(shown)
        self._show_seed(shown, is_other=is_other)
        for name, number in self._numbers.items():
            number.show_number(getattr(shown, name), is_mixed=self._is_mixed(name))
        for name, words in self._texts.items():
            words.show_words(getattr(shown, name) or "", is_mixed=self._is_mixed(name), is_other=is_other)
        self._count_more(shown)
        self._show_mode(line)
        self._is_showing = False

    def suggest_characters(self, names: Callable[[], Iterable[str]]) -> None:
        """Complete the names of characters that ``names`` returns."""
        self._character.known_names = names

    def set_script_quality(self, quality: Quality) -> None:
        """Set the quality of lines that have none of their own."""
        self._quality.setItemText(0, self.tr("Same as script ({quality})").format(quality=quality_name(quality)))

    def show_speed_note(self, note: str) -> None:
        """Show why the chosen take does not have the line's speed; an empty note hides the field."""
        self._speed_note.setText(note)
        self._speed_note.setVisible(bool(note))

    def edit_instruction(self) -> None:
        """Open the field for a custom style instruction."""
        self._style.setCurrentIndex(self._style.findData(CUSTOM_INSTRUCTION))
        self._show_instruction(self._instruction.toPlainText().strip())
        self._show_mode(self._line or _DEFAULTS)
        self._instruction.setFocus()

    @property
    def _numbers(self) -> dict[str, NumberField]:
        """The numeric fields, except speed, by attribute of the line."""
        return {
            "pause_after_seconds": self._pause,
            "gain_db": self._volume,
            "fade_in_seconds": self._fade_in,
            "fade_out_seconds": self._fade_out,
        }

    @property
    def _texts(self) -> dict[str, WordsField | NoteField]:
        return {"character": self._character, "note": self._note, "file_name": self._file_name}

    @cached_property
    def _instruction(self) -> QPlainTextEdit:
        field = QPlainTextEdit()
        field.setAccessibleName(self.tr("Style instruction"))
        field.setTabChangesFocus(True)
        field.setFixedHeight(3 * self.fontMetrics().lineSpacing() + 10)
        field.textChanged.connect(self._on_instruction)
        return field

    def _lay_out(self) -> None:
        form = self._form = QFormLayout(self)
        form.setContentsMargins(12, 8, 12, 4)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow(self._scope)
        rows: tuple[tuple[str, dict[QWidget, str]], ...] = (  # label, accessible names of the controls
            (self.tr("Voice"), {self._voice: self.tr("Voice")}),
            (self.tr("Style"), {self._style: self.tr("Style")}),
            ("", {self._instruction_page: ""}),
            ("", {self._mode: ""}),
            (self.tr("Speed"), {self._speed_slider: self.tr("Speed, slider"), self._speed: self.tr("Speed")}),
            ("", {self._speed_note: ""}),
            (self.tr("Quality"), {self._quality: self.tr("Quality of new takes")}),
            ("", {self._speak_again: self.tr("Speak again")}),
            ("", {self.more: self.tr("More")}),
            (self.tr("Pause after"), {self._pause: self.tr("Pause after the line")}),
            (self.tr("Volume"), {self._volume: self.tr("Volume")}),
            (self.tr("Fade in, out"), {self._fade_in: self.tr("Fade in"), self._fade_out: self.tr("Fade out")}),
            (self.tr("Character"), {self._character: self.tr("Character")}),
            (self.tr("Note"), {self._note: self.tr("Note")}),
            (self.tr("Seed"), {self._is_seed_fixed: self.tr("Fixed seed"), self._seed: self.tr("Seed")}),
            (self.tr("File name"), {self._file_name: self.tr("File name")}),
        )
        for label, controls in rows:
            for control, name in controls.items():
                control.setAccessibleName(name)
            if self.more in controls:
                self._first_row_of_more = form.rowCount() + 1
            form.addRow(label, control if len(controls) == 1 else _side_by_side(*controls))
        self._speak_again.setToolTip(self.tr("Make another reading. Changing the speed stretches the existing takes."))
        self._show_more(self.more.isChecked())

    def _fill_qualities(self) -> None:
        self._quality.setPlaceholderText(self.tr("(mixed)"))
        self._quality.addItem("", None)
        for row, quality in enumerate(Quality, 1):
            self._quality.addItem(quality_name(quality), quality)
            self._quality.setItemData(row, quality_description(quality), Qt.ItemDataRole.ToolTipRole)
        self.set_script_quality(Quality.EXACT)

    def _connect(self) -> None:
        self._voice.activated.connect(
            lambda _: self._report_edit("voice", self._voice.currentData(), self.tr("Change voice"))
        )
        self._style.activated.connect(lambda _: self._on_style_chosen())
        self._quality.activated.connect(
            lambda _: self._report_edit("quality", self._quality.currentData(), self.tr("Change quality"))
        )
        self._speed.number_changed.connect(self._on_speed)
        self._speed_slider.speed_chosen.connect(self._on_speed)
        self.more.toggled.connect(self._show_more)
        self._is_seed_fixed.clicked.connect(self._on_seed_fixed)
        self._seed.textEdited.connect(self._on_seed)
        titles = {
            "pause_after_seconds": self.tr("Change pause"),
            "gain_db": self.tr("Change volume"),
            "fade_in_seconds": self.tr("Change fade"),
            "fade_out_seconds": self.tr("Change fade"),
            "character": self.tr("Change character"),
            "note": self.tr("Change note"),
            "file_name": self.tr("Change file name"),
        }
        for name, number in self._numbers.items():
            number.number_changed.connect(partial(self._on_value, name, titles[name]))
        for name, words in self._texts.items():
            words.words_edited.connect(partial(self._on_words, name, titles[name]))
        self._speak_again.clicked.connect(self.speak_requested)
        self._styles.changed.connect(self.use_model)

    def _report_edit(self, field: str, value: object, title: str, *, merges: bool = False) -> None:
        if not self._is_showing and any(getattr(line, field) != value for line in self._lines):
            self.field_changed.emit([line.id for line in self._lines], field, value, title, merges)

    # Display.

    def _refresh(self) -> None:
        self.show_lines(self._line, self._lines)

    def _is_mixed(self, field: str) -> bool:
        return field in self._mixed

    def _show_more(self, is_shown: bool) -> None:
        for row in range(self._first_row_of_more, self._form.rowCount()):
            self._form.setRowVisible(row, is_shown)
        self.more.setArrowType(Qt.ArrowType.DownArrow if is_shown else Qt.ArrowType.RightArrow)
        self._count_more(self._line or _DEFAULTS)

    def _count_more(self, line: Line) -> None:
        """Show how many of the folded fields are used, so that none has an effect unnoticed."""
        names = (*self._numbers, *self._texts, "seed")
        num_used = sum(self._is_mixed(name) or getattr(line, name) != getattr(_DEFAULTS, name) for name in names)
        is_counted = num_used and not self.more.isChecked()
        self.more.setText(self.tr("More ({count})").format(count=num_used) if is_counted else self.tr("More"))
        self.more.setAccessibleName(self.more.text())

    def _show_scope(self) -> None:
        self._scope.setText(self.tr("Changes apply to %n line(s)", "", len(self._lines)))
        self._scope.setVisible(len(self._lines) > 1)

    def _show_voice(self, line: Line) -> None:
        row = -1 if line.voice is None else row_of_voice(self._voice, line.voice)
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

    def _show_quality(self, line: Line) -> None:
        row = 0 if line.quality is None else 1 + list(Quality).index(line.quality)
        self._quality.setCurrentIndex(-1 if self._is_mixed("quality") else row)

    def _show_speed(self, line: Line) -> None:
        self._speed.show_number(line.speed, is_mixed=self._is_mixed("speed"))
        self._speed_slider.show_speed(line.speed)

    def _show_seed(self, line: Line, *, is_other: bool) -> None:
        is_mixed = self._is_mixed("seed") and len({each.seed is None for each in self._lines}) > 1
        state = Qt.CheckState.Unchecked if line.seed is None else Qt.CheckState.Checked
        self._is_seed_fixed.setTristate(is_mixed)
        self._is_seed_fixed.setCheckState(Qt.CheckState.PartiallyChecked if is_mixed else state)
        self._seed.setEnabled(self._allows_seed and line.seed is not None and not is_mixed)
        self._seed.setPlaceholderText(self.tr("(mixed)") if self._is_mixed("seed") else "")
        wanted = None if self._is_mixed("seed") else line.seed
        is_being_typed = self._seed.hasFocus() and not is_other and self._typed_seed() == wanted
        if not is_being_typed:
            self._seed.setText("" if wanted is None else str(wanted))

    # Editing.

    def _on_style_chosen(self) -> None:
        chosen = self._style.currentData()
        if chosen == CUSTOM_INSTRUCTION:
            self.edit_instruction()
        else:
            self._report_edit("style", LineStyle(preset=chosen or None), self.tr("Change style"))
            self._show_instruction("")
            self._show_mode(self._line or _DEFAULTS)

    def _on_instruction(self) -> None:
        if self._style.currentData() == CUSTOM_INSTRUCTION:
            words = self._instruction.toPlainText().strip()
            self._report_edit("style", LineStyle(instruct=words or None), self.tr("Change style"), merges=True)

    def _show_instruction(self, words: str) -> None:
        is_shown = self._style.currentData() == CUSTOM_INSTRUCTION
        if (is_shown or "_instruction" in self.__dict__) and self._instruction.toPlainText().strip() != words:
            self._instruction.setPlainText(words)
        if is_shown:
            example = self.tr("For example: speak with great joy")
            self._instruction.setPlaceholderText(example if self._styles.follows_instructions else "")
        self._instruction_page.setVisible(is_shown)

    def _on_speed(self, speed: float) -> None:
        self._report_edit("speed", round(speed, 2), self.tr("Change speed"), merges=True)

    def _on_seed_fixed(self) -> None:
        is_fixed = self._is_seed_fixed.isChecked()
        self._report_edit("seed", self._typed_seed() if is_fixed else None, self.tr("Change seed"))

    def _on_seed(self) -> None:
        self._report_edit("seed", self._typed_seed(), self.tr("Change seed"), merges=True)

    def _typed_seed(self) -> int:
        return min(int(self._seed.text() or 0), MAX_SEED)

    def _on_value(self, field: str, title: str, value: float) -> None:
        self._report_edit(field, value, title, merges=True)

    def _on_words(self, field: str, title: str, words: str) -> None:
        """An empty note is an empty string; an empty name is None."""
        self._report_edit(field, words if field == "note" else words or None, title, merges=True)

    def _show_mode(self, line: Line) -> None:
        """Show how the model speaks ``line``, or why it cannot do so as wanted."""
        problem = self._problem_text(line)
        set_role(self._mode, "warn" if problem else "quiet")
        self._mode.setText(problem or self._mode_text(line))
        self._mode.setVisible(len(self._lines) < 2 or self._lacks_instructions(line))

    def _voice_of(self, line: Line) -> Voice | None:
        key = name_key(line.voice or "")
        return next((voice for voice in self._voices if name_key(voice.name) == key), None)

    def _lacks_instructions(self, line: Line) -> bool:
        """Return whether a custom instruction is shown that the model does not follow, or would not once it is typed."""
        is_custom = self._style.currentData() == CUSTOM_INSTRUCTION
        is_empty = not line.style.instruct and not self._styles.follows_instructions
        return is_custom and (is_empty or not self._styles.supports(line.style))

    def _problem_text(self, line: Line) -> str:
        if self._lacks_instructions(line):
            words = (
                self.tr(
                    "This model does not follow instructions in your own words. Choose a style from the list, or download {model}."
                )
                if self._styles.styles
                else self.tr("This model follows no instructions. To use them, download {model}.")
            )
            return words.format(model=self._styles.instructable_model)
        voice = self._voice_of(line)
        if line.voice is not None and voice is None:
            words = self.tr("Voice {name} not found. Choose another voice, or add one with this name.")
            return words.format(name=line.voice)
        if voice is not None and not voice.works_with(self._styles.generation):
            return self.tr("This voice works only with another model. Choose another voice, or load that model.")
        if not self._styles.supports(line.style):
            return self.tr("The model does not have this style, and speaks the line without it.")
        return ""

    def _mode_text(self, line: Line) -> str:
        if line.style.instruct:
            return self.tr("The model follows your instruction.")
        if line.style.preset:
            return self.tr("The model follows the selected style.")
        voice = self._voice_of(line)
        return self.tr("Choose a voice first.") if voice is None else self._likeness_text(voice)

    def _likeness_text(self, voice: Voice) -> str:
        if not voice.clip_seconds:
            return self.tr("Built-in voice of the model, without a recording.")
        if voice.transcript:
            return self.tr("Best likeness: this voice has a transcript.")
        return self.tr("Add a transcript for a closer likeness.")


def _mixed_fields(lines: Sequence[Line]) -> frozenset[str]:
    """Return the names of the fields in which ``lines`` differ."""
    if len(lines) < 2:
        return frozenset()
    values = {name: list(map(attrgetter(name), lines)) for name in _SHOWN_FIELDS}
    return frozenset(name for name, found in values.items() if found.count(found[0]) < len(found))


def _are_versions(lines: Sequence[Line], others: Sequence[Line]) -> bool:
    """Return whether both are versions of the same lines, in the same order."""
    return len(lines) == len(others) and all(map(eq, map(_ID, lines), map(_ID, others)))


def _side_by_side(*widgets: QWidget) -> QWidget:
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    for widget in widgets:
        layout.addWidget(widget, 1)
    return row
