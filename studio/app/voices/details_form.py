"""Form for the metadata of a voice: name, transcript, language, notes and consent."""

from __future__ import annotations

from PySide6.QtCore import QDate, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDateEdit,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from studio.app.voices.languages import LANGUAGE_WORDS, language_of, language_word
from studio.app.voices.voice_edits import Description
from studio.voices.library import Consent
from studio.voices.voice import LONGEST_NAME

_TRANSCRIPT_LINES = 3
_INDENT_PIXELS = 20


class DetailsForm(QWidget):
    name_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = QLineEdit(self)
        self.name.setMaxLength(LONGEST_NAME)
        self.name.setAccessibleName(self.tr("Voice name"))
        self.transcript = self._make_transcript()
        self._mode_text = QLabel(self)
        self._mode_text.setWordWrap(True)
        self._mode_text.setProperty("role", "quiet")
        self._language = self._make_languages()
        self._has_chosen_language = False
        self._notes = QLineEdit(self)
        self._notes.setAccessibleName(self.tr("Notes"))
        self._notes.setPlaceholderText(self.tr("Optional"))
        self._consent = QCheckBox(self.tr("Voice owner has consented"), self)
        self._consent.setToolTip(
            self.tr("Only clone voices you have permission to use. This note is stored with the voice.")
        )
        transcript_label = QLabel(self.tr("&Transcript"), self)
        transcript_label.setBuddy(self.transcript)
        words = QVBoxLayout()
        words.addWidget(self.transcript, 1)
        words.addWidget(self._mode_text)
        rows = QFormLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        rows.addRow(self.tr("&Name"), self.name)
        rows.addRow(transcript_label, words)
        rows.addRow(self.tr("&Language"), self._language)
        rows.addRow(self.tr("N&otes"), self._notes)
        rows.addRow(self._consent)
        rows.addRow(self._make_consent())
        self._connect_signals()
        self._show_mode()

    @property
    def description(self) -> Description:
        consent = Consent()
        if self._consent.isChecked():
            date = self._consent_date.date().toString("yyyy-MM-dd")
            consent = Consent(self._consent_by.text(), date, self._consent_scope.text())
        return Description(
            transcript=self.transcript.toPlainText().strip(),
            notes=self._notes.text().strip(),
            language=self._language.currentData() or "",
            consent=consent,
        )

    def fill(self, name: str, description: Description) -> None:
        self.name.setText(name)
        self._has_chosen_language = bool(description.language)
        self.transcript.setPlainText(description.transcript)
        self._show_language(description.language or language_of(description.transcript))
        self._notes.setText(description.notes)
        consent = description.consent
        self._consent.setChecked(bool(consent))
        self._consent_by.setText(consent.by)
        self._consent_scope.setText(consent.scope)
        date = QDate.fromString(consent.date, "yyyy-MM-dd")
        self._consent_date.setDate(date if date.isValid() else QDate.currentDate())

    def _make_transcript(self) -> QPlainTextEdit:
        field = QPlainTextEdit(self)
        field.setTabChangesFocus(True)
        field.setPlaceholderText(self.tr("Exact transcript of the selection"))
        field.setAccessibleName(self.tr("Transcript"))
        field.setMinimumHeight(_TRANSCRIPT_LINES * self.fontMetrics().lineSpacing() + 14)
        # Fill the available height without requesting more, which would make a surrounding page scroll.
        field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        # The window handles audio files that are dropped here.
        field.setAcceptDrops(False)
        return field

    def _make_languages(self) -> QComboBox:
        box = QComboBox(self)
        box.setAccessibleName(self.tr("Language"))
        box.addItem(self.tr("Unknown"), "")
        for code in LANGUAGE_WORDS:
            box.addItem(language_word(code), code)
        return box

    def _make_consent(self) -> QWidget:
        """Make the consent fields, enabled by the check box."""
        group = QWidget(self)
        group.setEnabled(False)
        self._consent.toggled.connect(group.setEnabled)
        self._consent_by, self._consent_scope = QLineEdit(group), QLineEdit(group)
        self._consent_by.setAccessibleName(self.tr("Consent given by"))
        self._consent_scope.setAccessibleName(self.tr("Permitted use"))
        self._consent_scope.setPlaceholderText(self.tr("For example: one audiobook"))
        self._consent_date = QDateEdit(QDate.currentDate(), group)
        self._consent_date.setCalendarPopup(True)
        self._consent_date.setDisplayFormat("yyyy-MM-dd")
        self._consent_date.setAccessibleName(self.tr("Date of consent"))
        rows = QFormLayout(group)
        rows.setContentsMargins(_INDENT_PIXELS, 0, 0, 0)
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        rows.addRow(self.tr("Given by"), self._consent_by)
        rows.addRow(self.tr("Date"), self._consent_date)
        rows.addRow(self.tr("Permitted use"), self._consent_scope)
        return group

    def _connect_signals(self) -> None:
        self.name.textChanged.connect(self.name_changed)
        self.transcript.textChanged.connect(self._on_transcript_changed)
        self._language.activated.connect(self._on_language_chosen)

    def _on_transcript_changed(self) -> None:
        self._show_mode()
        if not self._has_chosen_language:
            self._show_language(language_of(self.transcript.toPlainText()))

    def _on_language_chosen(self) -> None:
        self._has_chosen_language = bool(self._language.currentData())

    def _show_language(self, code: str) -> None:
        self._language.setCurrentIndex(max(0, self._language.findData(code)))

    def _show_mode(self) -> None:
        if self.transcript.toPlainText().strip():
            words = self.tr(
                "Zero-shot mode: clip and transcript together give the best likeness. "
                "The transcript must match the selection."
            )
        else:
            words = self.tr(
                "Cross-lingual mode: the voice is cloned from the audio alone. "
                "Add a transcript for a closer likeness, now or later."
            )
        self._mode_text.setText(words)
