"""The Engines page and the tuning panel, and the actions of their buttons."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import engine_statuses
import pytest
from fake_model import FakeModel
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from thread_worker import ThreadWorker

from studio.app.engines.engines_page import EnginesPage
from studio.app.engines.tuning_panel import EngineTuningPanel
from studio.app.widgets.progress_chip import ProgressChip
from studio.engines.overview import EngineAction, EngineStatus, StageView, Status
from studio.engines.stage import Stage
from studio.messages import message
from studio.model.measurements import Verification


@pytest.fixture
def page(qtbot: Any) -> EnginesPage:
    page = EnginesPage()
    qtbot.addWidget(page)
    page.show()
    return page


def texts(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel))


def panel_text(panel: EngineTuningPanel) -> str:
    return f"{panel._title.text()}\n{panel._text.text()}"


def test_without_a_model_the_page_is_empty(page: EnginesPage) -> None:
    page.show_overview(None)
    assert page._empty.isVisible()
    assert not page._improve.isVisible()


def test_each_stage_shows_engine_speed_error_size_and_age(page: EnginesPage) -> None:
    page.show_overview(engine_statuses.cpu_status())
    assert not page._empty.isVisible()
    assert "no GPU in use" in page._subject.text()
    lm = texts(page.cards[Stage.SPEECH_LM])
    for words in (
        "PyTorch · int8",
        "1.00 s per second of audio, 2.00x the speed of float32",
        "differs by 0.42%, 0.04 dB",
    ):
        assert words in lm
    flow = texts(page.cards[Stage.FLOW])
    assert "PyTorch · float32" in flow
    assert "ONNX Runtime · float32 from the next line on" in flow
    assert "not measured" in texts(page.cards[Stage.VOCODER])
    assert page._disk.text() == "450 MiB on disk, limit 20 GiB"


def test_an_engine_that_was_compared_on_loading_shows_its_difference(page: EnginesPage) -> None:
    status = engine_statuses.cpu_status()
    plain, int8, _ = status.stages[0].candidates
    untested = replace(int8, status=Status.UNTRIED, verification=None, timing=None)
    stage = StageView(Stage.SPEECH_LM, plain.name, (plain, untested))

    def shown(comparison: Verification | None) -> str:
        page.show_overview(replace(status, stages=(stage.loaded(int8.name, comparison), *status.stages[1:])))
        return texts(page.cards[Stage.SPEECH_LM])

    assert "not measured · used before a comparison with float32" in shown(None)
    words = shown(Verification(True, 0.0075, 0.0, 128, agreement=1.0))
    assert "not measured · differs by 0.75%, 100% of tokens equal" in words
    assert "before a comparison" not in words


def test_the_reference_of_a_precision_chosen_on_loading_is_named(page: EnginesPage) -> None:
    """float32 was “Not tested: not tested” beside the precision that had been compared with it."""
    status = engine_statuses.cpu_status()
    untested = [
        replace(each, status=Status.UNTRIED, verification=None, timing=None, reason=message("not tested"))
        for each in status.stages[0].candidates[:2]
    ]
    stage = StageView(Stage.SPEECH_LM, untested[0].name, tuple(untested))
    loaded = stage.loaded(untested[1].name, Verification(True, 0.0075, 0.0, 128, agreement=1.0))
    page.show_overview(replace(status, stages=(loaded, *status.stages[1:])))
    words = texts(page.cards[Stage.SPEECH_LM])
    assert "\nReference" in words
    assert "the precision in use was close enough to it when the model was loaded" in words
    page.show_overview(replace(status, stages=(stage, *status.stages[1:])))
    assert texts(page.cards[Stage.SPEECH_LM]).casefold().count("not tested") == 1


def test_each_unused_engine_has_a_reason(page: EnginesPage) -> None:
    page.show_overview(engine_statuses.cpu_status())
    grid = page.cards[Stage.FLOW]._grid
    reasons = [grid.itemAtPosition(row, 2).widget().text() for row in range(grid.rowCount())]  # type: ignore[union-attr]
    assert len(reasons) == 3
    assert "its audio differs from float32 by 1.31 dB, more than 0.8 dB" in reasons
    assert any("failed 2 times" in reason and "not enough memory" in reason for reason in reasons)
    assert page.cards[Stage.FLOW]._others.isHidden()
    page.cards[Stage.FLOW]._why.click()
    assert not page.cards[Stage.FLOW]._others.isHidden()


def test_the_chart_compares_with_plain_float32(page: EnginesPage) -> None:
    page.show_overview(engine_statuses.cpu_status())
    times = {
        stage: timing and (timing.seconds_per_audio_second, timing.reference_seconds_per_audio_second)
        for stage, timing in page.chart._timings
    }
    assert times == {Stage.SPEECH_LM: (1.0, 2.0), Stage.FLOW: (5.4, 5.4), Stage.VOCODER: None}
    assert "Flow: 5.40 s" in page.chart.accessibleDescription()
    page.chart.grab()


def test_buttons_emit_their_actions(page: EnginesPage, qtbot: Any) -> None:
    page.show_overview(engine_statuses.cpu_status())
    requested: list[tuple[EngineAction, tuple[str, ...]]] = []
    page.action_wanted.connect(lambda action, keys: requested.append((action, keys)))
    page._improve.click()
    page._verify.click()
    page.cards[Stage.FLOW]._again.click()
    assert requested[0] == (EngineAction.IMPROVE, ())
    assert set(requested[1][1]) == {
        "speech-lm-torch-float32", "speech-lm-torch-int8", "flow-torch-float32", "flow-onnxruntime",
    }  # fmt: skip
    assert requested[2] == (EngineAction.IMPROVE, ("flow-tensorrt",))
    assert not page.cards[Stage.SPEECH_LM]._again.isVisible()


def test_a_running_trial_can_be_paused_and_stopped(page: EnginesPage) -> None:
    page.show_overview(engine_statuses.tuning_status())
    assert not page._improve.isEnabled()
    requested: list[EngineAction] = []
    page.action_wanted.connect(lambda action, _: requested.append(action))
    page.panel._pause.click()
    page.show_overview(engine_statuses.tuning_status(is_paused=True))
    page.panel._pause.click()
    page.panel._stop.click()
    assert requested == [EngineAction.PAUSE, EngineAction.RESUME, EngineAction.CANCEL]


def test_the_panel_shows_the_trial_its_progress_and_the_remaining_time(qtbot: Any) -> None:
    panel = EngineTuningPanel()
    qtbot.addWidget(panel)
    panel.show_overview(engine_statuses.tuning_status())
    assert "Optimising for AMD Ryzen 7 5800X: 3 of 5" in panel_text(panel)
    assert "Flow, ONNX Runtime · int8" in panel_text(panel)
    assert "Comparing with float32 · about 2 min left · You can keep working" in panel_text(panel)
    assert panel._bar.value() == round(1000 * (2 + 0.625) / 5)
    panel.show_overview(engine_statuses.cpu_status())  # tuning has ended
    assert panel.isHidden()
    panel.show_overview(engine_statuses.tuning_status())  # it starts again
    assert not panel.isHidden()


def test_buttons_stay_in_place_while_the_text_changes(qtbot: Any) -> None:
    """The text fills one line or two."""
    panel = EngineTuningPanel()
    qtbot.addWidget(panel)
    panel.resize(480, 100)
    overview = engine_statuses.tuning_status()
    assert overview.work is not None
    panel.show_overview(overview)
    long = panel._text.text()
    panel.show()
    qtbot.waitUntil(panel._stop.isVisible)
    metrics, wraps = panel._text.fontMetrics(), Qt.TextFlag.TextWordWrap
    positions, heights = set(), set()
    for words in (long, "1 of 2: Flow"):
        panel._text.setText(words)
        panel.resize(480, panel.heightForWidth(480))
        QCoreApplication.processEvents()
        positions.add(panel._stop.mapTo(panel, panel._stop.rect().topLeft()))
        area = panel._text.rect().adjusted(0, 0, 0, 1000)
        heights.add(metrics.boundingRect(area, wraps, words).height() // metrics.lineSpacing())
    assert len(positions) == 1
    assert heights == {1, 2}, "both lengths were tested"


def test_the_window_shows_the_status_of_the_worker_and_sends_it_actions(
    make_bench: Callable[..., Any], qapp: QApplication
) -> None:
    managed: list[tuple[EngineAction, tuple[str, ...]]] = []

    class ModelWithEngines(FakeModel):
        def watch_engines(self, tell: Callable[[EngineStatus], None]) -> None:
            tell(engine_statuses.tuning_status())

        def manage_engines(self, action: EngineAction, keys: Collection[str]) -> int:
            managed.append((action, tuple(keys)))
            return 0

    bench = make_bench(start_worker=lambda: ThreadWorker(ModelWithEngines))
    window = bench.open_window()
    (chip,) = (each for each in window.status.findChildren(ProgressChip) if "Optimising" in each.accessibleName())
    bench.until(lambda: not chip.isHidden())
    assert chip.text() == "Optimising 3 of 5"
    assert "about 2 min left" in chip.toolTip()
    chip.click()
    page = bench.parts.engines.page
    assert page is not None
    assert page.isVisible()
    assert Stage.FLOW in page.cards
    assert panel_text(page.panel).startswith("Optimising for")
    page.panel._stop.click()
    bench.until(lambda: managed == [(EngineAction.CANCEL, ())])
    page.close()
