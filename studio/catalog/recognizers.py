"""Installed speech recognisers, for the checks of takes."""

from __future__ import annotations

from importlib.util import find_spec

from studio.catalog.installed import installed_recognizers
from studio.take_checks.recognizers.choice import EMBEDDED, AvailableRecognizer
from studio.take_checks.recognizers.sense_voice_files import LANGUAGES


def available_recognizers() -> tuple[AvailableRecognizer, ...]:
    """Return the recognisers in the order of preference: the bundled one for English, then the installed ones.

    If the library of the bundled one is missing, as on Python 3.14, it comes last.
    """
    installed = [
        AvailableRecognizer(name, frozenset(LANGUAGES), folder) for name, folder in installed_recognizers().items()
    ]
    return (EMBEDDED, *installed) if find_spec("pocketsphinx") else (*installed, EMBEDDED)
