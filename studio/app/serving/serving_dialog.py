"""Dialog that switches the speech service on, and shows its address, key and figures."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.serving.serving_controller import ServingController
from studio.app.serving.voice_name_row import VoiceNameRow
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.quiet_label import quiet_label
from studio.app.widgets.secret_field import SecretField
from studio.settings import SERVES_AT_START
from studio.settings_store import Settings

_WIDTH = 520
_REFRESH_MILLISECONDS = 500


class ServingDialog(QDialog):
    """Controls the service of ``controller``. Closing the dialog does not switch it off."""

    def __init__(self, controller: ServingController, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._controller = controller
        self._settings = settings
        self.setWindowTitle(self.tr("Serve voices"))
        self.setMinimumWidth(_WIDTH)
        hint = quiet_label(
            self.tr(
                "Other programs on this computer can use your voices, as they use OpenAI's speech API. "
                "Enter the address and the key in their settings."
            )
        )
        self.switch = QCheckBox(self.tr("Serve this computer's voices"))
        self.at_start = QCheckBox(self.tr("Start with the program"))
        self.at_start.setChecked(settings[SERVES_AT_START])
        self.address = QLineEdit(readOnly=True)
        self.key = SecretField(self.tr("API key"), self.tr("Show key"))
        self.key.setReadOnly(True)
        self.address.setAccessibleName(self.tr("Address"))
        self.copy_address = QPushButton(self.tr("Copy address"))
        self.copy_key = QPushButton(self.tr("Copy key"))
        self.names = VoiceNameRow(controller, settings)
        self.use = QLabel()
        self.problem = ErrorLine()
        fields = QFormLayout()
        fields.addRow(self.tr("Address"), _row(self.address, self.copy_address))
        fields.addRow(self.tr("API key"), _row(self.key, self.copy_key))
        fields.addRow("", self.key.show_box)
        fields.addRow(self.tr("Voice for a name"), self.names)
        fields.addRow(self.tr("Requests"), self.use)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        rows = QVBoxLayout(self)
        rows.addWidget(hint)
        rows.addWidget(self.switch)
        rows.addLayout(fields)
        rows.addWidget(self.at_start)
        rows.addWidget(self.problem)
        rows.addStretch()
        rows.addWidget(buttons)
        self._timer = QTimer(self, interval=_REFRESH_MILLISECONDS)
        # Connections.
        self.switch.clicked.connect(self._switch)
        self.at_start.toggled.connect(self._keep_at_start)
        self.copy_address.clicked.connect(lambda: QApplication.clipboard().setText(self.address.text()))
        self.copy_key.clicked.connect(lambda: QApplication.clipboard().setText(self.key.text()))
        buttons.rejected.connect(self.reject)
        self.names.failed.connect(self.problem.show_error)
        controller.changed.connect(self.refresh)
        controller.failed.connect(self.problem.show_error)
        self._timer.timeout.connect(self.refresh)
        self._timer.start()
        self.refresh()

    def refresh(self) -> None:
        """Show the current state of the service."""
        state = self._controller.state()
        is_listening = state is not None and bool(state.url)
        self.switch.setChecked(self._controller.is_on)
        for widget in (self.address, self.copy_address, self.key, self.copy_key, self.key.show_box):
            widget.setEnabled(is_listening)
        if state is None or not state.url:
            self.address.setText("")
            self.address.setPlaceholderText(self.tr("Starting…") if self._controller.is_on else self.tr("Off"))
            self.key.clear()
            self.use.setText("–")
            return
        self.address.setText(f"{state.url}/v1")
        self.use.setText(
            self.tr("{running} running, {waiting} waiting, {served} answered").format(
                running=state.num_running, waiting=state.num_waiting, served=state.num_served
            )
        )
        if not self.key.text():
            path = self._controller.token_file
            run_in_background(
                self,
                lambda: path.read_text("utf-8").strip(),
                done=self.key.setText,
                failed=self.problem.show_error,
            )

    def _switch(self, is_on: bool) -> None:
        self.problem.clear()
        self._controller.switch(is_on=is_on)

    def _keep_at_start(self, is_wanted: bool) -> None:
        self._settings[SERVES_AT_START] = is_wanted


def _row(field: QLineEdit, button: QPushButton) -> QHBoxLayout:
    button.setAutoDefault(False)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    row = QHBoxLayout()
    row.addWidget(field, 1)
    row.addWidget(button)
    return row
