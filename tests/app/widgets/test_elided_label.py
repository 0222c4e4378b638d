"""Texts that are too long for their label or button are elided."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget
from pytestqt.qtbot import QtBot

from studio.app.widgets.elided_label import ElidedLabel, ElidedToolButton

NAME = "Fun-CosyVoice3-0.5B-2512-of-a-very-long-name · AMD EPYC 9R14 with 2 cores · generates noise, not speech"


def test_a_long_name_does_not_widen_the_window(qtbot: QtBot) -> None:
    bar = QWidget()
    qtbot.addWidget(bar)
    row, button, label = QHBoxLayout(bar), ElidedToolButton(autoRaise=True), ElidedLabel("Speaking line 3 of 200")
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    button.setText(NAME)
    row.addWidget(button)
    row.addWidget(label, 1)
    assert bar.minimumSizeHint().width() < 200
    bar.resize(300, 30)
    bar.show()
    qtbot.waitExposed(bar)
    assert button.width() < 300
    assert button.shown_text.endswith("…")
    assert len(button.shown_text) > 5
    assert not bar.grab().isNull()
    bar.resize(1600, 30)
    qtbot.waitUntil(lambda: button.shown_text == NAME)
    assert button.width() == button.sizeHint().width()
