"""Loading of recognisers. Only the check process imports it."""

from __future__ import annotations

from studio.errors import DamagedModelFile, StudioError
from studio.take_checks.process import as_studio_error
from studio.take_checks.recognizers.choice import MODEL, AvailableRecognizer
from studio.take_checks.recognizers.protocol import Recognizer


def open_recognizer(choice: AvailableRecognizer) -> Recognizer:
    """Load a recogniser. Raise ``DamagedModelFile``, ``OutOfMemory``, ``RecognizerNotFound``."""
    try:
        return _open(choice)
    except StudioError:
        raise
    except Exception as error:
        converted = as_studio_error(error)
        if converted.code == "out-of-memory":
            raise converted from error
        raise DamagedModelFile(
            "The speech recogniser {name} cannot be loaded ({reason}).",
            remedy="Repair it with `timbre models verify {name} --repair`.",
            name=choice.name,
            reason=error,
        ) from error


def _open(choice: AvailableRecognizer) -> Recognizer:
    # Each kind loads libraries that the others do not need.
    if choice.folder is None:
        from studio.take_checks.recognizers.pocketsphinx_english import PocketsphinxEnglish  # noqa: PLC0415

        return PocketsphinxEnglish()
    if choice.name == MODEL:
        from studio.take_checks.recognizers.model_phones import ModelPhones  # noqa: PLC0415

        return ModelPhones(choice.name, choice.folder)
    from studio.take_checks.recognizers.sense_voice import SenseVoice  # noqa: PLC0415

    return SenseVoice(choice.name, choice.folder)
