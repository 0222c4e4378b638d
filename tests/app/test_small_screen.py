"""The window fits a screen of 1280 by 800 at 200 % with all panels open."""

from __future__ import annotations

from typing import Any

import engine_statuses
import numpy as np
import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget
from window_bench import Bench

from studio.app import layout
from studio.app.models.first_run_panel import PanelButton, PanelPage
from studio.app.script.line_model import Column
from studio.app.theme.appearance import Appearance, apply_theme
from studio.app.widgets.elided_label import ElidedPushButton
from studio.app.window import MainWindow
from studio.errors import SourceUnreachable
from studio.project.lines import Line, new_id

SMALL = QSize(640, 360)  # without the title bar
LARGE = QSize(1600, 900)
ADVICE = PanelPage(
    "A better voice", "\n".join(["This computer: 2 cores · 8 GB of memory, and other things worth telling."] * 8)
)


@pytest.fixture
def small_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "available_size", lambda: SMALL)


@pytest.fixture
def window(small_screen: None, bench: Bench, qapp: QApplication) -> MainWindow:
    apply_theme(qapp, Appearance.LIGHT)  # its margins need space, too
    bench.add_voice()
    window = bench.open_window()
    window.resize(SMALL)
    bench.live(0.01)
    return window


def show_both(bench: Bench, *buttons: PanelButton) -> MainWindow:
    window = bench.window
    assert window is not None
    bench.parts.models.panel.show_page(PanelPage(ADVICE.title, ADVICE.text, buttons=buttons))
    bench.parts.engines.show(engine_statuses.tuning_status())
    bench.live(0.02)
    return window


def cut_off(window: QWidget) -> list[str]:
    """Return the visible controls and texts that are smaller than their minimum or exceed their parent widget."""
    return [
        f"{type(part).__name__} {part.geometry()} in {type(part.parentWidget()).__name__}"
        for part in window.findChildren(QWidget)
        if part.isVisible()
        and (part.height() < min(part.minimumSizeHint().height(), part.maximumHeight()) or not is_inside(part, window))
    ]


def is_inside(part: QWidget, window: QWidget) -> bool:
    return window.rect().contains(part.rect().translated(part.mapTo(window, part.rect().topLeft())))


@pytest.mark.slow
def test_with_both_panels_the_window_fits_the_screen(window: MainWindow, bench: Bench) -> None:
    show_both(bench)
    assert window.minimumSizeHint().boundedTo(SMALL) == window.minimumSizeHint()
    assert window.size() == SMALL
    assert cut_off(bench.parts.models.panel) == []
    assert bench.parts.models.panel.height() < 3 * window.fontMetrics().lineSpacing()
    assert window.script.view.height() > 120


@pytest.mark.slow
@pytest.mark.parametrize("is_busy", [False, True])
def test_the_name_of_a_model_in_the_first_steps_does_not_widen_the_window(
    window: MainWindow, bench: Bench, is_busy: bool
) -> None:
    words = "Download Fun-CosyVoice3-0.5B-2512 (3.1 GB)"
    page = PanelPage("A better voice", "Text", is_busy=is_busy, buttons=[PanelButton(words, bool)])
    bench.parts.models.panel.show_page(page)
    bench.live(0.05)
    assert window.size() == SMALL
    (button,) = (each for each in window.findChildren(ElidedPushButton) if each.isVisible())
    assert button.shown_text.endswith("…")
    assert button.toolTip() == button.text() == words


@pytest.mark.slow
def test_an_error_with_both_panels_can_be_read_completely(window: MainWindow, bench: Bench) -> None:
    show_both(bench)
    window.notices.show_error(SourceUnreachable("Long. " * 60, remedy="Try again. " * 30))
    bench.live(0.02)
    assert window.minimumSizeHint().boundedTo(SMALL) == window.minimumSizeHint()
    assert window.size() == SMALL
    words = window.notices.findChild(QScrollArea)
    assert words.height() >= 2 * window.fontMetrics().lineSpacing()
    label = words.widget()
    assert label.height() >= label.heightForWidth(label.width())
    assert is_inside(window.notices, window)
    assert window.script.view.height() >= window.script.view.minimumSizeHint().height()


def test_a_notice_is_as_high_as_its_words(bench: Bench) -> None:
    window = bench.open_window()
    for repeats in (1, 40, 4):
        window.notices.show_hint("Something to know. " * repeats)
        bench.live(0.02)
        words = window.notices.findChild(QScrollArea)
        if words.is_long:  # two lines until it is unfolded
            assert words.height() == 2 * words.fontMetrics().lineSpacing()
            window.notices._unfold.click()
            bench.live(0.02)
        assert words.height() == words.widget().heightForWidth(words.width())


@pytest.mark.slow
def test_the_content_of_a_collapsed_panel_opens_in_a_dialog(window: MainWindow, bench: Bench, qtbot: Any) -> None:
    pressed: list[str] = []
    show_both(bench, PanelButton("Go", lambda: pressed.append("Go")))
    panel = bench.parts.models.panel
    panel._more.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(panel._more, Qt.Key.Key_Space)
    dialog = panel._dialog
    assert dialog is not None
    bench.until(panel.body.isVisible)
    assert dialog.isAncestorOf(panel.body)
    assert dialog.size().boundedTo(SMALL) == dialog.size()
    panel.show_page(PanelPage("Under way", ADVICE.text, is_busy=True, share=0.5, buttons=panel.page.buttons))
    assert dialog.windowTitle() == "Under way"
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert pressed == ["Go"]
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    bench.live(0.01)
    assert panel.isAncestorOf(panel.body)
    assert not panel.body.isVisible()
    assert panel._small_bar.isVisible()


@pytest.mark.slow
def test_hiding_a_panel_closes_its_dialog(window: MainWindow, bench: Bench) -> None:
    show_both(bench)
    panel = bench.parts.models.panel
    panel._more.click()
    bench.until(lambda: panel._dialog is not None and panel._dialog.isVisible())
    panel.hide()
    bench.live(0.01)
    assert panel._dialog is None
    assert panel.isAncestorOf(panel.body)


@pytest.mark.slow
def test_the_status_bar_opens_the_engines_page(window: MainWindow, bench: Bench) -> None:
    show_both(bench)
    window.status._tuning.click()
    assert bench.parts.engines.page is not None
    bench.until(bench.parts.engines.page.isVisible)
    assert bench.parts.engines.page.panel.body.isVisible()


@pytest.mark.slow
def test_eight_lines_are_visible_on_the_first_run_at_1280_by_800(bench: Bench, qapp: QApplication) -> None:
    apply_theme(qapp, Appearance.LIGHT)
    window = bench.open_window()
    window.script.insert_lines([Line(id=new_id(), text=f"Line number {number}.") for number in range(20)])
    window.resize(1280, 800 - 28)  # without the title bar
    show_both(bench)
    window.notices.show_hint("Something to know.")
    bench.live(0.05)
    view = window.script.view
    last = view.model().index(8, Column.TEXT)
    view.scrollToTop()
    assert view.viewport().rect().contains(view.visualRect(last))


@pytest.mark.slow
def test_opening_and_playing_do_not_widen_the_window(window: MainWindow, bench: Bench) -> None:
    width = window.docks.voices.width()
    bench.add_take(np.zeros(24_000, np.float32))
    window.script.find_bar.open(replaces=True)
    window.transport_bar.show_position(0.5)
    window.actions_by_id["speak.pause"].trigger()
    bench.live(0.02)
    assert window.size() == SMALL
    assert window.docks.voices.width() == width
    window.docks.toggle_tab(0)
    bench.live(0.02)
    assert window.size() == SMALL
    assert cut_off(window.transport_bar) == []
    assert window.transport_bar.waveform.width() > 80
    assert window.transport_bar.speak_button.isVisible()
    assert cut_off(window.script.find_bar) == []
    assert window.script.find_bar._find.width() > 60


@pytest.mark.slow
def test_the_text_of_a_line_has_most_of_a_narrow_table(window: MainWindow, bench: Bench) -> None:
    widths = [window.script.view.columnWidth(column) for column in range(window.script.view.model().columnCount())]
    assert max(widths) == widths[3]


@pytest.mark.slow
def test_a_layout_of_a_large_screen_is_not_restored_on_a_small_one(
    make_bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "available_size", lambda: LARGE)
    first: Bench = make_bench()
    window = first.open_window()
    window.docks.toggle_tab(0)
    first.live(0.01)
    least = window.minimumSizeHint()
    assert least.boundedTo(SMALL) != least
    layout.save_layout(window, first.settings)
    first.close()
    monkeypatch.setattr(layout, "available_size", lambda: SMALL)
    again: Bench = make_bench()
    window = again.open_window()
    assert window.minimumSizeHint().boundedTo(SMALL) == window.minimumSizeHint()
