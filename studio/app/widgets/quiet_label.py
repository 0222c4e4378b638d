"""Explanations in a dialog."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel


def quiet_label(text: str = "") -> QLabel:
    """Return a label with an explanation, in the colour of secondary text, whose lines wrap."""
    label = QLabel(text, wordWrap=True)
    label.setProperty("role", "quiet")
    return label
