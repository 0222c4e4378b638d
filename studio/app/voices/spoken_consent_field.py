"""Recording of a spoken consent: the sentence to say, a recorder, and the comparison with the voice."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QLocale, QObject, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from studio.app.background import run_in_background
from studio.app.playback.audio_player import AudioPlayer
from studio.app.translation import join_sentences
from studio.app.voices.recorder_dialog import RecorderDialog
from studio.app.voices.recording_session import RecordingSession
from studio.app.widgets.controls import STRETCH, in_column, in_row, text_label
from studio.app.widgets.dialogs import choose_file, open_dialog
from studio.app.widgets.error_line import ErrorLine
from studio.audio.recording import OpenInput
from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.provenance.spoken_consents import MIN_SIMILARITY, compare_spoken_consent, consent_sentence
from studio.take_checks.service import TakeCheckService
from studio.voices.library import VoiceLibrary
from studio.voices.voice import SpokenConsent, SpokenWords


@dataclass(frozen=True, slots=True)
class ConsentServices:
    """What the field needs to record a consent, and to compare and keep it.

    ``voice_clip`` returns the clip of the voice, or None for a voice without a recording.
    """

    voice_clip: Callable[[], Path | Waveform | None]
    library: VoiceLibrary
    open_checks: Callable[[], TakeCheckService]
    open_input: OpenInput
    make_player: Callable[[QObject], AudioPlayer]
    file_filter: str  # of audio files, for the file dialog

    def keep(self, clip: Path | Waveform, sentence: str, voice_clip: Path | Waveform | None) -> SpokenConsent:
        """Compare a recording with the voice and copy it into the library. Raises the errors of the comparison."""
        with (
            tempfile.TemporaryDirectory(prefix="timbre-consent-") as folder,
            contextlib.closing(self.open_checks()) as checks,
        ):
            path = _as_file(clip, Path(folder) / "consent.flac")
            voice_path = None if voice_clip is None else _as_file(voice_clip, Path(folder) / "voice.flac")
            spoken = compare_spoken_consent(path, voice_path, sentence, checks)
            self.library.keep_consent_clip(path)
            return spoken


class SpokenConsentField(QWidget):
    """Shows and changes the spoken consent of a voice. ``spoken`` is the record, or None."""

    compared = Signal()  # a comparison has begun or ended, see ``is_comparing``

    def __init__(self, services: ConsentServices, name: Callable[[], str], parent: QWidget | None = None) -> None:
        """``name`` returns the typed name of the speaker."""
        super().__init__(parent)
        self._services = services
        self._name = name
        self.spoken: SpokenConsent | None = None
        self.is_comparing = False
        self._compared: tuple[Path | Waveform, str] | None = None  # the new recording and its sentence
        self._sentence = text_label("", is_selectable=True)
        self._result = text_label("", "quiet")
        self._problem = ErrorLine(self)
        self._record = QPushButton(self.tr("Record…"), self)
        self._choose = QPushButton(self.tr("Choose file…"), self)
        self._remove = QPushButton(self.tr("Remove"), self)
        for button in (self._record, self._choose, self._remove):
            button.setAutoDefault(False)
        buttons = in_row(self._record, self._choose, self._remove, STRETCH)
        in_column(self._sentence, buttons, self._result, self._problem, parent=self, margins=0)
        self._record.clicked.connect(self._on_record)
        self._choose.clicked.connect(self._on_choose)
        self._remove.clicked.connect(self._on_remove)
        self.show_spoken(None)

    def show_spoken(self, spoken: SpokenConsent | None) -> None:
        self.spoken = spoken
        self._problem.clear()
        self._remove.setVisible(spoken is not None)
        self.show_name()
        self._show_result("" if spoken is None else self._describe(spoken))

    def compare_again(self) -> None:
        """Compare a recording that was made here with the clip of the voice, which has changed."""
        if self._compared is not None:
            self._compare(*self._compared)

    def show_name(self) -> None:
        """Show the sentence of the record, or the one with the name that is typed now."""
        sentence = self._wanted_sentence() if self.spoken is None else self.spoken.sentence
        has_name = bool(sentence)
        self._sentence.setText(self.tr("“{sentence}”").format(sentence=sentence) if has_name else self._no_name())
        for button in (self._record, self._choose):
            button.setEnabled(bool(self._wanted_sentence()))

    def _no_name(self) -> str:
        return self.tr("Enter who gives consent to see the sentence to say.")

    def _wanted_sentence(self) -> str:
        name = self._name().strip()
        return consent_sentence(name, QLocale.languageToCode(QLocale().language())) if name else ""

    def _on_record(self) -> None:
        sentence = self._wanted_sentence()
        session = RecordingSession(open_input=self._services.open_input)
        dialog = RecorderDialog(session, self._services.make_player(self), self, text=sentence)
        session.setParent(dialog)
        dialog.accepted.connect(lambda: self._compare(dialog.recording, sentence))
        open_dialog(dialog)

    def _on_choose(self) -> None:
        then = partial(self._compare, sentence=self._wanted_sentence())
        choose_file(self, self.tr("Spoken consent"), then, filters=[self._services.file_filter])

    def _on_remove(self) -> None:
        self._compared = None
        self.show_spoken(None)

    def _compare(self, clip: Path | Waveform, sentence: str) -> None:
        self._compared = clip, sentence
        self._problem.clear()
        self._show_result(self.tr("Comparing with the voice…"))
        self._set_comparing(True)
        keep = partial(self._services.keep, clip, sentence, self._services.voice_clip())
        run_in_background(self, keep, done=self._on_compared, failed=self._on_failed)

    def _on_compared(self, spoken: SpokenConsent) -> None:
        self.show_spoken(spoken)
        self._set_comparing(False)

    def _on_failed(self, error: StudioError) -> None:
        self._compared = None
        self.show_spoken(self.spoken)
        self._set_comparing(False)
        self._problem.show_error(error)

    def _set_comparing(self, is_comparing: bool) -> None:
        self.is_comparing = is_comparing
        self.setEnabled(not is_comparing)
        self.compared.emit()

    def _show_result(self, words: str) -> None:
        self._result.setText(words)
        self._result.setVisible(bool(words))

    def _describe(self, spoken: SpokenConsent) -> str:
        if spoken.similarity is None:
            sentences = [self.tr("The voice has no recording to compare with.")]
        elif spoken.similarity < MIN_SIMILARITY:
            unlike = self.tr("Similarity {similarity:.2f}: probably another speaker, or another microphone.")
            sentences = [unlike.format(similarity=spoken.similarity)]
        else:
            sentences = [self.tr("Similarity to the voice: {similarity:.2f}.").format(similarity=spoken.similarity)]
        match spoken.words:
            case SpokenWords.SAID:
                sentences.append(self.tr("The sentence was heard."))
            case SpokenWords.OTHER:
                sentences.append(self.tr("Other words were heard."))
            case SpokenWords.UNKNOWN:
                sentences.append(self.tr("No recogniser could compare the words."))
        return join_sentences(sentences)


def _as_file(recording: Path | Waveform, path: Path) -> Path:
    """Return the file of a recording, which is written to ``path`` unless it is one."""
    if isinstance(recording, Path):
        return recording
    import soundfile  # noqa: PLC0415 - after the first paint

    soundfile.write(path, recording.samples, recording.sample_rate)
    return path
