"""Dialog that compares a voice with its repaired clips by the speech from each, with an option to hide their names."""

from __future__ import annotations

from functools import partial

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QDialog,
    QGridLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QWidget,
)

from studio.app.playback.audio_player import AudioPlayer
from studio.app.translation import join_names
from studio.app.widgets.controls import STRETCH, icon_button, in_column, in_row, text_label
from studio.app.widgets.dialogs import dialog_buttons
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import fit_to_screen
from studio.errors import StudioError
from studio.take_checks.clip_repair import Candidate, Origin, Repair, Survey, Trial
from studio.voices.clip_cleaning import CleaningStep
from studio.voices.library import Voice


class ClipRepairDialog(QDialog):
    """Shows the trials of ``voice``. After it is accepted, ``candidate`` is the clip of the new voice."""

    speaker_chosen = Signal(int)  # number of another speaker, from 1

    def __init__(self, voice: Voice, player: AudioPlayer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.voice = voice
        self._player = player
        self._trials: list[Trial] = []
        self._offered = 0
        self.setWindowTitle(self.tr("Repair {name}").format(name=voice.name))
        self.resize(fit_to_screen(620, 380))
        self._state = text_label(self.tr("Examining the recording…"))
        self._progress = QProgressBar(self, textVisible=False, maximum=0)
        self._speaker_label = QLabel(self.tr("&Speaker"), self)
        self._speaker = QComboBox(self)
        self._speaker_label.setBuddy(self._speaker)
        self._is_blind = QCheckBox(self.tr("Hide names and scores"), self)
        self._choices = QButtonGroup(self)
        self._table = QWidget(self)
        self._rows = QGridLayout(self._table)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._problem = ErrorLine(self)
        self._add = QPushButton(self.tr("Add repaired voice"), self)
        self._add.setEnabled(False)
        buttons = dialog_buttons(self, accept=self._add)
        speakers = in_row(self._speaker_label, self._speaker, STRETCH, self._is_blind)
        parts = (self._state, self._progress, speakers, self._table, STRETCH, self._problem, buttons)
        in_column(*parts, parent=self)
        for widget in (self._speaker_label, self._speaker, self._is_blind):
            widget.hide()
        self._speaker.activated.connect(lambda index: self.speaker_chosen.emit(index + 1))
        self._is_blind.toggled.connect(self._show_trials)
        self._choices.idToggled.connect(self._update_state)
        player.failed.connect(self.show_problem)

    @property
    def candidate(self) -> Candidate:
        """The chosen candidate."""
        return self._trials[self._choices.checkedId()].candidate

    def done(self, result: int) -> None:
        self._player.stop()
        super().done(result)

    def begin(self) -> None:
        """Show that the candidates are about to be compared."""
        self._clear()
        self._progress.setMaximum(0)
        self._progress.show()
        self._problem.show_error(None)
        self._state.setText(self.tr("Examining the recording…"))

    def show_speakers(self, found: Survey, chosen: int) -> None:
        has_choice = len(found.speakers) > 1
        self._speaker_label.setVisible(has_choice)
        self._speaker.setVisible(has_choice)
        self._speaker.clear()
        for number, speaker in enumerate(found.speakers, 1):
            words = self.tr("Speaker {number}: {seconds:.0f} s")
            self._speaker.addItem(words.format(number=number, seconds=speaker.seconds))
        self._speaker.setCurrentIndex(chosen - 1)

    def show_progress(self, num_spoken: int, total: int) -> None:
        self._state.setText(
            self.tr("Speaking test sentences: {number} of {total}").format(number=num_spoken, total=total)
        )
        self._progress.setMaximum(total)
        self._progress.setValue(num_spoken)

    def show_repair(self, repair: Repair) -> None:
        self._progress.hide()
        if len(repair.trials) == 1:
            self._state.setText(self.tr("The recording has no fault that can be repaired."))
            return
        if repair.offered is None:
            self._state.setText(self.tr("No candidate sounds better. The voice can stay as it is."))
        else:
            self._state.setText(
                self.tr("The chosen candidate sounds more like the speaker. The original voice is kept.")
            )
        self._trials = list(repair.trials)
        self._offered = self._trials.index(repair.offered) if repair.offered is not None else 0
        self._is_blind.show()
        self._show_trials()

    def show_problem(self, error: StudioError) -> None:
        self._progress.hide()
        self._problem.show_error(error)

    def _clear(self) -> None:
        for choice in self._choices.buttons():  # a deleted button would stay checked until the next event
            self._choices.removeButton(choice)
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self._add.setEnabled(False)

    def _show_trials(self) -> None:
        """Show a row for each trial, in random order and without a choice while names are hidden."""
        self._clear()
        order = list(range(len(self._trials)))
        is_blind = self._is_blind.isChecked()
        if is_blind:
            np.random.default_rng().shuffle(order)
        for row, number in enumerate(order):
            trial = self._trials[number]
            name = self.tr("Candidate {letter}").format(letter="ABCDEF"[row]) if is_blind else self._name(trial)
            choice = QRadioButton(name, self._table)
            self._choices.addButton(choice, number)
            self._rows.addWidget(choice, row, 0)
            self._rows.addWidget(text_label("" if is_blind else self._scores(trial), "quiet"), row, 1)
            plays = [(self.tr("Play clip of {name}").format(name=name), trial.candidate.clip)]
            plays += [
                (self.tr("Play sentence {number} of {name}").format(number=position, name=name), spoken.waveform)
                for position, spoken in enumerate(trial.spoken, 1)
            ]
            for column, (tip, waveform) in enumerate(plays, 2):
                play = partial(self._player.play_clip, waveform)
                button = icon_button("play", tip, play, parent=self._table)
                self._rows.addWidget(button, row, column)
            if not is_blind and number == self._offered:
                choice.setChecked(True)
        self._rows.setColumnStretch(1, 1)
        self._update_state()

    def _update_state(self, *_: object) -> None:
        checked = self._choices.checkedId()
        self._add.setEnabled(checked >= 0 and self._trials[checked].candidate.origin is not Origin.AS_IS)

    def _name(self, trial: Trial) -> str:
        candidate = trial.candidate
        steps = join_names(self._step_names()[step] for step in candidate.steps)
        match candidate.origin:
            case Origin.AS_IS:
                return self.tr("As it is")
            case Origin.CLEANED:
                return self.tr("Cleaned: {steps}").format(steps=steps)
            case Origin.PASSAGE:
                window = candidate.window
                words = self.tr("Passage from {start:.1f} to {end:.1f} s")
                return words.format(start=window.start_seconds, end=window.end_seconds)

    def _scores(self, trial: Trial) -> str:
        if trial.similarity is None:
            return self.tr("Similarity unknown")
        words = self.tr("Similarity {similarity:.2f}").format(similarity=trial.similarity)
        if not trial.num_faulty:
            return words
        return self.tr("{similarity}, sentences with problems: {count}").format(
            similarity=words, count=trial.num_faulty
        )

    def _step_names(self) -> dict[CleaningStep, str]:
        return {
            CleaningStep.CLIPPING: self.tr("clipping"),
            CleaningStep.DC: self.tr("DC offset"),
            CleaningStep.HUM: self.tr("hum"),
            CleaningStep.ROOM: self.tr("reverberation"),
            CleaningStep.NOISE: self.tr("noise"),
            CleaningStep.LEVEL: self.tr("level"),
        }
