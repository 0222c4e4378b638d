"""Dialog that compares takes by ear, at the same position and loudness."""

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
    QWidget,
)

from studio.app.actions import IGNORES_ENTER
from studio.app.playback.comparison import Comparison, ComparisonEntry
from studio.app.theme.icons import icon
from studio.app.translation import join_names, join_sentences, with_label
from studio.app.widgets.controls import STRETCH, in_column, text_label
from studio.app.widgets.dialogs import make_primary
from studio.app.widgets.elided_label import ElidedLabel
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import fit_to_screen

_STEPS = 1000
_LETTER_WIDTH = 76


class CompareDialog(QDialog):
    """Shows the takes of ``comparison``. In a blind test, take numbers are hidden until the user chooses one.

    ``chosen_take`` and ``num_takes`` return the current state of the line, which may change while the dialog is open.
    """

    preferred = Signal(str)  # id of the take that the user chooses
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
        self._count = text_label("", "quiet")
        self._position = QProgressBar(maximum=_STEPS, textVisible=False)
        self._play = QPushButton()
        self._next = QPushButton(icon("compare"), self.tr("Next (X)"))
        self._turn = QPushButton(icon("play-all"), self.tr("Play all (R)"))
        self._blind = QCheckBox(self.tr("Blind test"))
        self._levels = text_label(self.tr("Reading the takes…"), "quiet")
        self._outcome = QLabel(wordWrap=True)
        self._problem = ErrorLine()
        self._buttons = QDialogButtonBox()
        self._prefer = QPushButton(self.tr("Choose this take"))
        self._close = QPushButton(self.tr("Close"))
        self.setWindowTitle(self.tr("Compare takes"))
        self._lay_out()
        self._connect()
        self.show_takes()
        self._show_current()

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setColumnStretch(1, 1)
        grid.setHorizontalSpacing(12)
        for row, entry in enumerate(self._comparison.entries):
            letter = QPushButton(entry.letter, autoDefault=False)
            letter.setCheckable(True)
            letter.setProperty(IGNORES_ENTER, True)
            letter.setFixedWidth(_LETTER_WIDTH)
            details = QLabel(wordWrap=True)
            self._letters.append(letter)
            self._details.append(details)
            grid.addWidget(letter, row, 0)
            grid.addWidget(details, row, 1)
        self._position.setFixedHeight(8)
        self._position.setAccessibleName(self.tr("Playback position"))
        self._blind.setChecked(self._comparison.is_blind)
        self._prefer.setToolTip(self.tr("Use the current take for the line (can be undone)"))
        self._blind.setToolTip(self.tr("Hides which take is which until you choose one"))
        controls = QHBoxLayout()
        for button in (self._play, self._next, self._turn):
            button.setAutoDefault(False)
            controls.addWidget(button)
        controls.addStretch(1)
        make_primary(self._prefer)
        self._prefer.setEnabled(False)  # until the takes have been read
        self._buttons.addButton(self._prefer, QDialogButtonBox.ButtonRole.ActionRole)
        self._buttons.addButton(self._close, QDialogButtonBox.ButtonRole.RejectRole)
        in_column(
            self._text,
            grid,
            self._count,
            self._position,
            controls,
            self._blind,
            self._levels,
            self._outcome,
            self._problem,
            STRETCH,
            text_label(self._key_help(), "quiet"),
            self._buttons,
            parent=self,
            spacing=8,
        )
        self.resize(fit_to_screen(560, self.sizeHint().height()))

    def _key_help(self) -> str:
        letters = join_names(entry.letter for entry in self._comparison.entries)
        return self.tr(
            "{letters}: switch to that take at the same position. X: next. Space: play or stop. "
            "R: play all. Enter: choose."
        ).format(letters=letters)

    def _connect(self) -> None:
        comparison = self._comparison
        for index, letter in enumerate(self._letters):
            letter.clicked.connect(partial(self._switch_to, index))
            self._on_key(letter.text(), partial(self._switch_to, index))
        self._on_key("X", comparison.switch_to_next)
        self._on_key("R", comparison.play_in_turn)
        self._on_key("Space", comparison.toggle)
        self._play.clicked.connect(comparison.toggle)
        self._next.clicked.connect(comparison.switch_to_next)
        self._turn.clicked.connect(comparison.play_in_turn)
        self._blind.toggled.connect(self._on_blind)
        self._prefer.clicked.connect(self._on_preferred)
        self._close.clicked.connect(self.reject)
        comparison.ready.connect(self._show_levels)
        comparison.changed.connect(self._show_current)
        comparison.moved.connect(self._show_position)
        comparison.failed.connect(self._problem.show_error)

    def _on_key(self, key: str, call: Callable[[], object]) -> None:
        QShortcut(QKeySequence(key), self).activated.connect(call)

    # Display.

    @property
    def details(self) -> list[str]:
        """Description of each take, in the order of the letters."""
        return [label.text() for label in self._details]

    @property
    def words(self) -> str:
        """The displayed texts about level matching and choice."""
        return f"{self._levels.text()} {self._outcome.text()}".strip()

    def show_takes(self) -> None:
        """Show which take is chosen, and how many takes are compared."""
        num_shown, num_takes = len(self._comparison.entries), self._num_takes()
        words = self.tr("Comparing {shown} of {count} takes of this line")
        self._count.setText(words.format(shown=num_shown, count=num_takes))
        self._count.setVisible(num_takes > num_shown)
        self._show_entries()

    def _show_entries(self) -> None:
        names_are_shown = self._has_decided or not self._comparison.is_blind
        for index, (entry, details) in enumerate(zip(self._comparison.entries, self._details, strict=True)):
            details.setText(self._name(entry) if names_are_shown else self._hidden_name(index))
            self._letters[index].setAccessibleName(with_label(entry.letter, details.text()))

    def _hidden_name(self, index: int) -> str:
        if self._comparison.is_playing and index == self._comparison.current:
            return self.tr("playing")
        return self.tr("played") if self._comparison.was_played(index) else self.tr("not played yet")

    def _name(self, entry: ComparisonEntry) -> str:
        take = entry.take
        created = QLocale().toString(take.created.astimezone(), QLocale.FormatType.ShortFormat)  # type: ignore[call-overload]
        parts = [self.tr("Take {number}").format(number=take.number)]
        if take.id == self._chosen_take():
            parts[0] = join_sentences([parts[0], self.tr("(chosen)")])
        if take.is_kept:
            parts.append(self.tr("kept"))
        if not take.is_complete:
            parts.append(self.tr("stopped"))
        parts += [
            self.tr("{seconds:.1f} s").format(seconds=take.audio_seconds),
            self.tr("seed {seed}").format(seed=take.seed),
            created,
        ]
        if self._comparison.is_ready:
            parts.append(_decibels(entry.gain_db))
        return " · ".join(parts)

    def _show_current(self) -> None:
        comparison = self._comparison
        for index, letter in enumerate(self._letters):
            is_current = index == comparison.current
            letter.setChecked(is_current)
            letter.setPalette(_highlighted(self.palette()) if is_current else self.palette())
            icon_name = "speak" if is_current and comparison.is_playing else "play"
            letter.setIcon(icon(icon_name, letter.palette().color(QPalette.ColorRole.ButtonText).name()))
        words, icon_name = (self.tr("Stop"), "stop") if comparison.is_playing else (self.tr("Play"), "play")
        self._play.setText(words)
        self._play.setIcon(icon(icon_name))
        if comparison.is_playing:
            self._outcome.clear()
            self._problem.clear()
        letter_of_current = comparison.entries[comparison.current].letter
        self._prefer.setText(self.tr("Choose {letter}").format(letter=letter_of_current))
        self._show_entries()

    def _show_position(self, share: float) -> None:
        self._position.setValue(round(_STEPS * share))

    def _show_levels(self) -> None:
        self._prefer.setEnabled(True)
        loudest = self._comparison.largest_attenuation_db
        if loudest < 0.05:
            self._levels.setText(self.tr("All takes are equally loud"))
        else:
            self._levels.setText(
                self.tr("Loudness matched (loudest take {difference})").format(difference=_decibels(-loudest))
            )
        self._show_entries()

    # User actions.

    def _switch_to(self, index: int, _is_checked: bool = False) -> None:
        self._comparison.switch_to(index)
        self._show_current()  # the button of the current take stays pressed

    def _on_blind(self, is_blind: bool) -> None:
        self._has_decided = False
        self._outcome.clear()
        self._comparison.set_blind(is_blind)
        self.blindness_changed.emit(is_blind)
        self._show_current()

    def _on_preferred(self) -> None:
        if not self._comparison.is_ready:
            return
        entry = self._comparison.entries[self._comparison.current]
        self._comparison.pause()
        was_chosen = self._chosen_take() == entry.take.id
        self.preferred.emit(entry.take.id)
        if was_chosen:
            words = self.tr("{letter} is take {number}, which is already chosen.")
        elif self._chosen_take() == entry.take.id:
            words = self.tr("{letter} is take {number}. The line uses it now.")
        else:
            words = self.tr("{letter} is take {number}. The line is locked and keeps its take.")
        self._outcome.setText(words.format(letter=entry.letter, number=entry.take.number))
        self._has_decided = True
        self._show_current()
        self._close.setDefault(True)
        self._close.setFocus()

    # Qt.

    def event(self, event: QEvent) -> bool:
        # Space activates a button or check box focused with Tab, except on the letters, where it plays or stops.
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            focus = QApplication.focusWidget()
            is_press = event.key() == Qt.Key.Key_Space and isinstance(focus, QAbstractButton)
            if is_press and focus not in self._letters:
                event.accept()
                return True
        return super().event(event)


def _highlighted(palette: QPalette) -> QPalette:
    """Return the palette of the current take's button, which also differs by its icon and pressed state."""
    marked = QPalette(palette)
    marked.setColor(QPalette.ColorRole.Button, palette.color(QPalette.ColorRole.Highlight))
    marked.setColor(QPalette.ColorRole.ButtonText, palette.color(QPalette.ColorRole.HighlightedText))
    return marked


def _decibels(gain_db: float) -> str:
    return "±0\N{NO-BREAK SPACE}dB" if gain_db > -0.05 else f"−{-gain_db:.1f}\N{NO-BREAK SPACE}dB"
