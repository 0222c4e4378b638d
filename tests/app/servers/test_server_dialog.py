"""The window speaks through another computer: the dialog, a line, the figures, and a lost connection."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
import running_service
from fake_model import CHUNK_SAMPLES
from other_speech_server import other_speech_server
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMenu
from running_service import RunningService
from window_bench import Bench

from studio.app.bridge import EngineState
from studio.app.documents import new_project
from studio.app.inspector.take_rows import take_rows, tool_tip
from studio.app.script.delegates import CUSTOM_INSTRUCTION
from studio.app.servers.server_dialog import ServerDialog
from studio.app.session import Session
from studio.app.window import MainWindow
from studio.errors import ServerUnreachable
from studio.project.lines import LineState
from studio.remote.address import server_token_file
from studio.serve.running import Address
from studio.settings import OTHER_SERVER_MODEL, SERVER_MODEL, SERVER_URL
from studio.voices.library import VoiceLibrary

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def service(bench: Bench, tmp_path: Path) -> Iterator[RunningService]:
    """A service with a token, as on another computer. ``stop`` ends it earlier than the test."""
    library = VoiceLibrary(tmp_path / "their voices")
    with ExitStack() as stack:
        address = Address(port=0, token_file=tmp_path / "their-token")
        running = stack.enter_context(running_service.serve(address, library=library))
        running.stop = stack.close  # type: ignore[attr-defined]
        yield running


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    window = bench.open_window()
    bench.add_voice()
    return window


def open_dialog(bench: Bench, window: MainWindow) -> ServerDialog:
    window.dialogs.open_server()
    dialog = window.findChildren(ServerDialog)[-1]
    bench.live(0.05)
    return dialog


def connect(bench: Bench, window: MainWindow, service: RunningService, tmp_path: Path) -> None:
    dialog = open_dialog(bench, window)
    dialog.address.setText(service.url)
    dialog.token.setText((tmp_path / "their-token").read_text())
    bench.loop.call_soon(dialog.use.click)
    bridge = bench.session.bridge
    bench.until(lambda: bridge.engine.state is EngineState.READY and bridge.engine.server)


def speak(bench: Bench, window: MainWindow, text: str) -> None:
    """Speak a new line and wait for its end."""
    window.script.paste_text(text)
    line = bench.lines[-1]
    window.script.view.select_lines([line.id])
    bench.session.synthesis.speak([line.id])
    bench.until(lambda: bench.session.queue.jobs and all(job.state.is_over for job in bench.session.queue.jobs))
    bench.until(lambda: not bench.session.playback.player.is_playing)


def test_a_line_is_spoken_there_and_its_figures_tell_the_network(
    bench: Bench, window: MainWindow, service: RunningService, tmp_path: Path
) -> None:
    connect(bench, window, service, tmp_path)
    assert window.status.engine_text.endswith(service.url.removeprefix("http://"))
    assert bench.session.model_selection.styles.styles, "the styles of the other computer's model"
    speak(bench, window, "one two three four five")
    (take,) = bench.session.editor.project.takes_of(bench.lines[-1].id)
    expected = np.repeat(0.1 * np.arange(1, 6, dtype=np.float32), CHUNK_SAMPLES)
    samples = bench.session.editor.project.samples_of(take.id)
    assert np.allclose(samples, expected, atol=1e-4)
    np.testing.assert_array_equal(bench.card.heard, samples)
    assert service.service.num_served == 1
    assert "network" in window.transport_bar._figures.text()
    assert "queue" in window.transport_bar._figures.toolTip()
    assert "RTF there" in window.transport_bar._figures.toolTip()
    assert take.network is not None
    assert 0.0 <= take.network.delay_seconds < take.audio_seconds
    assert "real-time factor there" in tool_tip(take_rows(bench.session.editor.project, bench.lines[-1].id)[0])


def test_the_choice_is_kept_and_the_token_is_private(
    bench: Bench, window: MainWindow, service: RunningService, tmp_path: Path
) -> None:
    connect(bench, window, service, tmp_path)
    token = (tmp_path / "their-token").read_text().strip()
    assert server_token_file().stat().st_mode & 0o777 == 0o600
    assert server_token_file().read_text().strip() == token
    assert token not in " ".join(str(bench.session.settings[each]) for each in (SERVER_URL, SERVER_MODEL))
    again = Session(
        new_project(tmp_path / "again", bench.session.settings), bench.session.settings, bench.session.services
    )
    assert again.bridge.engine.server == service.url.removeprefix("http://")
    assert again.model_selection.folder() == bench.session.bridge.engine.folder
    bench.run(again.close(keeps_draft=False))
    dialog = open_dialog(bench, window)
    bench.until(dialog.token.text)
    assert dialog.token.text() == token
    assert dialog.token.echoMode() == QLineEdit.EchoMode.Password


def test_a_failed_test_is_said_and_changes_nothing(bench: Bench, window: MainWindow, service: RunningService) -> None:
    dialog = open_dialog(bench, window)
    for address, token, words in (
        ("no address/", "", "not the address of a server"),
        (service.url, "wrong-token-wrong-token", "does not accept the token"),
        ("127.0.0.1:9", "", "cannot be reached"),
    ):
        dialog.address.setText(address)
        dialog.token.setText(token)
        bench.loop.call_soon(dialog.use.click)
        bench.until(lambda: dialog.problem.words)
        assert words in dialog.problem.words
        assert dialog.test.isEnabled()
    assert bench.session.model_selection.server() is None
    assert not server_token_file().exists()


def test_a_lost_computer_is_said_in_the_line_and_this_one_is_a_click_away(
    bench: Bench, window: MainWindow, service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.remote.line_request._RETRY_SECONDS", (0.0,))
    connect(bench, window, service, tmp_path)
    service.stop()  # type: ignore[attr-defined]
    speak(bench, window, "one two")
    status = bench.session.line_statuses.of(bench.lines[-1].id)
    assert status is not None
    assert status.state is LineState.FAILED
    assert isinstance(status.error, ServerUnreachable)
    assert "cannot be reached" in window.notices.words
    assert window.notices._offer.text() == "Use this computer"
    bench.loop.call_soon(window.notices._offer.click)
    bench.until(lambda: bench.session.bridge.engine.state is EngineState.READY)
    assert bench.session.model_selection.server() is None
    speak(bench, window, "one two")
    assert bench.lines[-1].chosen_take is not None


def test_the_engine_menu_switches_between_both_computers(
    bench: Bench, window: MainWindow, service: RunningService, tmp_path: Path
) -> None:
    def entries() -> dict[str, QAction]:
        bench.loop.call_soon(window.status.engine_clicked.emit)
        bench.live(0.02)
        menu = window.findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly)[-1]
        return {action.text(): action for action in menu.actions()}

    assert "Another computer…" in entries()
    connect(bench, window, service, tmp_path)
    host = service.url.removeprefix("http://")
    found = entries()
    assert found[host].isChecked()
    local = next(action for action in found.values() if action.isCheckable() and action is not found[host])
    assert not local.isChecked()
    bench.loop.call_soon(local.trigger)
    bench.until(lambda: bench.session.model_selection.server() is None and bench.session.is_ready)
    bench.loop.call_soon(entries()[host].trigger)
    bench.until(lambda: bench.session.model_selection.server() is not None and bench.session.is_ready)


def test_the_models_page_opens_the_dialog(bench: Bench, window: MainWindow) -> None:
    bench.trigger("file.models")
    page = bench.parts.models.page
    assert page is not None
    bench.loop.call_soon(page.server.click)
    bench.until(lambda: page.findChildren(ServerDialog))


def test_a_server_of_another_program_asks_for_model_and_voice_and_greys_out_what_it_lacks(
    bench: Bench, window: MainWindow
) -> None:
    with other_speech_server() as server:
        dialog = open_dialog(bench, window)
        dialog.address.setText(server.url)
        bench.loop.call_soon(dialog.use.click)
        bench.until(dialog.other.isVisible)
        assert bench.session.model_selection.server() is None, "the model and the voice are still to be chosen"
        assert dialog.other.model.currentText() == "kokoro"
        dialog.other.voice.setCurrentText("af_bella")
        bench.loop.call_soon(dialog.use.click)
        bench.until(lambda: bench.session.model_selection.server() is not None and bench.session.is_ready)
        form = window.inspector.form
        bench.until(lambda: not form._is_seed_fixed.isEnabledTo(form))
        assert bench.session.model_selection.styles.styles == ()
        speak(bench, window, "one two")
        assert bench.lines[-1].chosen_take is not None
        assert server.requests[0]["voice"] == "af_bella"
        bench.loop.call_soon(bench.session.model_selection.use_this_computer)
        bench.until(lambda: form._is_seed_fixed.isEnabledTo(form))


def test_triton_asks_for_a_model_and_greys_out_what_it_lacks(bench: Bench, window: MainWindow) -> None:
    pytest.importorskip("tritonclient.grpc", reason="the extra triton is not installed")
    from triton_server import triton_server

    bench.session.settings[OTHER_SERVER_MODEL] = "speech-1"
    with triton_server() as triton:
        dialog = open_dialog(bench, window)
        dialog.address.setText(triton.url)
        assert not dialog.warning.isHidden(), "grpc is not encrypted"
        dialog.address.setText(triton.url.replace("grpc", "grpcs"))
        assert dialog.warning.isHidden()
        dialog.address.clear()
        QTest.keyClicks(dialog.address, triton.url)
        bench.loop.call_soon(dialog.use.click)
        bench.until(dialog.other.isVisible)
        assert bench.session.model_selection.server() is None, "the model is still to be chosen"
        assert dialog.other.model.currentText() == "cosyvoice2"
        assert not dialog.other.voice.isVisible()
        assert "no styles" in dialog.other.limits.text()
        bench.loop.call_soon(dialog.use.click)
        bench.until(lambda: bench.session.model_selection.server() is not None and bench.session.is_ready)
        form = window.inspector.form
        bench.until(lambda: not form._is_seed_fixed.isEnabledTo(form))
        custom = form._style.model().index(form._style.findData(CUSTOM_INSTRUCTION), 0)
        assert not custom.flags() & Qt.ItemFlag.ItemIsEnabled
        speak(bench, window, "one two")
        (take,) = bench.session.editor.project.takes_of(bench.lines[-1].id)
        np.testing.assert_array_equal(bench.card.heard, bench.session.editor.project.samples_of(take.id))
        assert triton.requests[0].text == "one two."
        bench.loop.call_soon(bench.session.model_selection.use_this_computer)
        bench.until(lambda: custom.flags() & Qt.ItemFlag.ItemIsEnabled)


def test_a_missing_client_of_triton_is_said(bench: Bench, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tritonclient.grpc", None)
    monkeypatch.setitem(sys.modules, "grpc.aio", None)
    dialog = open_dialog(bench, window)
    dialog.address.setText("grpc://127.0.0.1:9")
    bench.loop.call_soon(dialog.test.click)
    bench.until(lambda: dialog.problem.words)
    assert "pip install" in dialog.problem.words
