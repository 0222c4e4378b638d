"""Installed speech recognisers, for the checks of takes."""

from __future__ import annotations

from studio.catalog.installed import installed_recognizers
from studio.take_checks.recognizers.choice import EMBEDDED, AvailableRecognizer
from studio.take_checks.recognizers.layouts import LAYOUTS, layout_of


def available_recognizers() -> tuple[AvailableRecognizer, ...]:
    """Return the installed recognisers in the order of preference, then the bundled one for English."""
    found = [(layout_of(folder), name, folder) for name, folder in installed_recognizers().items()]
    installed = [
        AvailableRecognizer(name, frozenset(layout.languages), layout.name, folder)
        for preferred in LAYOUTS
        for layout, name, folder in found
        if layout is preferred
    ]
    return (*installed, EMBEDDED)
