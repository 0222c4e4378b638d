"""Dialog that switches the speech service on, and shows its address, key and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.serving.serving_controller import ServingController, find_free_port, request_test_speech
from studio.app.serving.voice_name_row import VoiceNameRow
from studio.app.widgets.controls import STRETCH, in_row
from studio.app.widgets.dialogs import dialog_buttons
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.number_field import NumberField
from studio.app.widgets.quiet_label import quiet_label
from studio.app.widgets.secret_field import SecretField
from studio.errors import CannotServe, StudioError
from studio.settings import SERVES_AT_START, SERVICE_PORT
from studio.settings_store import Settings

if TYPE_CHECKING:
    from studio.serve.service_thread import ServiceState

_WIDTH = 620
_LIST_HEIGHT = 54
_COLUMN_WIDTHS = (72, 176, 144, 88)  # the last column takes the rest
_REFRESH_MILLISECONDS = 500


class ServingDialog(QDialog):
    """Controls the service of ``controller``. Closing the dialog does not switch it off."""

    def __init__(self, controller: ServingController, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._controller = controller
        self._settings = settings
        self._is_testing = False
        self._free_port = settings[SERVICE_PORT]
        self.setWindowTitle(self.tr("Serve voices"))
        self.setMinimumWidth(_WIDTH)
        self.switch = QCheckBox(self.tr("Serve this computer's voices"))
        self.at_start = QCheckBox(self.tr("Start with the program"))
        self.at_start.setChecked(settings[SERVES_AT_START])
        self.port = NumberField(minimum=SERVICE_PORT.low, maximum=SERVICE_PORT.high, decimals=0)
        self.port.setAccessibleName(self.tr("Port"))
        self.port.show_number(settings[SERVICE_PORT])
        self.use_free_port = QPushButton()
        self.use_free_port.hide()
        self.address = QLineEdit(readOnly=True)
        self.key = SecretField(self.tr("API key"), self.tr("Show key"))
        self.key.setReadOnly(True)
        self.address.setAccessibleName(self.tr("Address"))
        self.copy_address = QPushButton(self.tr("Copy address"))
        self.copy_key = QPushButton(self.tr("Copy key"))
        self.names = VoiceNameRow(controller, settings)
        self.use = QLabel()
        self.test_button = QPushButton(self.tr("Test"), autoDefault=False)
        self.test_button.setToolTip(self.tr("Send a short request to the service"))
        self.test_result = quiet_label()
        self.requests = QTreeWidget()
        self.requests.setRootIsDecorated(False)
        self.requests.setUniformRowHeights(True)
        self.requests.setHeaderLabels(
            [self.tr("Time"), self.tr("Program"), self.tr("Request"), self.tr("Result"), self.tr("Duration")]
        )
        self.requests.setAccessibleName(self.tr("Last requests"))
        self.requests.setMinimumHeight(_LIST_HEIGHT)
        self.requests.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        for column, width in enumerate(_COLUMN_WIDTHS):
            self.requests.setColumnWidth(column, width)
        self._shown_requests: tuple[object, ...] = ()
        self.problem = ErrorLine()
        self._timer = QTimer(self, interval=_REFRESH_MILLISECONDS)
        self._lay_out()
        self._connect_signals()
        self._timer.start()
        self.refresh()

    def _lay_out(self) -> None:
        hint = quiet_label(
            self.tr(
                "Other programs on this computer can use your voices, as they use OpenAI's speech API. "
                "Enter the address and the key in their settings."
            )
        )
        fields = QFormLayout()
        fields.addRow(self.tr("Port"), in_row(self.port, self.use_free_port, STRETCH))
        fields.addRow(self.tr("Address"), _row(self.address, self.copy_address))
        fields.addRow(self.tr("API key"), _row(self.key, self.copy_key))
        fields.addRow("", self.key.show_box)
        fields.addRow(self.tr("Voice for a name"), self.names)
        fields.addRow(self.tr("Test"), in_row(self.test_button, (self.test_result, 1)))
        fields.addRow(self.tr("Requests"), self.use)
        buttons = dialog_buttons(self, QDialogButtonBox.StandardButton.Close)
        self._rows = rows = QVBoxLayout(self)
        rows.addWidget(hint)
        rows.addWidget(self.switch)
        rows.addLayout(fields)
        rows.addWidget(self.requests, 1)
        rows.addWidget(self.at_start)
        rows.addWidget(self.problem)
        rows.addWidget(buttons)

    def _connect_signals(self) -> None:
        self.switch.clicked.connect(self._switch)
        self.at_start.toggled.connect(self._keep_at_start)
        self.copy_address.clicked.connect(lambda: QApplication.clipboard().setText(self.address.text()))
        self.copy_key.clicked.connect(lambda: QApplication.clipboard().setText(self.key.text()))
        self.names.failed.connect(self.problem.show_error)
        self._controller.changed.connect(self.refresh)
        self._controller.failed.connect(self._show_failure)
        self.port.number_changed.connect(self._use_port)
        self.use_free_port.clicked.connect(self._use_free_port)
        self.test_button.clicked.connect(self._test)
        self._timer.timeout.connect(self.refresh)

    def refresh(self) -> None:
        """Show the current state of the service."""
        state = self._controller.state()
        is_listening = state is not None and bool(state.url)
        self.switch.setChecked(self._controller.is_on)
        for widget in (self.address, self.copy_address, self.key, self.copy_key, self.key.show_box):
            widget.setEnabled(is_listening)
        self.test_button.setEnabled(is_listening and bool(self.key.text()) and not self._is_testing)
        if state is None or not state.url:
            self.address.setText("")
            self.address.setPlaceholderText(self.tr("Starting…") if self._controller.is_on else self.tr("Off"))
            self.key.clear()
            self.use.setText(self.tr("None"))
            return
        self.address.setText(f"{state.url}/v1")
        self.use.setText(
            self.tr("{running} running, {waiting} waiting, {served} answered").format(
                running=state.num_running, waiting=state.num_waiting, served=state.num_served
            )
        )
        self._show_requests(state)
        if not self.key.text():
            path = self._controller.token_file
            run_in_background(
                self,
                lambda: path.read_text("utf-8").strip(),
                done=self.key.setText,
                failed=self.problem.show_error,
            )

    def _switch(self, is_on: bool) -> None:
        self.port.commit()
        self._show_failure(None)
        self.test_result.clear()
        self._controller.switch(is_on=is_on)

    def _use_port(self, port: float) -> None:
        self._settings[SERVICE_PORT] = int(port)
        if self._controller.is_on:
            self._switch(is_on=True)

    def _use_free_port(self) -> None:
        self.port.show_number(self._free_port)
        self._settings[SERVICE_PORT] = self._free_port
        self.switch.setFocus()  # the button disappears
        self._switch(is_on=True)

    def _show_failure(self, error: StudioError | None) -> None:
        """Show ``error``, and propose a free port if the service cannot listen."""
        self.problem.show_error(error)
        self.use_free_port.setVisible(isinstance(error, CannotServe))
        if isinstance(error, CannotServe):
            self._free_port = find_free_port(self._settings[SERVICE_PORT])
            self.use_free_port.setText(self.tr("Use port {port}").format(port=self._free_port))
        if error is not None:  # a dialog does not grow with its wrapped texts
            self.resize(self.width(), max(self.height(), self._rows.totalHeightForWidth(self.width())))

    def _test(self) -> None:
        self._is_testing = True
        self.test_button.setEnabled(False)
        self._show_failure(None)
        self.test_result.setText(self.tr("Waiting for the answer…"))
        url, key = self.address.text(), self.key.text()
        run_in_background(
            self, lambda: request_test_speech(url, key), done=self._on_tested, failed=self._on_test_failed
        )

    def _on_tested(self, seconds: float) -> None:
        self._is_testing = False
        self.test_result.setText(
            self.tr("The service answered with {seconds:.1f} s of speech.").format(seconds=seconds)
        )

    def _on_test_failed(self, error: StudioError) -> None:
        self._is_testing = False
        self.test_result.clear()
        self.problem.show_error(error)

    def _show_requests(self, state: ServiceState) -> None:
        if state.recent == self._shown_requests:
            return
        self._shown_requests = state.recent
        self.requests.clear()
        for each in state.recent:
            result = str(each.status) if each.outcome == "ok" else f"{each.status} {each.outcome}"
            duration = self.tr("{seconds:.1f} s").format(seconds=each.seconds)
            cells = [f"{each.ended:%H:%M:%S}", each.client, each.route, result, duration]
            self.requests.addTopLevelItem(QTreeWidgetItem(cells))

    def _keep_at_start(self, is_wanted: bool) -> None:
        self._settings[SERVES_AT_START] = is_wanted


def _row(field: QLineEdit, button: QPushButton) -> QHBoxLayout:
    button.setAutoDefault(False)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    row = QHBoxLayout()
    row.addWidget(field, 1)
    row.addWidget(button)
    return row
