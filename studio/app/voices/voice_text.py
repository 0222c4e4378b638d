"""Texts about voices in the interface language: languages, grades, states of preparation and clip reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale

from studio.app.theme.colors import ThemeColors
from studio.app.translation import QT_TRANSLATE_NOOP as _T
from studio.app.translation import join_phrases
from studio.app.voices.preload_queue import Preparation, PreparationState
from studio.text.language import detect_language
from studio.voices.voice import Grade, Voice

if TYPE_CHECKING:
    from studio.voices.clip_report import Aspect, ClipIssue

LANGUAGE_NAMES = {
    "zh": _T("Languages", "Chinese"),
    "en": _T("Languages", "English"),
    "ja": _T("Languages", "Japanese"),
    "ko": _T("Languages", "Korean"),
    "yue": _T("Languages", "Cantonese"),
    "de": _T("Languages", "German"),
    "fr": _T("Languages", "French"),
    "es": _T("Languages", "Spanish"),
    "it": _T("Languages", "Italian"),
    "ru": _T("Languages", "Russian"),
}
GRADE_NAMES = {
    Grade.GOOD: _T("ClipReport", "Good"),
    Grade.FAIR: _T("ClipReport", "Fair"),
    Grade.POOR: _T("ClipReport", "Poor"),
}
ASPECT_NAMES = {  # by value of ``Aspect``
    "length": _T("ClipReport", "Length"),
    "level": _T("ClipReport", "Level"),
    "clipping": _T("ClipReport", "Distortion"),
    "noise": _T("ClipReport", "Noise"),
    "bandwidth": _T("ClipReport", "Clarity"),
    "silence": _T("ClipReport", "Pauses"),
}
DESCRIPTIONS = (  # in ``resources/voices``
    _T("BundledVoices", "A bright woman's voice, American."),
    _T("BundledVoices", "A light man's voice, slightly Scottish."),
    _T("BundledVoices", "A woman's voice, mechanical."),
    _T("BundledVoices", "A man's voice, mechanical."),
    _T("BundledVoices", "A deep man's voice, American; the model never heard it in training."),
)
PREPARATION_TEXTS = {
    PreparationState.WAITING: _T("VoicePreparation", "Queued"),
    PreparationState.RUNNING: _T("VoicePreparation", "Preparing, {percent}%"),
    PreparationState.READY: _T("VoicePreparation", "Ready"),
    PreparationState.FAILED: _T("VoicePreparation", "Preparation failed"),
    PreparationState.OTHER_MODEL: _T("VoicePreparation", "Needs another model"),
}
# The icons differ in shape as well as in colour.
GRADE_ICONS = {Grade.GOOD: "quality-good", Grade.FAIR: "quality-fair", Grade.POOR: "quality-poor"}


def language_name(code: str | None) -> str:
    """Return the name of the language ``code``. A code without a name is returned unchanged, and None as ""."""
    if not code:
        return ""
    return QCoreApplication.translate("Languages", LANGUAGE_NAMES[code]) if code in LANGUAGE_NAMES else code


def guess_language(transcript: str) -> str:
    """Guess the language code of ``transcript``. It is empty if the transcript contains no letters."""
    return detect_language(transcript).value if any(letter.isalpha() for letter in transcript) else ""


def good_for_text(voice: Voice, grade: Grade | None) -> str:
    """Return the suitability of a voice: language, notes or length of the clip, and the grade unless it is good."""
    notes = voice.notes.strip().splitlines()
    seconds = QCoreApplication.translate("Voices", "{seconds:.1f} s").format(seconds=voice.clip_seconds)
    source = join_phrases(voice.models) or (seconds if voice.clip_seconds else "")
    parts = [
        language_name(voice.language),
        notes[0] if notes else description_text(voice) or source,
        grade_name(grade) if grade not in (None, Grade.GOOD) else "",
    ]
    return " · ".join(part for part in parts if part)


def description_text(voice: Voice) -> str:
    """Return the description of a bundled voice. One without a translation is returned unchanged."""
    return QCoreApplication.translate("BundledVoices", voice.description) if voice.description else ""


def own_language_first(voices: Iterable[Voice]) -> list[Voice]:
    """Return ``voices`` with those in the language of the interface first, and the speakers of models last."""
    own = QLocale().name().partition("_")[0]
    return sorted(voices, key=lambda voice: 2 if voice.models else voice.language != own)


def why_unusable(voice: Voice) -> str:
    """Return why a voice without a recording cannot be used with the loaded model."""
    if not voice.models:
        return preparation_text(Preparation(PreparationState.OTHER_MODEL))
    return QCoreApplication.translate("VoicePreparation", "Needs {model}").format(model=voice.models[0])


def grade_name(grade: Grade) -> str:
    return QCoreApplication.translate("ClipReport", GRADE_NAMES[grade])


def grade_color(grade: Grade, colors: ThemeColors) -> str:
    """Return the colour of the grade's icon."""
    return {Grade.GOOD: colors.good, Grade.FAIR: colors.warn, Grade.POOR: colors.bad}[grade]


def aspect_name(aspect: Aspect) -> str:
    return QCoreApplication.translate("ClipReport", ASPECT_NAMES[aspect.value])


def preparation_text(preparation: Preparation) -> str:
    """Return the label of a state. It is empty for UNKNOWN."""
    template = PREPARATION_TEXTS.get(preparation.state, "")
    words = QCoreApplication.translate("VoicePreparation", template) if template else ""
    return words.format(percent=round(100 * preparation.share))


def finding_text(finding: ClipIssue) -> str:
    """Return the finding and, unless the grade is good, what the user can do about it."""
    templates = [template for template in (finding.verdict.sentence, finding.verdict.advice) if template]
    return join_sentences(*(QCoreApplication.translate("Errors", text).format(**finding.values) for text in templates))


def join_sentences(first: str, second: str = "") -> str:
    """Join translated sentences. There is no space between them in Chinese."""
    if not second:
        return first
    return QCoreApplication.translate("Errors", "{problem} {remedy}").format(problem=first, remedy=second)
