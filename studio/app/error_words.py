"""What kind of error it is, in the language of the window; the sentence itself is composed where the facts are."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLocale

from studio.app.translation import QT_TRANSLATE_NOOP
from studio.errors import StudioError

_CONTEXT = "Errors"
_HEADINGS = {
    "model-not-found": QT_TRANSLATE_NOOP("Errors", "The model was not found."),
    "unknown-generation": QT_TRANSLATE_NOOP("Errors", "This kind of model is not known."),
    "bad-model-settings": QT_TRANSLATE_NOOP("Errors", "The model's settings are faulty."),
    "missing-model-file": QT_TRANSLATE_NOOP("Errors", "A file of the model is missing."),
    "damaged-model-file": QT_TRANSLATE_NOOP("Errors", "A file of the model is damaged."),
    "wrong-tensors": QT_TRANSLATE_NOOP("Errors", "The model's weights do not fit together."),
    "unsupported-precision": QT_TRANSLATE_NOOP("Errors", "This computer cannot run the model in that way."),
    "unreadable-clip": QT_TRANSLATE_NOOP("Errors", "The recording cannot be read."),
    "clip-too-short": QT_TRANSLATE_NOOP("Errors", "The recording is too short."),
    "clip-too-long": QT_TRANSLATE_NOOP("Errors", "The recording is too long."),
    "silent-clip": QT_TRANSLATE_NOOP("Errors", "The recording is silent."),
    "broken-clip": QT_TRANSLATE_NOOP("Errors", "The recording is broken."),
    "low-sample-rate": QT_TRANSLATE_NOOP("Errors", "The recording's sample rate is too low."),
    "no-audio-device": QT_TRANSLATE_NOOP("Errors", "There is no usable sound device."),
    "no-screen": QT_TRANSLATE_NOOP("Errors", "There is no screen."),
    "nothing-to-speak": QT_TRANSLATE_NOOP("Errors", "There is nothing to be spoken."),
    "text-too-long": QT_TRANSLATE_NOOP("Errors", "The text is too long."),
    "unreadable-text": QT_TRANSLATE_NOOP("Errors", "The text cannot be read."),
    "unknown-preset": QT_TRANSLATE_NOOP("Errors", "The model does not know this style."),
    "style-not-supported": QT_TRANSLATE_NOOP("Errors", "The model cannot do that."),
    "voice-not-found": QT_TRANSLATE_NOOP("Errors", "The voice was not found."),
    "voice-exists": QT_TRANSLATE_NOOP("Errors", "There is a voice of that name already."),
    "bad-voice-file": QT_TRANSLATE_NOOP("Errors", "The voice file cannot be used."),
    "bad-voice-name": QT_TRANSLATE_NOOP("Errors", "A voice cannot be called that."),
    "voice-of-another-model": QT_TRANSLATE_NOOP("Errors", "The voice belongs to another kind of model."),
    "damaged-library": QT_TRANSLATE_NOOP("Errors", "The list of voices is damaged."),
    "no-speech-made": QT_TRANSLATE_NOOP("Errors", "The model said nothing."),
    "sequence-too-long": QT_TRANSLATE_NOOP("Errors", "The text is too long for the model."),
    "model-overflow": QT_TRANSLATE_NOOP("Errors", "The model computed something impossible."),
    "out-of-memory": QT_TRANSLATE_NOOP("Errors", "There is not enough memory."),
    "worker-died": QT_TRANSLATE_NOOP("Errors", "The process that speaks has ended."),
    "worker-busy": QT_TRANSLATE_NOOP("Errors", "The process that speaks does not answer."),
    "disk-full": QT_TRANSLATE_NOOP("Errors", "The disk is full."),
    "cannot-write": QT_TRANSLATE_NOOP("Errors", "It cannot be written."),
    "unusable-setting": QT_TRANSLATE_NOOP("Errors", "A setting cannot be used."),
    "internal-error": QT_TRANSLATE_NOOP("Errors", "This is a fault of the program."),
    "incomplete-installation": QT_TRANSLATE_NOOP("Errors", "The installation is incomplete."),
    "unreadable-project": QT_TRANSLATE_NOOP("Errors", "The project cannot be read."),
    "unreadable-script": QT_TRANSLATE_NOOP("Errors", "The text file cannot be read."),
    "project-in-use": QT_TRANSLATE_NOOP("Errors", "The project is open elsewhere."),
    "project-changed-elsewhere": QT_TRANSLATE_NOOP("Errors", "The project was changed elsewhere."),
    "take-not-found": QT_TRANSLATE_NOOP("Errors", "The take was not found."),
    "bad-pronunciation": QT_TRANSLATE_NOOP("Errors", "The pronunciation cannot be used."),
    "folder-busy": QT_TRANSLATE_NOOP("Errors", "The folder is in use."),
}


def error_heading(error: StudioError) -> str:
    """A sentence in the window's language; empty in English, where the error speaks for itself."""
    speaks_english = QLocale().language() in (QLocale.Language.English, QLocale.Language.C)
    if speaks_english or error.code not in _HEADINGS:
        return ""
    return QCoreApplication.translate(_CONTEXT, _HEADINGS[error.code])
