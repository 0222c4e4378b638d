"""Dialog for synthesis on another computer: address, token and a test of the connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
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
from studio.app.servers.other_server_fields import OtherServerFields
from studio.app.widgets.dialogs import make_primary
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.quiet_label import quiet_label
from studio.app.widgets.secret_field import SecretField
from studio.errors import StudioError
from studio.remote.address import ServerAddress, normalized_url, server_token_file
from studio.storage.token_file import read_token, write_token

if TYPE_CHECKING:
    from studio.remote.probing import OtherServer, ServerFacts

_WIDTH = 520
_ENCRYPTED = ("https:", "grpcs:")


class ServerDialog(QDialog):
    """``server_chosen`` carries the server and the name of its model, after a successful test.

    For a server of another program, the dialog asks for its model and voice, and lists what it cannot do. The token is
    stored when the server is chosen, in a file that only this user can read.
    """

    server_chosen = Signal(object, str)  # ServerAddress, name of the model
    this_computer_chosen = Signal()

    def __init__(self, last: ServerAddress, parent: QWidget | None = None, *, is_in_use: bool) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Another computer"))
        self.setMinimumWidth(_WIDTH)
        hint = quiet_label(
            self.tr(
                "Lines are synthesised on a computer that runs “timbre serve”. The voices you use are sent to it once; "
                "scripts, takes and checks stay here. Addresses of Triton begin with grpc://."
            )
        )
        self.address = QLineEdit(last.url, placeholderText="192.168.1.20:8807")
        self.address.setAccessibleName(self.tr("Address"))
        self.token = SecretField(self.tr("Token"), self.tr("Show token"))
        self.warning = quiet_label(
            self.tr(
                "Texts, voices and the token are not encrypted over http and grpc. Use them only in a network you trust."
            )
        )
        self.other = OtherServerFields(last)
        self.test = QPushButton(self.tr("Test connection"))
        self.test.setAutoDefault(False)
        self.state = QLabel(wordWrap=True)
        self.problem = ErrorLine()
        fields = QFormLayout()
        fields.addRow(self.tr("Address"), self.address)
        fields.addRow(self.tr("Token"), self.token)
        fields.addRow("", self.token.show_box)
        testing = QHBoxLayout()
        testing.addWidget(self.test)
        testing.addWidget(self.state, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.use = buttons.addButton(self.tr("Use this address"), QDialogButtonBox.ButtonRole.ActionRole)
        make_primary(self.use)
        self.use_here = buttons.addButton(self.tr("Use this computer"), QDialogButtonBox.ButtonRole.ActionRole)
        self.use_here.setVisible(is_in_use)
        rows = QVBoxLayout(self)
        rows.addWidget(hint)
        rows.addLayout(fields)
        rows.addWidget(self.warning)
        rows.addLayout(testing)
        rows.addWidget(self.other)
        rows.addWidget(self.problem)
        rows.addStretch()
        rows.addWidget(buttons)
        # Connections.
        self.address.textChanged.connect(self._on_edited)
        self.address.textEdited.connect(self.other.hide)
        self.token.textChanged.connect(self._on_edited)
        self.test.clicked.connect(lambda: self._probe(is_chosen=False))
        self.use.clicked.connect(lambda: self._probe(is_chosen=True))
        self.use_here.clicked.connect(self._use_here)
        buttons.rejected.connect(self.reject)
        self._on_edited()
        run_in_background(
            self,
            lambda: read_token(server_token_file()) or "",
            done=self._show_stored_token,
            failed=self._on_failed,
        )

    def _show_stored_token(self, token: str) -> None:
        if not self.token.text():
            self.token.setText(token)

    def _on_edited(self) -> None:
        is_given = bool(self.address.text().strip())
        self.test.setEnabled(is_given)
        self.use.setEnabled(is_given)
        self.warning.setVisible(not self.address.text().strip().lower().startswith(_ENCRYPTED))
        self.state.clear()
        self.problem.clear()

    def _probe(self, *, is_chosen: bool) -> None:
        """Test the connection, and use it afterwards if it ``is_chosen``."""
        self.problem.clear()
        token = self.token.text().strip()
        try:
            address = self.other.server(normalized_url(self.address.text()))
        except StudioError as error:
            self._on_failed(error)
            return
        for button in (self.test, self.use):
            button.setEnabled(False)
        self.state.setText(self.tr("Connecting…"))

        def work() -> ServerFacts | OtherServer:
            from studio.remote.probing import probe_any  # noqa: PLC0415 - slow to import

            facts = probe_any(address, token or None)
            if is_chosen:
                write_token(server_token_file(), token)
            return facts

        run_in_background(
            self, work, done=lambda facts: self._on_found(address, facts, is_chosen), failed=self._on_failed
        )

    def _on_found(self, address: ServerAddress, facts: ServerFacts | OtherServer, is_chosen: bool) -> None:
        from studio.remote.probing import ServerFacts  # noqa: PLC0415 - imported by the test

        self._on_edited()
        if isinstance(facts, ServerFacts):
            description = facts.description
            self.other.hide()
            self.state.setText(
                self.tr("{model} on {device}; network {milliseconds:.0f} ms").format(
                    model=description.model_name,
                    device=description.device,
                    milliseconds=1000 * facts.round_trip_seconds,
                )
            )
            address, model = ServerAddress(address.url), description.model_name
        else:
            model = address.model
            self.other.show_found(facts, is_triton=address.is_triton)
            self.state.setText(
                self.tr("Connected. Choose a model, then use this address.")
                if address.is_triton
                else self.tr("Connected. Choose a model and a voice, then use this address.")
            )
            self._make_room()
        if is_chosen and model:
            self.server_chosen.emit(address, model)
            self.accept()

    def _on_failed(self, error: StudioError) -> None:
        self._on_edited()
        self.problem.show_error(error)
        self._make_room()

    def _make_room(self) -> None:
        """Grow for wrapped text, which a dialog does not do by itself."""
        layout = self.layout()
        assert layout is not None
        layout.activate()
        self.resize(self.width(), max(self.height(), layout.totalHeightForWidth(self.width())))

    def _use_here(self) -> None:
        self.this_computer_chosen.emit()
        self.accept()
