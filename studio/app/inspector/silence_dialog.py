"""Dialog that shortens the pauses in takes. The results are new takes, added in one undo step."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.inspector.take_rows import take_name
from studio.app.playback.play_button import PlayButton
from studio.app.session import Session
from studio.app.theme.sizes import GRID
from studio.app.widgets.controls import STRETCH, in_column, in_row, text_label
from studio.app.widgets.dialogs import make_primary
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.number_field import NumberField
from studio.app.widgets.screen_fit import fit_to_screen
from studio.audio.resampling import Samples
from studio.audio.silence import (
    DEFAULT_ENDS_SECONDS,
    DEFAULT_PAUSE_SECONDS,
    MAX_KEPT_SECONDS,
    MIN_KEPT_SECONDS,
    SilenceLimits,
)
from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.project.changes import AddTake, CompositeChange
from studio.project.project import Project
from studio.project.silence import TakePauses, cut_silence, take_pauses, trimmed_recording
from studio.project.takes import Take

_SIZE = (460, 260)
_STEP_SECONDS = 0.05


class SilenceDialog(QDialog):
    """Cuts the silence of ``takes``, except in locked lines."""

    cut = Signal(object)  # the new takes, a list of Take
    message = Signal(str)  # the result, for the status bar
    _read = Signal(int)  # the number of takes read; emitted on a background thread

    def __init__(self, session: Session, takes: Sequence[Take], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._project = session.editor.project
        script = session.editor.script
        self._takes = [take for take in takes if not script.line(take.line_id).is_locked]
        self._num_locked = len(takes) - len(self._takes)
        self._found: tuple[TakePauses, ...] | None = None
        self._is_cutting = False
        self._ended = threading.Event()
        self._player = session.playback.make_player(self)
        self.pause = _seconds_field(DEFAULT_PAUSE_SECONDS)
        self.ends = _seconds_field(DEFAULT_ENDS_SECONDS)
        self.summary = QLabel(wordWrap=True)
        self.progress = QProgressBar()
        self.play = PlayButton(self.tr("Play result"), self._player)
        self.apply_button = QPushButton(self.tr("Cut silence"))
        self._problem = ErrorLine()
        self._lay_out()
        self._connect()
        self._show()
        self._read_takes()

    @property
    def limits(self) -> SilenceLimits:
        return SilenceLimits(self.pause.value(), self.ends.value())

    @property
    def saved_seconds(self) -> float:
        """Total time removed from all takes, in seconds."""
        return sum(each.pauses.saved_seconds(self.limits) for each in self._found or ())

    def done(self, result: int) -> None:
        self._ended.set()
        self._player.stop()
        super().done(result)

    def _lay_out(self) -> None:
        if len(self._takes) == 1:
            self.setWindowTitle(self.tr("Cut silence of {take}").format(take=take_name(self._takes[0])))
        else:
            self.setWindowTitle(self.tr("Cut silence"))
        self.pause.setAccessibleName(self.tr("Longest pause"))
        self.ends.setAccessibleName(self.tr("Silence at the ends"))
        for field in (self.pause, self.ends):
            field.setSuffix(" " + self.tr("s"))
        self.progress.setAccessibleName(self.tr("Takes read"))
        words = text_label(
            self.tr("Longer pauses are shortened at their quietest points. The existing takes are kept."), "quiet"
        )
        form = QFormLayout()
        form.addRow(self.tr("Longest pause"), self.pause)
        form.addRow(self.tr("Silence at the ends"), self.ends)
        listening = in_row(self.play, STRETCH)
        self.play.setVisible(len(self._takes) == 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        buttons.addButton(self.apply_button, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.rejected.connect(self.reject)
        make_primary(self.apply_button)
        in_column(
            words,
            form,
            self.summary,
            self.progress,
            listening,
            STRETCH,
            self._problem,
            buttons,
            parent=self,
            spacing=GRID,
        )
        self.resize(fit_to_screen(*_SIZE))

    def _connect(self) -> None:
        for field in (self.pause, self.ends):
            field.number_changed.connect(self._on_limit_changed)
        self._read.connect(self.progress.setValue)
        self.play.play_wanted.connect(self._on_play)
        self.apply_button.clicked.connect(self._on_apply)
        self._player.failed.connect(self._problem.show_error)
        self._session.editor.project_replaced.connect(self.reject)

    def _read_takes(self) -> None:
        self.progress.setRange(0, len(self._takes))
        project, takes, ended, read = self._project, tuple(self._takes), self._ended, self._read.emit

        def work() -> tuple[TakePauses, ...]:
            found = []
            for number, take in enumerate(takes, 1):
                if ended.is_set():
                    break
                found.append(take_pauses(project, take))
                read(number)
            return tuple(found)

        run_in_background(self, work, done=self._on_read, failed=self._problem.show_error)

    def _on_read(self, found: tuple[TakePauses, ...]) -> None:
        self._found = found
        self._show()

    def _on_limit_changed(self) -> None:
        self._player.stop()
        self._show()

    def _show(self) -> None:
        found, saved = self._found, self.saved_seconds
        self.progress.setVisible(bool(self._takes) and (found is None or self._is_cutting))
        self.apply_button.setEnabled(saved > 0.0 and not self._is_cutting)
        self.play.setEnabled(saved > 0.0)
        for field in (self.pause, self.ends):
            field.setEnabled(not self._is_cutting)
        words = []
        if not self._takes and not self._num_locked:
            words.append(self.tr("The selected lines have no takes."))
        elif found is None and self._takes:
            words.append(self.tr("Reading the takes…"))
        elif found and not saved:
            words.append(self.tr("No pause is longer than this."))
        elif found:
            total = sum(each.seconds for each in found)
            num_cut = sum(each.pauses.saved_seconds(self.limits) > 0 for each in found)
            words.append(self.tr("%n take(s) become shorter.", "", num_cut))
            words.append(
                self.tr("Saved: {saved:.2f} s of {total:.2f} s.").format(saved=saved, total=total),
            )
        if self._num_locked:
            words.append(self.tr("%n locked line(s) keep their takes.", "", self._num_locked))
        self.summary.setText("\n".join(words))

    # Actions.

    def _commit(self) -> None:
        """Apply digits that are still being typed."""
        for field in (self.pause, self.ends):
            field.commit()

    def _on_play(self) -> None:
        self._commit()
        for each in self._found or ():
            run_in_background(
                self,
                partial(_result, self._project, each, self.limits),
                done=partial(self._play, self.limits, each.take.sample_rate),
                failed=self._problem.show_error,
            )

    def _play(self, limits: SilenceLimits, sample_rate: int, samples: Samples) -> None:
        if limits == self.limits and self.isVisible():
            self._session.playback.stop()
            self._player.play_clip(Waveform(samples, sample_rate))

    def _on_apply(self) -> None:
        self._commit()
        if not self.saved_seconds or self._is_cutting:
            return
        self._is_cutting = True
        self._player.stop()
        self._problem.clear()
        self.progress.setRange(0, 0)
        self._show()
        strictness = self._session.parts.check_policy().strictness
        run_in_background(
            self,
            partial(
                cut_silence, self._project, self._found or (), self.limits, strictness, is_cancelled=self._ended.is_set
            ),
            done=self._add,
            failed=self._on_failed,
        )

    def _on_failed(self, error: StudioError) -> None:
        self._is_cutting = False
        self._show()
        self._problem.show_error(error)

    def _add(self, made: list[Take]) -> None:
        """Add the new takes as an undoable step. Takes without a check are checked in the background."""
        editor, project = self._session.editor, self._project
        made = [take for take in made if project is editor.project and project.has_line(take.line_id)]
        if made and not self._ended.is_set():
            editor.push(CompositeChange(tuple(map(AddTake, made))), self.tr("Cut silence"))
            if self._session.parts.checker.is_on:
                self._session.parts.checker.check(take.id for take in made if take.check is None)
            words = self.tr("%n take(s) shortened, by {saved:.2f} s.", "", len(made))
            self.message.emit(words.format(saved=self.saved_seconds))
            self.cut.emit(made)
        self.accept()


def _seconds_field(seconds: float) -> NumberField:
    field = NumberField(minimum=MIN_KEPT_SECONDS, maximum=MAX_KEPT_SECONDS, step=_STEP_SECONDS, decimals=2)
    field.setValue(seconds)
    return field


def _result(project: Project, found: TakePauses, limits: SilenceLimits) -> Samples:
    samples = trimmed_recording(project, found.take)
    return found.pauses.cuts(samples, limits).apply(samples)
