"""Error texts in the interface language. The English source text is the translation key."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from studio.app.translation import QT_TRANSLATE_NOOP
from studio.errors import InternalError, StudioError
from studio.messages import Message

_CONTEXT = "Errors"
# Chinese has no space between sentences.
_BOTH = QT_TRANSLATE_NOOP("Errors", "{problem} {remedy}")


def message_text(message: Message) -> str:
    return message.text(_translated)


def error_message(error: StudioError) -> str:
    return message_text(error.problem)


def error_remedy(error: StudioError) -> str:
    """Return the remedy of an error, or an empty text."""
    return message_text(error.remedy)


def format_error(error: StudioError) -> str:
    """Return the problem and the remedy."""
    return message_text(error.message)


def unexpected_error(error: BaseException) -> InternalError:
    """Return the error that reports a bug to the user."""
    return InternalError(
        "Unexpected error: {reason}.",
        remedy="See the log for details, and please report it.",
        reason=error,
    )


def _translated(template: str) -> str:
    """Translate ``template``. Names of settings are translated as in the settings dialog."""
    words = QCoreApplication.translate(_CONTEXT, template)
    return QCoreApplication.translate("Settings", template) if words == template else words
