"""Comparison of a typed transcript with the recording of a voice.

Without a transcript, or with that of another recording, what was recognised is proposed.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QLocale, Qt, QTimer
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QSizePolicy, QTextEdit, QWidget

from studio.app.background import run_in_background
from studio.app.error_text import format_error
from studio.app.theme.colors import theme_colors
from studio.app.translation import join_phrases, join_sentences
from studio.app.voices.voice_text import guess_language
from studio.app.widgets.controls import in_column, text_label
from studio.audio.waveform import Waveform
from studio.errors import RecognizerNotFound, StudioError, UnrecognizedVoice
from studio.take_checks.records import Difference, DifferenceKind, Transcript
from studio.take_checks.requests import TranscriptRequest

if TYPE_CHECKING:
    from studio.app.models.model_tasks import ModelTasks

Transcribe = Callable[[TranscriptRequest], Future[Transcript]]

# The transcript is compared once it has not changed for this time.
_DELAY_MILLISECONDS = 700
_MAX_PLACES = 4
_MARK_OPACITY = 0.25


class TranscriptComparison(QWidget):
    """One sentence about the transcript in ``field``, where it marks the words that differ. Hidden without a recording."""

    def __init__(self, field: QPlainTextEdit, language: Callable[[], str], parent: QWidget | None = None) -> None:
        """``language`` returns the language tag that the user chose, or an empty string."""
        super().__init__(parent)
        self._field = field
        self._language = language
        self._transcribe: Transcribe | None = None
        self._clip: Waveform | None = None
        self._future: Future[Transcript] | None = None
        self._differences: tuple[Difference, ...] = ()
        self._compared = ""  # the text that ``_differences`` belong to
        self._proposal = ""
        self.words = QLabel(wordWrap=True)
        self.words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.use = QPushButton(self.tr("Use what was heard"))
        self.use.setAutoDefault(False)
        self.install = QPushButton()  # downloads a recogniser
        self.install.setAutoDefault(False)
        self._models: ModelTasks | None = None
        self._recognizer = ""  # name of the model that is offered
        self._timer = QTimer(self, singleShot=True, interval=_DELAY_MILLISECONDS)
        title = text_label(self.tr("Transcript"), "title", wraps=False)
        column = in_column(title, self.words, parent=self, margins=0)
        column.addWidget(self.use, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.install, 0, Qt.AlignmentFlag.AlignLeft)
        self._timer.timeout.connect(self._compare)
        self.use.clicked.connect(self._on_use)
        self.install.clicked.connect(self._on_install)
        field.textChanged.connect(self.compare_again)
        self._clear()

    def show_clip(self, clip: Waveform | None, transcribe: Transcribe | None) -> None:
        """Compare with ``clip`` from now on. None hides the comparison."""
        self._clip, self._transcribe = clip, transcribe
        if clip is None or transcribe is None:
            self._clear()
        else:
            self.compare_again()

    def offer_recognizers(self, models: ModelTasks | None) -> None:
        """Let the user download a recogniser for the language through ``models`` if none is installed."""
        self._models = models
        if models is not None:
            models.installed.connect(self._on_installed)
            models.failed.connect(self._on_failed)

    def compare_again(self) -> None:
        """Compare soon, because the text or its language has changed."""
        if self._clip is not None and self._transcribe is not None:
            self._cancel()
            has_text = bool(self._field.toPlainText().strip())
            self._say(self.tr("Comparing with the recording…") if has_text else self.tr("Recognising the words…"))
            self._timer.start()

    def stop(self) -> None:
        """Cancel the comparison before the dialog closes."""
        self._timer.stop()
        self._cancel()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() == QEvent.Type.PaletteChange:
            self._mark_words()
        super().changeEvent(event)

    def _clear(self) -> None:
        self.stop()
        self._differences, self._proposal = (), ""
        self._mark_words()
        self.hide()

    def _cancel(self) -> None:
        future, self._future = self._future, None
        if future is not None:
            future.cancel()

    def _compare(self) -> None:
        assert self._clip is not None, "the timer runs only with a recording"
        assert self._transcribe is not None, "the timer runs only with a recogniser"
        typed = self._field.toPlainText()
        has_text = bool(typed.strip())
        language = self._language()
        if not language and not has_text:
            language = QLocale.languageToCode(QLocale().language())
        request = TranscriptRequest(
            self._clip.samples, self._clip.sample_rate, typed if has_text else "", language=language
        )
        self._future = future = self._transcribe(request)
        run_in_background(
            self,
            partial(_result, future),
            done=partial(self._on_heard, future, typed),
            failed=lambda error: self._say(format_error(error)),
        )

    def _on_heard(self, future: Future[Transcript], typed: str, transcript: Transcript | None) -> None:
        if future is not self._future:
            return
        self._future = None
        if transcript is None:  # cancelled, because the program ends
            self.hide()
            return
        self._differences, self._compared = transcript.differences, typed
        is_proposed = not transcript.error_code and (not typed.strip() or transcript.is_other_text(typed))
        self._proposal = transcript.text.strip() if is_proposed else ""
        self._mark_words()
        self._recognizer = ""
        self._say(self._sentence(transcript, is_proposed=is_proposed))
        self.use.setVisible(bool(self._proposal))
        self.install.setVisible(bool(self._recognizer))

    def _say(self, words: str) -> None:
        self.words.setText(words)
        self.use.hide()
        self.install.hide()
        self.show()

    def _sentence(self, transcript: Transcript, *, is_proposed: bool) -> str:
        code = transcript.error_code
        if code and self._compared.strip():
            return self._why_not_compared(code)
        if code:
            return join_sentences((self._why_nothing_was_heard(code), self.tr("Type the words of the recording.")))
        if is_proposed:
            return self._proposal_text(is_other=bool(transcript.differences))
        if not transcript.differences:
            return self.tr("The recording contains these words.")
        places = [self._place(each) for each in transcript.differences[:_MAX_PLACES]]
        num_others = len(transcript.differences) - len(places)
        if num_others:
            places.append(self.tr("and %n other place(s)", "", num_others))
        return self.tr("The recording differs: {places}.").format(places=join_phrases(places))

    def _why_not_compared(self, code: str) -> str:
        if code == RecognizerNotFound.code:
            return self._how_to_recognize()
        if code == UnrecognizedVoice.code:
            return self.tr("The recogniser does not understand this voice, so the transcript is not compared.")
        return self.tr("The transcript was not compared ({code}).").format(code=code)

    def _why_nothing_was_heard(self, code: str) -> str:
        if code == RecognizerNotFound.code:
            return self._how_to_recognize()
        if code == UnrecognizedVoice.code:
            return self.tr("The recogniser does not understand this voice.")
        return self.tr("No words were recognised ({code}).").format(code=code)

    def _how_to_recognize(self) -> str:
        """Return which recogniser is missing for the language, or for an unknown one. The button downloads it."""
        from studio.app.models.model_text import size_text  # noqa: PLC0415 - slow to import, seldom needed
        from studio.catalog.known import known_models  # noqa: PLC0415

        language = self._language().partition("-")[0] or guess_language(self._field.toPlainText())
        for model in known_models().values():
            if model.is_recognizer and (not language or language in model.languages):
                if self._models is not None and self._models.task_of(model.name) is not None:
                    return self._installing_text(model.name)
                self._recognizer = model.name if self._models is not None else ""
                words = self.tr("Download {name} ({size})")
                self.install.setText(words.format(name=model.name, size=size_text(model.size_bytes())))
                words = self.tr("{model} can compare the words with the recording. It is not installed yet.")
                return words.format(model=model.name)
        return self.tr("There is no recogniser for this language, so the transcript is not compared.")

    def _installing_text(self, name: str) -> str:
        return self.tr("{model} is being downloaded. The words will then be compared with the recording.").format(
            model=name
        )

    def _on_install(self) -> None:
        assert self._models is not None, "the button is hidden without models"
        self._models.install(self._recognizer)
        self._say(self._installing_text(self._recognizer))

    def _on_installed(self, name: str) -> None:
        if name == self._recognizer:
            self.compare_again()

    def _on_failed(self, error: StudioError) -> None:
        if self._recognizer:
            self._say(format_error(error))
            self.install.show()

    def _proposal_text(self, *, is_other: bool) -> str:
        if not self._proposal:
            return self.tr("No words were recognised.")
        words = self.tr("The recording says something else: “{text}”") if is_other else self.tr("Heard: “{text}”")
        return words.format(text=self._proposal)

    def _place(self, difference: Difference) -> str:
        typed, heard = difference.typed, difference.heard
        if difference.kind is DifferenceKind.MISSING:
            words = self.tr("“{typed}” was not heard")
        elif not typed:
            words = self.tr("“{heard}” is missing here") if heard else self.tr("words are missing here")
        elif heard:
            words = self.tr("“{typed}” was heard as “{heard}”")
        else:
            words = self.tr("words other than “{typed}” were heard")
        return words.format(typed=typed, heard=heard)

    def _mark_words(self) -> None:
        """Underline the typed words that differ, and the word at a place where words are missing."""
        style = QTextCharFormat()
        style.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        color = QColor(theme_colors(self.palette()).warn)
        style.setUnderlineColor(color)
        color.setAlphaF(_MARK_OPACITY)
        style.setBackground(color)
        marks = []
        # Marks of an older text would be at wrong places.
        for each in self._differences if self._field.toPlainText() == self._compared else ():
            mark = QTextEdit.ExtraSelection()
            cursor = self._field.textCursor()
            cursor.setPosition(_utf16_units(self._compared[: each.text_start]))
            if each.typed:
                end = _utf16_units(self._compared[: each.text_end])
                cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            else:
                cursor.select(QTextCursor.SelectionType.WordUnderCursor)
            mark.cursor, mark.format = cursor, style
            marks.append(mark)
        self._field.setExtraSelections(marks)

    def _on_use(self) -> None:
        """Insert the proposal. Undo in the field removes it."""
        cursor = self._field.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(self._proposal)
        self._field.setFocus()


def _result(future: Future[Transcript]) -> Transcript | None:
    """Wait for the result on a background thread. Return None if the request was cancelled."""
    try:
        return future.result()
    except CancelledError:
        return None


def _utf16_units(text: str) -> int:
    """Return the length of ``text`` as Qt counts it."""
    return len(text.encode("utf-16-le")) // 2
