"""Dialog that joins the start of one take to the end of another take of the same line."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from studio.app.background import run_in_background, run_in_thread
from studio.app.inspector.take_rows import take_name
from studio.app.playback.play_button import PlayButton
from studio.app.session import Session
from studio.app.theme.icons import icon
from studio.app.theme.sizes import GRID
from studio.app.widgets.controls import in_column, text_label
from studio.app.widgets.dialogs import make_primary
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.number_field import NumberField
from studio.app.widgets.screen_fit import fit_to_screen
from studio.app.widgets.waveform_view import WaveformView
from studio.audio.edits import AudioEdits
from studio.audio.joining import (
    CROSSFADE_SECONDS,
    MAX_CROSSFADE_SECONDS,
    cross_over,
    quiet_place,
    share_at_time,
    time_at_share,
)
from studio.audio.resampling import Samples, resample_steeply
from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED
from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.project.changes import AddTake
from studio.project.project import Project
from studio.project.spoken_parts import share_before, word_after_share
from studio.project.take_match import TakeMatch, compare_take
from studio.project.takes import Take

_SIZE = (760, 480)
_TEXT_ROWS = 3
_HEARD_SECONDS = 1.5  # on each side of the join
_MIN_STEP = 0.01


class TakeJoiner(QDialog):
    """Two takes, one above the other.

    The joined take consists of the selected parts: the start of the first and the end of the second. A click in the
    text places the join in both.
    """

    def __init__(self, session: Session, first: Take, second: Take, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._takes = (first, second)
        self._samples: tuple[Samples, Samples] | None = None
        self._is_joining = False
        self._player = session.playback.make_player(self)
        self.text = QPlainTextEdit(readOnly=True)
        self.waveforms = tuple(WaveformView(empty_text=self.tr("Reading the take…")) for _ in range(2))
        self._names = (QLabel(), QLabel())
        self.crossfade = NumberField(minimum=_MIN_STEP, maximum=MAX_CROSSFADE_SECONDS, step=_MIN_STEP, decimals=2)
        self.play = PlayButton(self.tr("Play join"), self._player)
        self.swap = QPushButton(icon("compare"), self.tr("Swap takes"))
        self.join = QPushButton(icon("merge"), self.tr("Join"))
        self._message = text_label("", "quiet")
        self._problem = ErrorLine()
        self._lay_out()
        self._connect()
        self._read()

    def _lay_out(self) -> None:
        self.setWindowTitle(self.tr("Join takes"))
        self.text.setPlainText(self._session.editor.script.line(self._takes[0].line_id).text)
        self.text.setAccessibleName(self.tr("Text of the line"))
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setFixedHeight(_TEXT_ROWS * self.text.fontMetrics().lineSpacing() + 2 * GRID)
        help_text = text_label(self.tr("Click the word where the second take begins, or drag the edges."), "quiet")
        self.crossfade.setValue(CROSSFADE_SECONDS)
        self.crossfade.setSuffix(" " + self.tr("s"))
        self.crossfade.setAccessibleName(self.tr("Crossfade"))
        rows = QGridLayout()
        for row, (name, waveform) in enumerate(zip(self._names, self.waveforms, strict=True)):
            rows.addWidget(name, row, 0)
            rows.addWidget(waveform, row, 1)
        rows.setColumnStretch(1, 1)
        buttons = QHBoxLayout()
        label = QLabel(self.tr("Crossfade"))
        label.setBuddy(self.crossfade)
        for widget in (self.play, self.swap, label, self.crossfade):
            buttons.addWidget(widget)
        buttons.addStretch(1)
        self.swap.setAutoDefault(False)
        ending = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        ending.addButton(self.join, QDialogButtonBox.ButtonRole.AcceptRole)
        make_primary(self.join)
        ending.rejected.connect(self.reject)
        in_column(
            help_text, self.text, (rows, 1), buttons, self._message, self._problem, ending, parent=self, spacing=GRID
        )
        self.resize(fit_to_screen(*_SIZE))

    def _connect(self) -> None:
        first, second = self.waveforms
        self.text.cursorPositionChanged.connect(self._on_text_clicked)
        first.selection_changed.connect(lambda _, end: self._on_edge_moved(first, 0.0, end))
        second.selection_changed.connect(lambda start, _: self._on_edge_moved(second, start, second.seconds))
        self.play.play_wanted.connect(self._on_play)
        self.swap.clicked.connect(self._on_swap)
        self.join.clicked.connect(self._on_join)
        self._player.failed.connect(self._problem.show_error)
        self._session.editor.script_changed.connect(self._on_script_changed)
        self.finished.connect(lambda _: self._player.stop())

    # The takes.

    def _read(self) -> None:
        self._samples = None
        for take, name, waveform in zip(self._takes, self._names, self.waveforms, strict=True):
            name.setText(take_name(take))
            waveform.setAccessibleName(self.tr("{take}, used part").format(take=take_name(take)))
        self._update_buttons()
        run_in_background(
            self,
            partial(_recordings, self._session.editor.project, *self._takes),
            done=partial(self._show_samples, self._takes),
            failed=self._problem.show_error,
        )

    def _show_samples(self, takes: tuple[Take, Take], samples: tuple[Samples, Samples]) -> None:
        if takes != self._takes:
            return
        self._samples = samples
        for waveform, each in zip(self.waveforms, samples, strict=True):
            waveform.show_samples(each, self._rate)
        self._place(0.5)
        self._update_buttons()

    @property
    def _rate(self) -> int:
        return self._takes[0].sample_rate

    def _place(self, share: float) -> None:
        """Place the join after ``share`` of the speech of both takes, at quiet places."""
        if self._samples is None:
            return
        places = [
            quiet_place(each, self._rate, time_at_share(each, self._rate, share)) if 0 < share < 1 else 0.0
            for each in self._samples
        ]
        first, second = self.waveforms
        first.select(0.0, max(_MIN_STEP, places[0]))
        second.select(min(places[1], second.seconds - _MIN_STEP), second.seconds)
        self._show_word(share)
        self._player.stop()

    def _on_text_clicked(self) -> None:
        """Place the join before the word at the cursor."""
        self._place(share_before(self.text.toPlainText(), self.text.textCursor().position()))

    def _on_edge_moved(self, waveform: WaveformView, start: float, end: float) -> None:
        """Keep the outer edge of the selection at the end of the take, and show the word at the join."""
        if waveform.selection is not None and waveform.selection != (start, end):
            with QSignalBlocker(waveform):
                waveform.select(start, end)
        if self._samples is None or waveform is not self.waveforms[1]:
            return
        self._show_word(share_at_time(self._samples[1], self._rate, start))

    def _show_word(self, share: float) -> None:
        """Put the cursor before the first word of the second take."""
        cursor = self.text.textCursor()
        cursor.setPosition(word_after_share(self.text.toPlainText(), share))
        with QSignalBlocker(self.text):
            self.text.setTextCursor(cursor)

    # Actions.

    @property
    def edges(self) -> tuple[float, float] | None:
        """Where the first take ends and the second begins, in seconds; None while the takes are read."""
        selections = [waveform.selection for waveform in self.waveforms]
        if self._samples is None or selections[0] is None or selections[1] is None:
            return None
        return selections[0][1], selections[1][0]

    def _joined(self) -> Samples | None:
        if self._samples is None or self.edges is None:
            return None
        end, start = self.edges
        self.crossfade.commit()
        return cross_over(
            *self._samples, self._rate, end_seconds=end, start_seconds=start, fade_seconds=self.crossfade.value()
        )

    def _on_play(self) -> None:
        samples = self._joined()
        if samples is not None and self.edges is not None:
            self._session.playback.stop()
            end = self.edges[0]
            clip = Waveform(samples, self._rate)
            self._player.play_clip(clip, max(0.0, end - _HEARD_SECONDS), min(clip.seconds, end + _HEARD_SECONDS))

    def _on_swap(self) -> None:
        self._player.stop()
        self._takes = (self._takes[1], self._takes[0])
        self._read()

    def _on_join(self) -> None:
        samples = self._joined()
        if samples is not None:
            self._is_joining = True
            self._update_buttons()
            self._session.bridge.run(self._add(samples))

    async def _add(self, samples: Samples) -> None:
        """Add the joined take as an undoable step."""
        editor, (first, second) = self._session.editor, self._takes
        project = editor.project
        # A take of an older text makes the joined one a take of that text.
        base = first if compare_take(project, first) is not TakeMatch.CURRENT else second
        # A part that is a draft makes the joined one a draft.
        worst = max(first.parameters, second.parameters, key=lambda each: each.quality_distortion_db)
        parameters = replace(
            base.parameters,
            speed=first.parameters.speed,
            odd_length=None,
            quality=worst.quality,
            quality_distortion_db=worst.quality_distortion_db,
        )
        try:
            recorder = project.begin_take(first.line_id, parameters, self._rate)
            recorder.append(samples)
            made = await run_in_thread(recorder.finish)
        except StudioError as error:
            self._problem.show_error(error)
            return
        finally:
            self._is_joining = False
            self._update_buttons()
        if project.has_line(first.line_id):
            made = replace(made, trim_start_seconds=first.trim_start_seconds)
            editor.push(AddTake(made), self.tr("Join takes"))
        self.accept()

    def _on_script_changed(self) -> None:
        script = self._session.editor.script
        if any(take.id not in script.line_of_take for take in self._takes):
            self.reject()
        else:
            self._update_buttons()

    def _update_buttons(self) -> None:
        is_locked = self._session.editor.script.line(self._takes[0].line_id).is_locked
        is_ready = self._samples is not None and not self._is_joining
        self.play.setEnabled(is_ready)
        self.swap.setEnabled(is_ready)
        self.join.setEnabled(is_ready and not is_locked)
        self._message.setText(self.tr("The line is locked, so its takes cannot be changed.") if is_locked else "")


def _recordings(project: Project, first: Take, second: Take) -> tuple[Samples, Samples]:
    """Return both recordings with the sample rate and speaking rate of the first, the second without its trimmed end."""
    samples = project.recording_of(second.id)
    end = len(samples) - round(second.trim_end_seconds * second.sample_rate)
    samples = resample_steeply(samples[:end], second.sample_rate, first.sample_rate)
    speed = first.parameters.speed / second.parameters.speed
    if speed != 1.0 and MIN_SPEED <= speed <= MAX_SPEED:
        samples = AudioEdits(speed=speed).apply(samples, first.sample_rate)
    return project.recording_of(first.id), samples
