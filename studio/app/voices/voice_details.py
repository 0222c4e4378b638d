"""Form and dialog for the details of a voice: name, transcript, language, notes and consent."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QDate, QSize, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDateEdit,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.voices.transcript_comparison import Transcribe, TranscriptComparison
from studio.app.voices.voice_items import read_clip
from studio.app.voices.voice_text import LANGUAGE_NAMES, guess_language, language_name
from studio.app.widgets.controls import in_column, text_label
from studio.app.widgets.dialogs import dialog_buttons
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.screen_fit import fit_to_screen
from studio.voices.library import Consent, Voice, VoiceDetails, details_of
from studio.voices.voice import MAX_NAME, SpokenConsent

if TYPE_CHECKING:
    from studio.app.models.model_tasks import ModelTasks
    from studio.app.voices.spoken_consent_field import ConsentServices, SpokenConsentField

_TRANSCRIPT_LINES = 3
_INDENT_PIXELS = 20
_DATE_FORMAT = "yyyy-MM-dd"


class DetailsForm(QWidget):
    completeness_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = QLineEdit(self, maxLength=MAX_NAME)
        self.name.setAccessibleName(self.tr("Voice name"))
        self.transcript = self._make_transcript()
        self._mode_text = text_label("", "quiet")
        self._language = self._make_languages()
        self._has_chosen_language = False
        self._notes = QLineEdit(self, placeholderText=self.tr("Optional, with tags such as #narrator"))
        self._notes.setAccessibleName(self.tr("Notes"))
        self._earlier_spoken: SpokenConsent | None = None
        self._spoken: SpokenConsentField | None = None
        self._consent = QCheckBox(self.tr("Voice owner has consented"), self)
        self._consent.setToolTip(
            self.tr("Only clone voices you have permission to use. This note is stored with the voice.")
        )
        # The dialogs place it where they have room.
        self.comparison = TranscriptComparison(self.transcript, lambda: self._language.currentData() or "", self)
        transcript_label = QLabel(self.tr("&Transcript"), self)
        transcript_label.setBuddy(self.transcript)
        words = in_column((self.transcript, 1), self._mode_text)
        rows = QFormLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        rows.addRow(self.tr("&Name"), self.name)
        rows.addRow(transcript_label, words)
        rows.addRow(self.tr("&Language"), self._language)
        rows.addRow(self.tr("N&otes"), self._notes)
        rows.addRow(self._consent)
        rows.addRow(self._make_consent())
        self.name.textChanged.connect(self.completeness_changed)
        self.transcript.textChanged.connect(self._on_transcript_changed)
        self._language.activated.connect(self._on_language_chosen)
        self._show_mode()

    @property
    def details(self) -> VoiceDetails:
        consent = Consent()
        if self._consent.isChecked():
            date = self._consent_date.date().toString(_DATE_FORMAT)
            until = QDate.fromString(self._consent_until.text(), _DATE_FORMAT)
            last = self._consent_until.text() if until.isValid() else ""
            spoken = self._spoken.spoken if self._spoken else self._earlier_spoken
            consent = Consent(self._consent_by.text(), date, self._consent_scope.text(), last, spoken)
        return VoiceDetails(
            name=self.name.text(),
            transcript=self.transcript.toPlainText().strip() or None,
            notes=self._notes.text().strip(),
            language=self._language.currentData() or None,
            consent=consent,
        )

    @property
    def is_complete(self) -> bool:
        """Whether there is a name, and no comparison of a consent is running."""
        is_comparing = self._spoken is not None and self._spoken.is_comparing
        return bool(self.name.text().strip()) and not is_comparing

    def fill(self, details: VoiceDetails) -> None:
        transcript, consent = details.transcript or "", details.consent
        self.name.setText(details.name)
        self._has_chosen_language = details.language is not None
        self.transcript.setPlainText(transcript)
        self._show_language(details.language or guess_language(transcript))
        self._notes.setText(details.notes)
        self._consent.setChecked(bool(consent))
        self._consent_by.setText(consent.by)
        self._consent_scope.setText(consent.scope)
        self._consent_until.setText(consent.until)
        self._earlier_spoken = consent.spoken
        date = QDate.fromString(consent.date, _DATE_FORMAT)
        self._consent_date.setDate(date if date.isValid() else QDate.currentDate())

    def add_spoken_consent(self, services: ConsentServices) -> None:
        """Let the user record the consent. Call it after ``fill``."""
        from studio.app.voices.spoken_consent_field import SpokenConsentField  # noqa: PLC0415 - after the first paint

        self._spoken = SpokenConsentField(services, self._consent_by.text, self)
        self._spoken.show_spoken(self._earlier_spoken)
        self._consent_by.textChanged.connect(self._spoken.show_name)
        self._spoken.compared.connect(self.completeness_changed)
        self._consent_rows.addRow(self.tr("Spoken"), self._spoken)

    def compare_consent_again(self) -> None:
        """Compare a consent that was recorded here with the clip, which has changed."""
        if self._spoken is not None:
            self._spoken.compare_again()

    def _make_transcript(self) -> QPlainTextEdit:
        field = _TranscriptField(
            self, tabChangesFocus=True, placeholderText=self.tr("Exact transcript of the selection")
        )
        field.setAccessibleName(self.tr("Transcript"))
        field.setMinimumHeight(_TRANSCRIPT_LINES * self.fontMetrics().lineSpacing() + 14)
        field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        # The window handles audio files that are dropped here.
        field.setAcceptDrops(False)
        return field

    def _make_languages(self) -> QComboBox:
        box = QComboBox(self)
        box.setAccessibleName(self.tr("Language"))
        box.addItem(self.tr("Unknown"), "")
        for code in LANGUAGE_NAMES:
            box.addItem(language_name(code), code)
        return box

    def _make_consent(self) -> QWidget:
        """Create the consent fields, which the check box shows."""
        group = QWidget(self)
        group.hide()
        self._consent.toggled.connect(group.setVisible)
        self._consent_by = QLineEdit(group)
        self._consent_by.setAccessibleName(self.tr("Consent given by"))
        self._consent_scope = QLineEdit(group, placeholderText=self.tr("For example: one audiobook"))
        self._consent_scope.setAccessibleName(self.tr("Permitted use"))
        self._consent_date = QDateEdit(QDate.currentDate(), group)
        self._consent_date.setCalendarPopup(True)
        self._consent_date.setDisplayFormat(_DATE_FORMAT)
        self._consent_date.setAccessibleName(self.tr("Date of consent"))
        self._consent_until = QLineEdit(group, placeholderText=self.tr("No limit; a date such as 2030-12-31"))
        self._consent_until.setAccessibleName(self.tr("Last day of consent"))
        rows = QFormLayout(group)
        rows.setContentsMargins(_INDENT_PIXELS, 0, 0, 0)
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        rows.addRow(self.tr("Given by"), self._consent_by)
        rows.addRow(self.tr("Date"), self._consent_date)
        rows.addRow(self.tr("Permitted use"), self._consent_scope)
        rows.addRow(self.tr("Until"), self._consent_until)
        self._consent_rows = rows
        return group

    def _on_transcript_changed(self) -> None:
        self._show_mode()
        if not self._has_chosen_language:
            self._show_language(guess_language(self.transcript.toPlainText()))

    def _on_language_chosen(self) -> None:
        self._has_chosen_language = bool(self._language.currentData())
        self.comparison.compare_again()

    def _show_language(self, code: str) -> None:
        self._language.setCurrentIndex(max(0, self._language.findData(code)))

    def _show_mode(self) -> None:
        if self.transcript.toPlainText().strip():
            words = self.tr(
                "Clip and transcript together give the best likeness. The transcript must match the selection."
            )
        else:
            words = self.tr(
                "The voice is cloned from the audio alone. Add a transcript at any time for a closer likeness."
            )
        self._mode_text.setText(words)


@paints_safely
class _TranscriptField(QPlainTextEdit):
    """Text field that fills the available height, but requests only its minimum: a page around it scrolls late."""

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(super().sizeHint().width(), self.minimumHeight())


class EditDialog(QDialog):
    """Dialog to change the details of ``voice``. After it is accepted, ``details`` contains the new values."""

    def __init__(
        self,
        voice: Voice,
        parent: QWidget | None = None,
        *,
        transcribe: Transcribe | None = None,
        models: ModelTasks | None = None,
        consents: ConsentServices | None = None,
    ) -> None:
        """``transcribe`` compares the transcript with the clip of the voice; ``models`` downloads what it needs.

        ``consents`` records a spoken consent.
        """
        super().__init__(parent)
        self.voice = voice
        self.setWindowTitle(self.tr("Details of {name}").format(name=voice.name))
        self.resize(fit_to_screen(520, 500))
        self._form = DetailsForm(self)
        self._form.fill(details_of(voice))
        self._form.comparison.offer_recognizers(models)
        if consents is not None:
            self._form.add_spoken_consent(consents)
        buttons = dialog_buttons(self, QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        save = buttons.button(QDialogButtonBox.StandardButton.Save)
        self._form.completeness_changed.connect(lambda: save.setEnabled(self._form.is_complete))
        in_column(self._form, self._form.comparison, buttons, parent=self)
        if transcribe is not None and voice.generation is None:
            run_in_background(
                self,
                partial(read_clip, voice),
                done=lambda clip: self._form.comparison.show_clip(clip, transcribe),
                failed=lambda _: None,  # a missing clip is reported where the voice is used
            )

    def done(self, result: int) -> None:
        self._form.comparison.stop()
        super().done(result)

    @property
    def details(self) -> VoiceDetails:
        return self._form.details
