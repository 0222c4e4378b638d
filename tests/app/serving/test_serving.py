"""The speech service of the window: on, used by another program, off; nothing listens before and after."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import noise_models
import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from window_bench import Bench

from studio.app.serving.serving_controller import find_free_port
from studio.app.serving.serving_dialog import ServingDialog
from studio.settings import SERVED_VOICE_NAMES, SERVES_AT_START, SERVICE_PORT

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture
def dialog(bench: Bench, free_port: int, qtbot: QtBot) -> ServingDialog:
    bench.add_voice()
    bench.session.settings[SERVICE_PORT] = free_port
    bench.session.begin()
    dialog = ServingDialog(bench.session.parts.serving, bench.session.settings)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def switch_on(dialog: ServingDialog, qtbot: QtBot) -> None:
    QTest.keyClick(dialog.switch, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: bool(dialog.address.text()) and bool(dialog.key.text()))


def test_a_name_that_programs_send_gets_a_voice_at_once(dialog: ServingDialog, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: dialog.names.voice.count() > 1)
    own = dialog.names.voice.itemData(dialog.names.voice.count() - 1)
    switch_on(dialog, qtbot)
    dialog.names.sent_name.setCurrentText("nova")
    assert dialog.names.voice.currentData() == ""
    dialog.names.voice.setCurrentIndex(dialog.names.voice.findData(own))
    dialog.names.voice.activated.emit(dialog.names.voice.currentIndex())
    assert dialog._settings[SERVED_VOICE_NAMES] == {"nova": own}
    thread = dialog._controller._thread
    assert thread is not None
    assert thread._service is not None
    assert thread._service._named_voice("Nova").name == own
    dialog.names.sent_name.setCurrentText("echo")
    assert dialog.names.voice.currentData() == ""
    dialog.names.sent_name.setCurrentText("nova")
    assert dialog.names.voice.currentData() == own
    dialog.names.voice.setCurrentIndex(0)
    dialog.names.voice.activated.emit(0)
    assert dialog._settings[SERVED_VOICE_NAMES] == {}


def listening_ports() -> list[int]:
    connections = psutil.Process().net_connections("tcp")
    return [each.laddr.port for each in connections if each.status == psutil.CONN_LISTEN]


def in_thread(qtbot: QtBot, work: Callable[[], httpx2.Response]) -> httpx2.Response:
    """Run a request of another program while the window's loop runs."""
    with ThreadPoolExecutor(1) as pool:
        answer: Future[httpx2.Response] = pool.submit(work)
        qtbot.waitUntil(answer.done)
        return answer.result()


@pytest.mark.slow
def test_another_program_speaks_with_address_and_key(dialog: ServingDialog, free_port: int, qtbot: QtBot) -> None:
    before = listening_ports()
    assert free_port not in before
    assert not dialog.address.isEnabled()
    switch_on(dialog, qtbot)
    assert dialog.address.text() == f"http://127.0.0.1:{free_port}/v1"
    assert dialog.key.displayText() != dialog.key.text(), "the key is hidden at first"
    QTest.mouseClick(dialog.copy_key, Qt.MouseButton.LeftButton)
    key = QGuiApplication.clipboard().text()
    body = {"input": "one two", "response_format": "pcm"}
    url = f"{dialog.address.text()}/audio/speech"
    answer = in_thread(qtbot, lambda: httpx2.post(url, json=body, headers={"Authorization": f"Bearer {key}"}))
    assert answer.status_code == 200
    assert len(answer.content) == 2 * 2 * 2400
    assert in_thread(qtbot, lambda: httpx2.post(url, json=body)).status_code == 401
    qtbot.waitUntil(lambda: "1 answered" in dialog.use.text())
    QTest.keyClick(dialog.switch, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: free_port not in listening_ports())
    assert dialog.address.text() == ""
    assert listening_ports() == before


def test_an_error_of_the_service_is_shown_and_switches_it_off(
    dialog: ServingDialog, free_port: int, qtbot: QtBot
) -> None:
    import socket

    with socket.create_server(("127.0.0.1", free_port)):
        for _ in range(2):  # the second failure is shown like the first
            QTest.keyClick(dialog.switch, Qt.Key.Key_Space)
            qtbot.waitUntil(lambda: str(free_port) in dialog.problem.words)
            qtbot.waitUntil(lambda: not dialog.switch.isChecked())
    switch_on(dialog, qtbot)
    assert dialog.problem.words == ""


def test_a_taken_port_is_replaced_by_a_free_one_with_one_press(
    dialog: ServingDialog, free_port: int, qtbot: QtBot
) -> None:
    import socket

    assert dialog.port.value() == free_port
    assert not dialog.use_free_port.isVisible()
    with socket.create_server(("127.0.0.1", free_port)):
        QTest.keyClick(dialog.switch, Qt.Key.Key_Space)
        qtbot.waitUntil(dialog.use_free_port.isVisible)
        assert dialog.height() >= dialog._rows.totalHeightForWidth(dialog.width())
        assert "--port" not in dialog.problem.words
        assert dialog.problem.words.count("127.0.0.1") == 1
        dialog.use_free_port.setFocus()
        QTest.keyClick(dialog.use_free_port, Qt.Key.Key_Space)
        qtbot.waitUntil(lambda: bool(dialog.address.text()))
        other = int(dialog.port.value())
        assert other != free_port
        assert f":{other}/v1" in dialog.address.text()
        assert dialog._settings[SERVICE_PORT] == other
        assert not dialog.use_free_port.isVisible()
        assert dialog.problem.words == ""


def test_another_port_is_used_at_once(dialog: ServingDialog, free_port: int, qtbot: QtBot) -> None:
    switch_on(dialog, qtbot)
    other = find_free_port(free_port)
    dialog.port.setFocus()
    dialog.port.selectAll()
    QTest.keyClicks(dialog.port, str(other))
    QTest.keyClick(dialog.port, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: f":{other}/v1" in dialog.address.text())
    assert free_port not in listening_ports()


def test_the_service_is_tested_and_its_requests_are_listed(dialog: ServingDialog, qtbot: QtBot) -> None:
    assert not dialog.test_button.isEnabled()
    switch_on(dialog, qtbot)
    url = f"{dialog.address.text()}/audio/speech"
    in_thread(qtbot, lambda: httpx2.post(url, json={"input": "one"}, headers={"User-Agent": "my game"}))
    qtbot.waitUntil(lambda: dialog.requests.topLevelItemCount() == 1)
    refused = dialog.requests.topLevelItem(0)
    assert refused is not None
    assert [refused.text(column) for column in (1, 3)] == ["my game (127.0.0.1)", "401 wrong-token"]
    qtbot.waitUntil(dialog.test_button.isEnabled)
    QTest.keyClick(dialog.test_button, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: "s of speech" in dialog.test_result.text())
    qtbot.waitUntil(lambda: dialog.requests.topLevelItemCount() == 2)
    newest = dialog.requests.topLevelItem(0)
    assert newest is not None
    assert [newest.text(column) for column in (1, 2, 3)] == [
        "Timbre Studio (127.0.0.1)", "/v1/audio/speech", "200"
    ]  # fmt: skip


@pytest.mark.slow
def test_closing_the_dialog_keeps_the_service_and_closing_the_session_ends_it(
    bench: Bench, dialog: ServingDialog, free_port: int, qtbot: QtBot
) -> None:
    switch_on(dialog, qtbot)
    dialog.reject()
    assert free_port in listening_ports()
    bench.close()
    qtbot.waitUntil(lambda: free_port not in listening_ports())


def test_the_status_bar_shows_the_service_and_opens_its_dialog(bench: Bench, free_port: int, qtbot: QtBot) -> None:
    bench.add_voice()
    bench.settings[SERVICE_PORT] = free_port
    bench.open_window()
    shown = bench.window.status._serving
    assert shown.isHidden()
    bench.trigger("file.serve")
    dialog = bench.dialog(ServingDialog)
    switch_on(dialog, qtbot)
    dialog.reject()
    bench.until(lambda: not shown.isHidden())
    assert shown.toolTip().endswith(f":{free_port}")
    shown.click()
    QTest.keyClick(bench.dialog(ServingDialog).switch, Qt.Key.Key_Space)
    bench.until(shown.isHidden)


@pytest.mark.slow
def test_the_key_is_kept_for_the_owner(bench: Bench, dialog: ServingDialog, qtbot: QtBot) -> None:
    switch_on(dialog, qtbot)
    first = dialog.key.text()
    path: Path = bench.session.parts.serving.token_file
    assert path.read_text().strip() == first
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0
    QTest.keyClick(dialog.switch, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not dialog.address.text())
    switch_on(dialog, qtbot)
    assert dialog.key.text() == first


def test_starting_with_the_program_is_a_choice(bench: Bench, dialog: ServingDialog) -> None:
    assert bench.session.settings[SERVES_AT_START] is False
    QTest.keyClick(dialog.at_start, Qt.Key.Key_Space)
    assert bench.session.settings[SERVES_AT_START] is True


@pytest.mark.slow
def test_another_model_is_served_under_the_same_address(bench: Bench, dialog: ServingDialog, qtbot: QtBot) -> None:
    switch_on(dialog, qtbot)
    url, key = dialog.address.text(), dialog.key.text()
    bench.session.model_selection.use_model(str(noise_models.V2))

    def served() -> Any:
        try:
            answer = httpx2.get(f"{url}/models", headers={"Authorization": f"Bearer {key}"}, timeout=5)
        except httpx2.TransportError:
            return None
        return answer.json()["data"][0]["id"]

    qtbot.waitUntil(lambda: served() == noise_models.V2.name)


def listening_addresses(program: psutil.Process) -> set[tuple[str, int]]:
    """Return where ``program`` and its child processes listen."""
    found = set()
    for process in (program, *program.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            connections = process.net_connections("inet")
            found |= {tuple(each.laddr) for each in connections if each.status == psutil.CONN_LISTEN}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("serves", [False, True])
def test_the_program_listens_only_while_it_serves(tmp_path: Path, free_port: int, *, serves: bool) -> None:
    """The whole program with its worker, off the screen."""
    folders = {f"TIMBRE_{name}": str(tmp_path / name.lower()) for name in ("DATA", "CONFIG", "CACHE", "LOGS")}
    settings = {SERVES_AT_START.key: serves, SERVICE_PORT.key: free_port}
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.json").write_text(json.dumps(settings))
    environment = os.environ | folders | {"QT_QPA_PLATFORM": "offscreen"}
    with subprocess.Popen([sys.executable, "-m", "studio.start"], env=environment) as window:
        program = psutil.Process(window.pid)
        try:
            end = time.monotonic() + 120
            while not (program.children() and (not serves or listening_addresses(program))):
                assert window.poll() is None
                assert time.monotonic() < end, "the worker does not run, or nothing listens"
                time.sleep(0.2)
            seen = set()
            end = time.monotonic() + 5
            while time.monotonic() < end:
                seen |= listening_addresses(program)
                time.sleep(0.2)
        finally:
            for process in (*program.children(recursive=True), program):
                process.kill()
    assert seen == ({("127.0.0.1", free_port)} if serves else set())
