"""First-run assistant: advice, download and comparison, and skipping, pausing and resuming them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hub_server import Fault, HubServer
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QApplication, QPushButton
from small_model import NAME, small_files, small_model, write_folder
from window_bench import MODEL, Bench

from studio.app.models.first_run import FirstRun
from studio.app.models.first_run_panel import FirstRunPanel, PanelButton, PanelPage
from studio.app.models.model_preview import ModelPreview, compare, highest_hertz
from studio.app.translation import use_language
from studio.audio.player import StreamingAudio
from studio.catalog.installation import Installation
from studio.catalog.installed import installed_models
from studio.catalog.known import SourceKind, known_models
from studio.catalog.machine import Gpu, MachineFacts, Reason, parse_gpus, probe_machine, recommend_model
from studio.catalog.progress import CancelToken
from studio.catalog.source_order import open_source
from studio.project.changes import EditLines
from studio.settings import FIRST_RUN_IS_OVER, LANGUAGE, MODEL_SOURCE, UNFINISHED_DOWNLOADS
from studio.settings import MODEL as MODEL_IN_USE

GIB = 1 << 30
PLAIN = MachineFacts("A processor", 2, 8 * GIB, 5 * GIB, 100 * GIB, None)
CARD = Gpu("NVIDIA GeForce RTX 4070", 12 * GIB, "580.1", 12 * GIB)


@pytest.fixture
def bench(make_bench: Any, hub: HubServer) -> Bench:
    bench: Bench = make_bench(is_first_run=True)
    bench.add_voice()
    return bench


def begin(bench: Bench, facts: MachineFacts = PLAIN) -> FirstRun:
    bench.open_window()
    first_run = bench.parts.models.first_run
    first_run._probe = lambda: facts
    bench.until(lambda: not bench.parts.models.panel.isHidden())
    return first_run


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.5, "Large models are faster than real time on this processor."),
        (1.1, "Large models are about as fast as real time on this processor."),
        (1.5, "Large models are about 1.5 times slower than real time on this processor. Use exports, or"),
        (6.6, "Large models are about 7 times slower than real time on this processor. Use exports, or"),
        (None, "Slow without an NVIDIA GPU."),
    ],
)
def test_the_advice_says_how_fast_large_models_will_be(
    make_bench: Any, hub: HubServer, seconds: float | None, words: str
) -> None:
    bench = make_bench(is_first_run=True, seconds_per_second=seconds)
    begin(bench)
    bench.until(lambda: bench.session.is_ready)
    bench.until(lambda: words in bench.parts.models.panel.page.text)
    assert ("Slow without" in bench.parts.models.panel.page.text) is (seconds is None)


def test_nothing_is_measured_for_a_computer_with_a_gpu(
    make_bench: Any, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = make_bench(is_first_run=True, seconds_per_second=0.5)
    first_run = begin(bench, replace(PLAIN, gpu=CARD))
    bench.until(lambda: bench.session.is_ready)
    bench.run(first_run._measure_speed(replace(PLAIN, gpu=CARD)))
    assert "real time" not in bench.parts.models.panel.page.text


def press(bench: Bench, panel: FirstRunPanel, words: str) -> None:
    button = next(button for button in panel._buttons.findChildren(QPushButton) if button.text() == words)
    bench.loop.call_soon(button.click)
    bench.live(0.01)


def button_texts(panel: FirstRunPanel) -> list[str]:
    return [button.text for button in panel.page.buttons]


def test_the_panel_describes_the_computer_and_recommends_a_model(bench: Bench, hub: HubServer) -> None:
    panel = begin(bench).panel
    assert "A processor · 2 cores" in panel.page.text
    assert "no NVIDIA GPU" in panel.page.text
    assert "Download: 510.01 kB (about 0 s at 100 Mbit/s, 0 s at 20 Mbit/s)" in panel.page.text
    assert "Recommended for this computer" in panel.page.text
    assert NAME in panel.page.title
    assert button_texts(panel) == ["Download 510.01 kB", "Other models…", "Not now"]
    assert hub.asked == []
    assert bench.window is not None
    assert bench.window.script.isEnabled()


@pytest.mark.slow
def test_another_language_translates_the_advice(bench: Bench, qapp: QApplication) -> None:
    first_run = begin(bench)
    bench.settings[LANGUAGE] = "zh_CN"
    try:
        bench.until(lambda: bench.parts.models.first_run is not first_run)
        panel = bench.parts.models.panel
        bench.until(lambda: not panel.isHidden())
        assert panel.page.title == panel._title.text() == f"音质更好：{NAME}"
        assert "本机：" in panel.page.text
        assert panel._text.text() == panel.page.text
        assert "This" not in panel.page.text
        assert "Download" not in "".join(button_texts(panel))
    finally:
        use_language(qapp, QLocale("en_US"))


def test_the_line_says_what_the_included_voice_can_do(
    make_bench: Any, hub: HubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "studio-mini"
    folder.mkdir()
    monkeypatch.setattr("studio.app.models.first_run.known_models", known_models)
    bench: Bench = make_bench(is_first_run=True, model=folder)
    panel = begin(bench).panel
    assert panel.page.title == "Demo model, English only. Get CosyVoice2-0.5B for more natural voices"
    assert button_texts(panel) == ["Download 3.09 GB", "Other models…", "Not now"]
    assert bench.window is not None
    bench.window.resize(1100, 700)
    bench.live(0.1)
    title = panel._title
    words = title.fontMetrics().boundingRect(0, 0, title.width(), 400, Qt.TextFlag.TextWordWrap, title.text())
    assert words.width() > 0
    assert title.height() >= words.height(), "the sentence is cut off"


@pytest.mark.slow
def test_the_advice_disappears_when_another_model_is_imported(bench: Bench, hub: HubServer, tmp_path: Path) -> None:
    panel = begin(bench).panel
    folder = write_folder(tmp_path / "my voice", small_files() | {"llm.pt": b"tuned"})
    bench.loop.call_soon(lambda: bench.session.parts.models.import_from(folder))
    bench.until(panel.isHidden)


@pytest.mark.slow
def test_a_download_continues_after_a_restart(bench: Bench, make_bench: Any, hub: HubServer) -> None:
    panel = begin(bench).panel
    hub.faults["llm.pt"] = [Fault(bytes_per_second=100_000)]
    press(bench, panel, "Download 510.01 kB")
    bench.until(lambda: hub.served_bytes.get("llm.pt", 0) > 10_000)
    bench.close()
    assert not installed_models().get(NAME)
    again: Bench = make_bench(is_first_run=False)
    again.open_window()
    again.until(lambda: NAME in installed_models())
    again.until(lambda: again.settings[UNFINISHED_DOWNLOADS] == ())


@pytest.mark.slow
def test_a_paused_download_does_not_continue_by_itself(bench: Bench, make_bench: Any, hub: HubServer) -> None:
    panel = begin(bench).panel
    hub.faults["llm.pt"] = [Fault(bytes_per_second=100_000)]
    press(bench, panel, "Download 510.01 kB")
    bench.until(lambda: hub.served_bytes.get("llm.pt", 0) > 10_000)
    press(bench, panel, "Pause")
    bench.until(lambda: bench.session.parts.models.current is None)
    assert bench.settings[UNFINISHED_DOWNLOADS] == ()


def test_not_now_ends_the_first_run(bench: Bench, make_bench: Any) -> None:
    panel = begin(bench).panel
    press(bench, panel, "Not now")
    assert panel.isHidden()
    assert bench.settings[FIRST_RUN_IS_OVER]


@pytest.mark.slow
def test_download_and_comparison_with_measured_numbers(bench: Bench, hub: HubServer) -> None:
    """The small model has no weights, so the bundled one is loaded in its place."""
    first_run = begin(bench)
    panel, session = first_run.panel, bench.session
    hub.faults["llm.pt"] = [Fault(bytes_per_second=300_000)]
    press(bench, panel, "Download 510.01 kB")
    bench.until(lambda: panel.page.share is not None and " of " in panel.page.text)
    bench.until(lambda: panel.page.title == f"{NAME} is installed")
    chosen: list[str] = []
    assert bench.window is not None
    bench.parts.models.model_chosen.disconnect()
    bench.parts.models.model_chosen.connect(chosen.append)
    press(bench, panel, "Load and compare")
    bench.until(lambda: panel.page.table, 60)
    assert chosen == [NAME]
    rows = {row[0]: row[1:] for row in panel.page.table}
    assert all(re.fullmatch(r"\d+\.\d\d s", value) for value in rows["Latency"])
    assert set(rows) == {"", "Output", "Latency", "Time per second of speech"}
    assert panel.page.text_below
    press(bench, panel, button_texts(panel)[1])
    bench.until(lambda: first_run._player.is_playing)
    press(bench, panel, "Done")
    assert panel.isHidden()
    assert not first_run._player.is_playing
    assert session.settings[FIRST_RUN_IS_OVER]


@pytest.mark.slow
def test_a_paused_download_can_be_resumed_at_the_next_start(bench: Bench, make_bench: Any, hub: HubServer) -> None:
    panel = begin(bench).panel
    hub.faults["llm.pt"] = [Fault(bytes_per_second=100_000)]
    press(bench, panel, "Download 510.01 kB")
    bench.until(lambda: hub.served_bytes.get("llm.pt", 0) > 10_000)
    press(bench, panel, "Pause")
    assert "paused" in panel.page.title
    bench.until(lambda: bench.session.parts.models.current is None)
    bench.close()
    again: Bench = make_bench(is_first_run=True)
    panel = begin(again).panel
    assert button_texts(panel)[0] == "Resume download"
    press(again, panel, "Resume download")
    again.until(lambda: panel.page.title == f"{NAME} is installed")


@pytest.mark.slow
def test_a_failed_download_is_reported_in_the_panel_and_can_be_retried(bench: Bench, hub: HubServer) -> None:
    panel = begin(bench).panel
    hub.faults["llm.pt"] = [Fault(403, at_hub=True)]
    press(bench, panel, "Download 510.01 kB")
    bench.until(lambda: panel.page.error)
    assert "restricts access" in panel._error.words
    press(bench, panel, "Try again")
    bench.until(lambda: panel.page.title == f"{NAME} is installed")


@pytest.mark.slow
def test_the_download_continues_from_the_other_source_by_itself(
    bench: Bench, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODELSCOPE_ENDPOINT", hub.url)
    panel = begin(bench).panel
    hub.faults["llm.pt"] = [Fault(403, at_hub=True)]
    press(bench, panel, "Download 510.01 kB")
    bench.until(lambda: panel.page.title == f"{NAME} is installed")
    paths = [asked.path for asked in hub.asked]
    assert any(path.startswith("/api/v1/models/") for path in paths)
    assert sum("flow.pt" in path and "/bytes/" in path for path in paths) == 1
    assert bench.settings[MODEL_SOURCE] == MODEL_SOURCE.default


@pytest.mark.slow
def test_an_unreachable_source_counts_down_and_the_user_need_not_wait(
    bench: Bench, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def countdown(token: CancelToken, seconds: float, report: Callable[[float], None]) -> None:
        waits.append(seconds)
        real(token, 600.0, report)  # the user does not wait that long

    real = CancelToken.countdown
    monkeypatch.setattr(CancelToken, "countdown", countdown)
    panel = begin(bench).panel
    hub.list_faults = 2 * [Fault(503)]
    press(bench, panel, "Download 510.01 kB")
    bench.until(lambda: "Retrying in 600 s." in panel.page.text)
    bench.until(lambda: "Retrying in 599 s." in panel.page.text)
    assert button_texts(panel) == ["Pause", "Cancel", "Try now", "Other source"]
    press(bench, panel, "Try now")
    bench.until(lambda: len(waits) == 2)
    monkeypatch.setattr(CancelToken, "countdown", real)
    bench.until(lambda: "Retrying in" in panel.page.text)
    press(bench, panel, "Try now")
    bench.until(lambda: panel.page.title == f"{NAME} is installed")


def preview(first: float, work: float, highest: float, *, noise: bool = False) -> ModelPreview:
    return ModelPreview("a model", noise, first, work, highest, StreamingAudio(24_000))


def test_the_comparison_lists_what_became_better_and_worse() -> None:
    small = preview(0.3, 0.2, 7000.0)
    assert compare(small, preview(0.9, 0.6, 11_000.0)) == (
        ("highest_hertz",),
        ("first_audio_seconds", "real_time_factor"),
    )
    assert compare(small, preview(0.31, 0.19, 7100.0)) == ((), ())
    assert compare(preview(0.1, 0.1, 12_000.0, noise=True), small) == (("makes_noise",), ())


@pytest.mark.slow
def test_cancelling_a_download_deletes_it_and_shows_the_advice(bench: Bench, hub: HubServer) -> None:
    panel = begin(bench).panel
    hub.faults["llm.pt"] = [Fault(bytes_per_second=100_000)]
    press(bench, panel, "Download 510.01 kB")
    bench.until(lambda: hub.served_bytes.get("llm.pt", 0) > 10_000)
    press(bench, panel, "Cancel")
    bench.until(lambda: panel.page.title == f"Better voice: {NAME}")
    bench.until(lambda: bench.session.parts.models.status_of(NAME).arrived_bytes == 0)  # type: ignore[union-attr]
    assert button_texts(panel)[0] == "Download 510.01 kB"


def test_a_waiting_download_that_is_cancelled_on_the_models_page_leaves_the_panel(bench: Bench, hub: HubServer) -> None:
    panel = begin(bench).panel
    hub.list_faults = 9 * [Fault(503)]
    press(bench, panel, "Download 510.01 kB")
    bench.until(lambda: "Retrying in" in panel.page.text)
    bench.session.parts.models.discard(NAME)
    bench.until(lambda: bench.session.parts.models.task_of(NAME) is None)
    assert panel.page.title == f"Better voice: {NAME}"
    assert button_texts(panel)[0] == "Download 510.01 kB"


def install() -> None:
    Installation(small_model(small_files()), open_source(SourceKind.HUGGING_FACE)).run()


@pytest.mark.slow
def test_the_panel_stays_hidden_if_an_installed_model_is_in_use(bench: Bench, hub: HubServer) -> None:
    install()
    folder = installed_models()[NAME]
    bench.session.settings[MODEL_IN_USE] = str(folder)
    bench.open_window()
    bench.until(lambda: bench.session.parts.models.statuses)
    bench.live(0.3)
    assert bench.parts.models.panel.isHidden()


@pytest.mark.slow
def test_an_installed_model_that_was_never_loaded_is_offered_at_the_next_start(bench: Bench, hub: HubServer) -> None:
    install()
    panel = begin(bench).panel
    assert panel.page.title == f"{NAME} is installed"
    assert button_texts(panel)[0] == "Load and compare"
    press(bench, panel, "Later")
    assert bench.settings[FIRST_RUN_IS_OVER]


def test_buttons_are_kept_while_only_the_progress_changes(qapp: Any) -> None:
    panel = FirstRunPanel()
    pressed: list[int] = []
    buttons: list[Any] = []
    for share in (0.1, 0.2):
        panel.show_page(PanelPage("Downloading", buttons=(PanelButton("Pause", lambda s=share: pressed.append(s)),)))
        buttons.append(panel._buttons.findChild(QPushButton))
    assert buttons[0] is buttons[1]
    buttons[1].click()
    assert pressed == [0.2]


def test_a_gpu_with_enough_memory_gets_the_newest_model_and_other_computers_the_lightest() -> None:
    models = known_models().values()
    with_card = recommend_model(MachineFacts("", 8, 32 * GIB, 20 * GIB, 100 * GIB, CARD), models)
    without = recommend_model(PLAIN, models)
    assert with_card is not None
    assert without is not None
    assert (with_card.model.name, with_card.reason) == ("Fun-CosyVoice3-0.5B-2512", Reason.HAS_GPU)
    assert (without.model.name, without.reason) == ("CosyVoice2-0.5B", Reason.LIGHTEST)
    assert not without.lacks_disk
    small = recommend_model(MachineFacts("", 2, 4 * GIB, GIB, GIB, None), models)
    assert small is not None
    assert small.lacks_memory
    assert small.lacks_disk


def test_gpus_are_read_from_the_output_of_the_driver() -> None:
    output = "[N/A], [N/A], 580.1, broken\n12288, 12288, 580.1, NVIDIA GeForce RTX 4070\n"
    assert parse_gpus(output) == (CARD,)
    assert parse_gpus("No devices were found") == ()
    assert probe_machine().num_cores >= 1


def test_the_highest_frequency_is_measured() -> None:
    times = np.arange(24_000) / 24_000
    assert highest_hertz(np.sin(2 * np.pi * 3000 * times).astype(np.float32), 24_000) == pytest.approx(3000, abs=5)
    assert highest_hertz(np.zeros(100, np.float32), 24_000) == 0.0
    assert MODEL.is_dir()


def test_a_held_back_line_and_the_panel_do_not_offer_two_downloads(
    make_bench: Any, hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "studio-mini"
    folder.mkdir()
    monkeypatch.setattr("studio.app.models.first_run.known_models", known_models)
    bench: Bench = make_bench(is_first_run=True, model=folder)
    panel = begin(bench).panel
    bench.parts.language_notices._probe = lambda: PLAIN
    bench.add_voice()
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"text": "今天天气很好。", "voice": "Anna"}}))
    bench.trigger("speak.line")
    bench.until(lambda: bench.window.notices.words)
    assert bench.window.notices._offer.text().startswith("Download CosyVoice2-0.5B")
    assert panel.isHidden()
