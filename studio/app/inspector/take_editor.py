"""Dialog to trim a take or speak part of it again."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.inspector.take_rows import take_name
from studio.app.playback.play_button import PlayButton
from studio.app.session import Session
from studio.app.synthesis.part_retake import PartRetake
from studio.app.theme.icons import icon
from studio.app.theme.sizes import GRID
from studio.app.widgets.controls import in_column, text_label
from studio.app.widgets.dialogs import dialog_buttons, open_dialog
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import fit_to_screen
from studio.app.widgets.waveform_view import WaveformView
from studio.audio.joining import share_at_time, time_at_share
from studio.audio.resampling import Samples
from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.project.changes import EditTakes
from studio.project.project import Project
from studio.project.spoken_parts import TextPart, part_at_shares, part_of_text
from studio.project.take_match import TakeMatch, compare_take
from studio.project.take_repair import TimeSpan, has_only_other_words, span_of_text, words_in_text, words_of_take
from studio.project.takes import Take
from studio.take_checks.records import WordTime

_SIZE = (720, 420)
_TEXT_ROWS = 4
_BEFORE_SECONDS = 1.0  # length of the lead-in that is played before a new part


class TakeEditor(QDialog):
    """Shows the recording of a take without its edits. The selection is a part of the text and of the waveform."""

    def __init__(self, session: Session, take: Take, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._take = take
        self._samples: Samples | None = None
        self._words: tuple[WordTime, ...] = ()
        self._retake: PartRetake | None = None
        self._player = session.playback.make_player(self)
        self._text = QPlainTextEdit(readOnly=True)
        self._waveform = WaveformView(empty_text=self.tr("Reading the take…"))
        self._play = PlayButton(self.tr("Play selection"), self._player)
        self._trim = QPushButton(icon("split"), self.tr("Trim to selection"))
        self._untrim = QPushButton(self.tr("Remove trim"))
        self._cut = QPushButton(self.tr("Cut silence…"))
        self._say = QPushButton(icon("retry"), self.tr("Say again"))
        self._say_changed = QPushButton(self.tr("Say changed words"))
        self._message = text_label("", "quiet")
        self._problem = ErrorLine()
        self._lay_out()
        self._connect()
        self.show_take(take)

    def _lay_out(self) -> None:
        self._text.setAccessibleName(self.tr("Text of the take"))
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setFixedHeight(_TEXT_ROWS * self._text.fontMetrics().lineSpacing() + 2 * GRID)
        self._waveform.setAccessibleName(self.tr("Recording with selection"))
        self._trim.setToolTip(self.tr("Omit what is before and after the selection (can be undone)"))
        self._untrim.setToolTip(self.tr("Use the whole recording again (can be undone)"))
        self._cut.setToolTip(self.tr("Shorten long pauses. The result is a new take; this one stays."))
        self._say.setToolTip(
            self.tr(
                "Speak the selected words again, as part of the same reading. All else stays as it is, up to 0.2 s from "
                "the words. The result is a new take; this one stays."
            )
        )
        self._say_changed.setToolTip(
            self.tr(
                "Speak only the words that differ from the current text of the line and the pronunciation dictionary. "
                "The result is a new take; this one stays."
            )
        )
        for_words, for_sound = QHBoxLayout(), QHBoxLayout()
        for row, buttons in (
            (for_words, (self._say, self._say_changed)),
            (for_sound, (self._play, self._trim, self._untrim, self._cut)),
        ):
            for button in buttons:
                button.setAutoDefault(False)
                row.addWidget(button)
            row.addStretch(1)
        in_column(
            self._text,
            for_words,
            (self._waveform, 1),
            for_sound,
            self._message,
            self._problem,
            dialog_buttons(self, QDialogButtonBox.StandardButton.Close),
            parent=self,
            spacing=GRID,
        )
        self.resize(fit_to_screen(*_SIZE))

    def _connect(self) -> None:
        self._text.selectionChanged.connect(self._on_words_selected)
        self._waveform.selection_changed.connect(lambda *_: self._on_span_selected())
        self._waveform.seek_requested.connect(self._listen_from)
        self._play.play_wanted.connect(self._listen)
        self._trim.clicked.connect(self._on_trim)
        self._untrim.clicked.connect(self._on_untrim)
        self._cut.clicked.connect(self._on_cut)
        self._say.clicked.connect(self._on_say_again)
        self._say_changed.clicked.connect(lambda: self._begin(PartRetake(self._take, None)))
        self._player.moved.connect(self._waveform.set_cursor)
        self._player.ended.connect(lambda _: self._waveform.set_cursor(None))
        self._player.failed.connect(self._problem.show_error)
        self._session.editor.script_changed.connect(self._update_buttons)
        self.finished.connect(lambda _: self._end())

    # Display.

    def show_take(self, take: Take, selection: tuple[float, float] | None = None) -> None:
        """Show another take and select a span of its recording, by default the part that is not trimmed."""
        self._take, self._samples, self._words = take, None, ()
        project, line = self._session.editor.project, self._session.editor.script.line(take.line_id)
        has_line_text = compare_take(project, take) is not TakeMatch.OLDER_TEXT
        with QSignalBlocker(self._text):
            self._text.setPlainText(line.text if has_line_text else take.parameters.text)
        self.setWindowTitle(self.tr("Edit {take}").format(take=take_name(take)))
        if take.is_recording:
            self._say.setText(self.tr("Replace selected words"))
            self._say_changed.setText(self.tr("Replace changed words"))
        self._update_buttons()
        run_in_background(
            self,
            partial(_read, project, take, self._text.toPlainText()),
            done=partial(self._show_samples, take, selection),
            failed=self._problem.show_error,
        )

    def _show_samples(self, take: Take, selection: TimeSpan | None, read: tuple[Samples, tuple[WordTime, ...]]) -> None:
        if take.id != self._take.id:
            return
        samples, self._words = read
        self._samples = samples
        self._waveform.show_samples(samples, take.sample_rate)
        end = take.audio_seconds - take.trim_end_seconds
        self._waveform.select(*(selection or (take.trim_start_seconds, end)))
        self._update_buttons()
        if selection is not None:
            self._on_span_selected()
            self._play_span(max(0.0, selection[0] - _BEFORE_SECONDS), None)

    def _update_buttons(self) -> None:
        script = self._session.editor.script
        is_there = self._take.id in script.line_of_take
        take = script.take(self._take.id) if is_there else self._take
        is_locked = not is_there or script.line(take.line_id).is_locked
        is_free = self._samples is not None and not is_locked and self._retake is None
        self._play.setEnabled(self._samples is not None)
        self._trim.setEnabled(is_free)
        self._untrim.setEnabled(is_free and take.trim_start_seconds + take.trim_end_seconds > 0)
        self._cut.setEnabled(is_free)
        self._say.setEnabled(is_free and self._selected_part is not None)
        self._say_changed.setEnabled(is_free and has_only_other_words(self._session.editor.project, take))
        if is_locked:
            self._message.setText(self.tr("The line is locked, so its takes cannot be changed."))

    # Selection.

    @property
    def _selected_part(self) -> TextPart | None:
        cursor = self._text.textCursor()
        return part_of_text(self._text.toPlainText(), cursor.selectionStart(), cursor.selectionEnd())

    def _on_words_selected(self) -> None:
        """Select the span of the words in the waveform."""
        part = self._selected_part
        if part is not None and self._samples is not None:
            span = span_of_text(self._words, part.start, part.end)
            if span is None:
                shares = part.start_share, part.end_share
                start, end = (time_at_share(self._samples, self._take.sample_rate, share) for share in shares)
                span = start, end
            if span[1] > span[0]:
                self._waveform.select(*span)
        self._update_buttons()

    def _on_span_selected(self) -> None:
        """Select the words of the span in the text."""
        selection = self._waveform.selection
        if selection is not None and self._samples is not None:
            part = self._part_in_span(*selection)
            cursor = self._text.textCursor()
            cursor.clearSelection()
            if part is not None:
                cursor.setPosition(part.start)
                cursor.setPosition(part.end, QTextCursor.MoveMode.KeepAnchor)
            with QSignalBlocker(self._text):
                self._text.setTextCursor(cursor)
        self._update_buttons()

    def _part_in_span(self, start: float, end: float) -> TextPart | None:
        assert self._samples is not None
        text = self._text.toPlainText()
        if self._words:
            inside = [word for word in self._words if start <= (word.from_seconds + word.to_seconds) / 2 <= end]
            return part_of_text(text, inside[0].text_start, inside[-1].text_end) if inside else None
        shares = [share_at_time(self._samples, self._take.sample_rate, seconds) for seconds in (start, end)]
        return part_at_shares(text, *shares)

    # Actions.

    def _listen(self) -> None:
        if self._waveform.selection is not None:
            self._play_span(*self._waveform.selection)

    def _listen_from(self, seconds: float) -> None:
        self._play_span(seconds, None)

    def _play_span(self, start_seconds: float, end_seconds: float | None) -> None:
        if self._samples is not None:
            self._session.playback.stop()
            self._player.play_clip(Waveform(self._samples, self._take.sample_rate), start_seconds, end_seconds)

    def _on_trim(self) -> None:
        if self._waveform.selection is not None:
            start, end = self._waveform.selection
            total = self._take.audio_seconds
            self._push_trim(start, max(0.0, total - end))

    def _on_untrim(self) -> None:
        self._push_trim(0.0, 0.0)
        self._waveform.select(0.0, self._take.audio_seconds)

    def _push_trim(self, start: float, end: float) -> None:
        editor = self._session.editor
        trim = {"trim_start_seconds": start, "trim_end_seconds": end}
        editor.push(EditTakes({self._take.id: trim}), self.tr("Trim take"))
        self._take = editor.script.take(self._take.id)
        seconds = self._take.audio_seconds - start - end
        self._message.setText(self.tr("The take is {seconds:.2f} s long now.").format(seconds=seconds))
        self._update_buttons()

    def _on_cut(self) -> None:
        from studio.app.inspector.silence_dialog import SilenceDialog  # noqa: PLC0415 - on demand

        self._player.stop()
        dialog = SilenceDialog(self._session, [self._take], self)
        dialog.cut.connect(self._on_silence_cut)
        open_dialog(dialog)

    def _on_silence_cut(self, made: list[Take]) -> None:
        words = self.tr("{take} has shorter pauses. The former take is kept.")
        self._message.setText(words.format(take=take_name(made[0])))
        self.show_take(made[0])

    def _on_say_again(self) -> None:
        if self._waveform.selection is not None:
            self._begin(PartRetake(self._take, self._waveform.selection))

    def _begin(self, retake: PartRetake) -> None:
        self._problem.clear()
        self._message.setText(self.tr("Speaking…"))
        self._retake = retake
        self._update_buttons()
        self._session.bridge.run(self._say_again(retake))

    async def _say_again(self, retake: PartRetake) -> None:
        session = self._session
        try:
            made = await retake.run(session.bridge, session.editor, session.find_voice, title=self.tr("Say again"))
        except StudioError as error:
            if self._retake is retake:
                self._message.clear()
                self._problem.show_error(error)
            return
        finally:
            if self._retake is retake:
                self._retake = None
                self._update_buttons()
        if made is None:
            return
        if session.parts.checker.is_on:
            session.parts.checker.check([made.take.id])
        if self.isVisible():
            words = self.tr("{take} has the new words. The former take is kept.")
            self._message.setText(words.format(take=take_name(made.take)))
            self.show_take(made.take, (made.start_seconds, made.end_seconds))

    def _end(self) -> None:
        """Stop when the dialog closes."""
        self._player.stop()
        retake, self._retake = self._retake, None
        if retake is not None:
            retake.cancel()


def _read(project: Project, take: Take, text: str) -> tuple[Samples, tuple[WordTime, ...]]:
    """Return the recording of a take and the times of its words, with their places in ``text``."""
    recording = project.recording_of(take.id)
    words = words_of_take(take, project.evidence_of(take.id), recording)
    return recording, words_in_text(words, take.parameters.text, text)
