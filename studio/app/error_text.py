"""Errors in the language of the window. Their English stands where they happen, and is the key of what is said here."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from studio.app.translation import QT_TRANSLATE_NOOP
from studio.errors import StudioError
from studio.wording import Message

_CONTEXT = "Errors"
# Some languages leave no space between sentences.
_BOTH = QT_TRANSLATE_NOOP("Errors", "{problem} {hint}")


def words_of(wording: Message) -> str:
    return wording.text(_translated)


def error_message(error: StudioError) -> str:
    """What happened."""
    return words_of(error.problem)


def error_hint(error: StudioError) -> str:
    """What to do about it; empty where nothing can be done."""
    return words_of(error.hint)


def format_error(error: StudioError) -> str:
    """What happened and what to do about it."""
    return words_of(error.full_message)


def _translated(template: str) -> str:
    """Errors that are about a setting name it as the dialog of settings does."""
    words = QCoreApplication.translate(_CONTEXT, template)
    return QCoreApplication.translate("Settings", template) if words == template else words
