"""The default button of a dialog is filled."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QDialog, QMainWindow, QPushButton

from studio.app.theme.appearance import Appearance, apply_theme
from studio.app.theme.colors import LIGHT
from studio.app.widgets.controls import in_column
from studio.app.widgets.dialogs import dialog_buttons


def test_the_button_that_accepts_is_filled_and_the_default(qapp: QApplication) -> None:
    apply_theme(qapp, Appearance.LIGHT)
    window = QMainWindow()
    dialog = QDialog(window)
    button = QPushButton("Import")
    in_column(dialog_buttons(dialog, accept=button), parent=dialog)
    dialog.show()
    image = button.grab().toImage()
    assert image.pixelColor(8, image.height() // 2).name() == LIGHT.accent
    assert button.isDefault()
    window.deleteLater()
