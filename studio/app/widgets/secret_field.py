"""Field for a token or key, hidden unless its check box is checked."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget


class SecretField(QLineEdit):
    """``show_box`` is the check box, which the caller places."""

    def __init__(self, name: str, show_text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.show_box = QCheckBox(show_text)
        self.show_box.toggled.connect(self._show)
        self._show(False)

    def _show(self, is_shown: bool) -> None:
        self.setEchoMode(QLineEdit.EchoMode.Normal if is_shown else QLineEdit.EchoMode.Password)
