"""Takes side by side: heard in turns at one place and one loudness, and chosen by ear."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QLocale, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPalette, QShortcut
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from studio.app.playback.comparison import Comparison, ComparisonEntry
from studio.app.theme.icons import icon
from studio.app.widgets.elided_label import ElidedLabel
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import fit_to_screen

_STEPS = 1000
_LETTER_WIDTH = 76


class CompareDialog(QDialog):
    """``preferred`` is the take that the user wants; its name is shown from then on.

    ``chosen_take`` and ``num_takes`` return what the line has now: takes may be made and chosen while this is open.
    """

    preferred = Signal(str)
    blindness_changed = Signal(bool)

    def __init__(
        self,
        comparison: Comparison,
        text: str,
        *,
        chosen_take: Callable[[], str | None],
        num_takes: Callable[[], int],
        parent: QWidget | None,
    ) -> None:
        super().__init__(parent)
        self._comparison = comparison
        self._chosen_take = chosen_take
        self._num_takes = num_takes
        self._has_decided = False
        self._letters: list[QPushButton] = []
        self._details: list[QLabel] = []
        self._text = ElidedLabel(text)
        self._count = _quiet("")
        self._place = QProgressBar(maximum=_STEPS, textVisible=False)
        self._play = QPushButton()
        self._next = QPushButton(icon("compare"), self.tr("Next (X)"))
        self._turn = QPushButton(icon("play-all"), self.tr("All in turn (R)"))
        self._blind = QCheckBox(self.tr("Hide which take is which until I prefer one"))
        self._levels = _quiet(self.tr("Reading the takes…"))
        self._outcome = QLabel(wordWrap=True)
        self._problem = ErrorLine()
        self._buttons = QDialogButtonBox()
        self._prefer = QPushButton(icon("state-ready"), self.tr("Prefer this one"))
        self._close = QPushButton(self.tr("Close"))
        self.setWindowTitle(self.tr("Compare takes"))
        self._lay_out()
        self._name_controls()
        self._connect()
        self.show_takes()
        self._show_heard()

    # What is laid out.

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setColumnStretch(1, 1)
        grid.setHorizontalSpacing(12)
        for row, contender in enumerate(self._comparison.contenders):
            letter = QPushButton(contender.letter, autoDefault=False)
            letter.setCheckable(True)
            letter.setFixedWidth(_LETTER_WIDTH)
            details = QLabel(wordWrap=True)
            self._letters.append(letter)
            self._details.append(details)
            grid.addWidget(letter, row, 0)
            grid.addWidget(details, row, 1)
        self._place.setFixedHeight(8)
        controls = QHBoxLayout()
        for button in (self._play, self._next, self._turn):
            button.setAutoDefault(False)
            controls.addWidget(button)
        controls.addStretch(1)
        self._prefer.setDefault(True)
        self._prefer.setEnabled(False)  # until there is something to hear
        self._buttons.addButton(self._prefer, QDialogButtonBox.ButtonRole.ActionRole)
        self._buttons.addButton(self._close, QDialogButtonBox.ButtonRole.RejectRole)
        column = QVBoxLayout(self)
        column.setSpacing(10)
        column.addWidget(self._text)
        column.addLayout(grid)
        column.addWidget(self._count)
        column.addWidget(self._place)
        column.addLayout(controls)
        column.addWidget(self._blind)
        column.addWidget(self._levels)
        column.addWidget(self._outcome)
        column.addWidget(self._problem)
        column.addStretch(1)
        column.addWidget(_quiet(self._keys_in_words()))
        column.addWidget(self._buttons)
        self.resize(fit_to_screen(560, self.sizeHint().height()))

    def _keys_in_words(self) -> str:
        letters = ", ".join(contender.letter for contender in self._comparison.contenders)
        return self.tr(
            "{letters}: hear that one, from the place where the other is. X: the next. Space: play or stop. "
            "R: all in turn. Enter: prefer."
        ).format(letters=letters)

    def _name_controls(self) -> None:
        self._place.setAccessibleName(self.tr("Place in the take"))
        self._blind.setChecked(self._comparison.is_blind)
        self._prefer.setToolTip(self.tr("The one that is heard becomes the take of the line; undo takes it back."))

    def _connect(self) -> None:
        comparison = self._comparison
        for index, letter in enumerate(self._letters):
            letter.clicked.connect(partial(self._hear, index))
            self._on_key(letter.text(), partial(self._hear, index))
        self._on_key("X", comparison.hear_next)
        self._on_key("R", comparison.hear_in_turn)
        self._on_key("Space", comparison.toggle)
        self._play.clicked.connect(comparison.toggle)
        self._next.clicked.connect(comparison.hear_next)
        self._turn.clicked.connect(comparison.hear_in_turn)
        self._blind.toggled.connect(self._on_blind)
        self._prefer.clicked.connect(self._on_preferred)
        self._close.clicked.connect(self.reject)
        comparison.ready.connect(self._show_levels)
        comparison.changed.connect(self._show_heard)
        comparison.moved.connect(self._show_place)
        comparison.failed.connect(self._problem.show_error)

    def _on_key(self, key: str, call: Callable[[], object]) -> None:
        QShortcut(QKeySequence(key), self).activated.connect(call)

    # What is shown.

    @property
    def details(self) -> list[str]:
        """What is told of each, in the order of their letters."""
        return [label.text() for label in self._details]

    @property
    def words(self) -> str:
        """How levels were matched, and what was preferred."""
        return f"{self._levels.text()} {self._outcome.text()}".strip()

    def show_takes(self) -> None:
        """Show which take is chosen now, and whether there are more takes than are compared."""
        num_shown, num_takes = len(self._comparison.contenders), self._num_takes()
        words = self.tr("Comparing {shown} of {count} takes of this line")
        self._count.setText(words.format(shown=num_shown, count=num_takes))
        self._count.setVisible(num_takes > num_shown)
        self._show_contenders()

    def _show_contenders(self) -> None:
        names_are_shown = self._has_decided or not self._comparison.is_blind
        for index, (contender, details) in enumerate(zip(self._comparison.contenders, self._details, strict=True)):
            details.setText(self._name(contender) if names_are_shown else self._hidden_name(index))
            self._letters[index].setAccessibleName(f"{contender.letter}: {details.text()}")

    def _hidden_name(self, index: int) -> str:
        if self._comparison.is_playing and index == self._comparison.current:
            return self.tr("is heard now")
        return self.tr("heard") if self._comparison.was_heard(index) else self.tr("not heard yet")

    def _name(self, contender: ComparisonEntry) -> str:
        take = contender.take
        created = QLocale().toString(take.created.astimezone(), QLocale.FormatType.ShortFormat)  # type: ignore[call-overload]
        parts = [self.tr("Take {number}").format(number=take.number)]
        if take.id == self._chosen_take():
            parts[0] += " " + self.tr("(chosen)")
        if take.is_kept:
            parts.append(self.tr("kept"))
        if not take.is_complete:
            parts.append(self.tr("stopped"))
        parts += [f"{take.audio_seconds:.1f} s", self.tr("seed {seed}").format(seed=take.seed), created]
        if self._comparison.is_ready:
            parts.append(_decibels(contender.gain_db))
        return " · ".join(parts)

    def _show_heard(self) -> None:
        comparison = self._comparison
        for index, letter in enumerate(self._letters):
            is_current = index == comparison.current
            letter.setChecked(is_current)
            letter.setPalette(_standing_out(self.palette()) if is_current else self.palette())
            picture = "speak" if is_current and comparison.is_playing else "play"
            letter.setIcon(icon(picture, letter.palette().color(QPalette.ColorRole.ButtonText).name()))
        words, picture = (self.tr("Stop"), "stop") if comparison.is_playing else (self.tr("Play"), "play")
        self._play.setText(words)
        self._play.setIcon(icon(picture))
        if comparison.is_playing:
            self._outcome.clear()
            self._problem.clear()
        letter_of_current = comparison.contenders[comparison.current].letter
        self._prefer.setText(self.tr("Prefer {letter}").format(letter=letter_of_current))
        self._show_contenders()

    def _show_place(self, share: float) -> None:
        self._place.setValue(round(_STEPS * share))

    def _show_levels(self) -> None:
        self._prefer.setEnabled(True)
        loudest = self._comparison.most_turned_down_db
        if loudest < 0.05:
            self._levels.setText(self.tr("All are equally loud as they are."))
        else:
            self._levels.setText(
                self.tr("Made equally loud: the loudest is played {difference} quieter than it is.").format(
                    difference=f"{loudest:.1f} dB"
                )
            )
        self._show_contenders()

    # What a person does.

    def _hear(self, index: int, _is_checked: bool = False) -> None:
        self._comparison.hear(index)
        self._show_heard()  # the letter that is heard stays pressed

    def _on_blind(self, is_blind: bool) -> None:
        self._has_decided = False
        self._outcome.clear()
        self._comparison.set_blind(is_blind)
        self.blindness_changed.emit(is_blind)
        self._show_heard()

    def _on_preferred(self) -> None:
        if not self._comparison.is_ready:
            return
        contender = self._comparison.contenders[self._comparison.current]
        self._comparison.pause()
        was_chosen = self._chosen_take() == contender.take.id
        self.preferred.emit(contender.take.id)
        if was_chosen:
            words = self.tr("{letter} is take {number}, which was chosen already.")
        elif self._chosen_take() == contender.take.id:
            words = self.tr("{letter} is take {number}: it is the take of the line now.")
        else:
            words = self.tr("{letter} is take {number}. The line is locked and keeps its take.")
        self._outcome.setText(words.format(letter=contender.letter, number=contender.take.number))
        self._has_decided = True
        self._show_heard()
        self._close.setDefault(True)
        self._close.setFocus()

    # Qt.

    def event(self, event: QEvent) -> bool:
        # Space presses the button or the box somebody has gone to with Tab; the letters play with Enter as with Space.
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            focus = QApplication.focusWidget()
            is_press = event.key() == Qt.Key.Key_Space and isinstance(focus, QAbstractButton)
            if is_press and focus not in self._letters:
                event.accept()
                return True
        return super().event(event)


def _standing_out(palette: QPalette) -> QPalette:
    """Of the letter that is heard; icon, word and pressed button say it as well."""
    marked = QPalette(palette)
    marked.setColor(QPalette.ColorRole.Button, palette.color(QPalette.ColorRole.Highlight))
    marked.setColor(QPalette.ColorRole.ButtonText, palette.color(QPalette.ColorRole.HighlightedText))
    return marked


def _decibels(gain_db: float) -> str:
    return "±0 dB" if gain_db > -0.05 else f"−{-gain_db:.1f} dB"


def _quiet(words: str) -> QLabel:
    label = QLabel(words, wordWrap=True)
    label.setProperty("role", "quiet")
    return label
