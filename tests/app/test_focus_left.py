"""The keyboard focus returns to the script when the focused panel or notice is hidden."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget
from window_bench import Bench

from studio.app.models.first_run_panel import PanelButton, PanelPage
from studio.app.window import MainWindow
from studio.errors import NoAudioDevice
from studio.project.changes import EditLines
from studio.project.lines import Slot


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    window = bench.open_window()
    window.activateWindow()
    bench.parts.models.panel.show_page(
        PanelPage("A better voice", buttons=[PanelButton("Download 3 GB", lambda: None)])
    )
    return window


def press(panel_button: QPushButton | QToolButton) -> None:
    panel_button.setFocus()
    assert panel_button.hasFocus()
    QTest.keyClick(panel_button, Qt.Key.Key_Space)


def is_in_script(window: MainWindow) -> Callable[[], bool]:
    return window.script.view.hasFocus


def test_closing_a_panel_moves_the_focus_to_the_script(bench: Bench, window: MainWindow) -> None:
    press(bench.parts.models.panel._close)
    bench.until(is_in_script(window))


def test_hiding_an_unfocused_panel_keeps_the_focus(bench: Bench, window: MainWindow) -> None:
    button = window.transport_bar.speak_button
    button.setFocus()
    bench.parts.models.panel.hide()
    bench.live(0)
    assert button.hasFocus()


def test_the_next_page_of_a_panel_moves_the_focus_to_the_script(bench: Bench, window: MainWindow) -> None:
    panel = bench.parts.models.panel
    stop = PanelButton("Stop", lambda: None)
    panel.show_page(
        PanelPage("Here", buttons=[PanelButton("Begin", lambda: panel.show_page(PanelPage("", buttons=[stop])))])
    )
    press(panel._offer)
    assert panel._offer.text() == "Stop"
    panel.show_page(PanelPage("Here"))
    bench.until(is_in_script(window))


def test_closing_a_notice_moves_the_focus_to_the_script(bench: Bench, window: MainWindow) -> None:
    window.notices.show_error(NoAudioDevice("There is no sound device.", remedy="Connect one."))
    QWidget.setTabOrder(window.notices._close, bench.parts.models.panel._offer)
    press(window.notices._close)
    bench.until(is_in_script(window))


def test_a_script_without_times_moves_the_focus_from_the_time_line_to_the_script(
    bench: Bench, window: MainWindow
) -> None:
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"slot": Slot(1.0, 2.0)}}))
    for control in (window.dubbing.panel.view, window.dubbing.slot_fields.start):
        bench.session.editor.apply(EditLines({bench.lines[0].id: {"slot": Slot(1.0, 2.0)}}))
        control.setFocus()
        assert window.script.view.hasFocus() is False
        bench.session.editor.apply(EditLines({bench.lines[0].id: {"slot": None}}))
        assert window.script.view.hasFocus()


def test_removing_the_guide_track_keeps_the_focus_in_the_time_line(bench: Bench, window: MainWindow) -> None:
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"slot": Slot(1.0, 2.0)}}))
    panel = window.dubbing.panel
    panel.show_guide_name("film.mp4")
    panel.remove_button.setFocus()
    panel.show_guide_name(None)
    assert panel.guide_button.hasFocus()
