"""Names of the languages a voice may speak."""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from studio.text.language import detect_language

_CONTEXT = "Languages"
_T = QT_TRANSLATE_NOOP

LANGUAGE_WORDS = {
    "zh": _T("Languages", "Chinese"),
    "en": _T("Languages", "English"),
    "ja": _T("Languages", "Japanese"),
    "ko": _T("Languages", "Korean"),
    "de": _T("Languages", "German"),
    "fr": _T("Languages", "French"),
    "es": _T("Languages", "Spanish"),
    "it": _T("Languages", "Italian"),
    "ru": _T("Languages", "Russian"),
}


def language_word(code: str | None) -> str:
    """Return the name of the language in the window's language; the code itself if it has no name here."""
    if not code:
        return ""
    return QCoreApplication.translate(_CONTEXT, str(LANGUAGE_WORDS[code])) if code in LANGUAGE_WORDS else code


def language_of(transcript: str) -> str:
    """Guess the language code of ``transcript``; empty if it contains no letters."""
    return detect_language(transcript).value if any(letter.isalpha() for letter in transcript) else ""
