"""The Models page does everything that `timbre models` does, without blocking the window."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from hub_server import Fault, HubServer
from PySide6.QtWidgets import QMessageBox
from small_model import NAME, small_files, write_folder
from window_bench import Bench

from studio.app.models.model_card import ModelCard
from studio.app.models.model_tasks import ModelTaskKind
from studio.app.models.models_page import ModelsPage
from studio.catalog import known
from studio.catalog.installed import ModelState
from studio.catalog.machine import Gpu, MachineFacts
from studio.model.generations import COSYVOICE2, COSYVOICE3
from studio.settings import PREFERS_RL


class PageBench:
    """The window with the Models page open."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.window = bench.open_window()
        bench.trigger("file.models")
        page = bench.parts.models.page
        assert page is not None
        self.page: ModelsPage = page
        bench.until(lambda: NAME in page.cards)

    @property
    def card(self) -> ModelCard:
        return self.page.cards[NAME]

    @property
    def message(self) -> str:
        return "" if self.page._message.isHidden() else self.page._message.text()

    @property
    def state(self) -> ModelState:
        status = self.bench.session.parts.models.status_of(NAME)
        assert status is not None
        return status.state

    def click(self, words: str) -> None:
        button = next(b for b in (self.card._main, self.card._second) if b.text() == words and not b.isHidden())
        assert button.isEnabled()
        self.bench.loop.call_soon(button.click)
        self.bench.live(0.01)

    def choose(self, words: str) -> None:
        action = next(action for action in self.card._menu.actions() if action.text().startswith(words))
        assert action.isEnabled()
        self.bench.loop.call_soon(action.trigger)
        self.bench.live(0.01)

    def until(self, state: ModelState) -> None:
        self.bench.until(lambda: self.state is state and self.bench.session.parts.models.current is None)

    def install(self) -> None:
        self.click("Download")
        self.until(ModelState.INSTALLED)


@pytest.fixture
def models(bench: Bench, hub: HubServer) -> PageBench:
    return PageBench(bench)


def test_the_page_describes_the_models_without_network_requests(models: PageBench, hub: HubServer) -> None:
    card = models.card
    assert card._state.text() == "Not installed"
    assert "Chinese, English, 18 Chinese dialects" in card._abilities.text()
    assert "Clones any voice" in card._abilities.text()
    assert "licence Apache-2.0" in card._origin.text()
    assert card._main.text() == "Download"
    assert not card._variant.isHidden()
    models.page.use("studio-mini")
    assert models.page.cards["studio-mini"]._state.text() == "Included · in use"
    assert hub.url.removeprefix("http://") in models.page._source.text()
    assert hub.asked == []


def test_the_recommended_model_says_why(make_bench: Any, hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = MachineFacts("A processor", 2, 8 << 30, 5 << 30, 100 << 30, Gpu("RTX 4070", 12 << 30, "580", 12 << 30))
    monkeypatch.setattr("studio.app.models.models_page.probe_machine", lambda: facts)
    models = PageBench(make_bench())
    models.bench.until(models.card._advice.text)
    assert models.card._advice.text() == ("Recommended for this computer: newest model, fits the 12.0 GB of RTX 4070.")
    assert models.page.cards["studio-mini"]._advice.isHidden()


@pytest.mark.slow
def test_models_that_are_not_supported_are_folded_away(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "GENERATIONS", (COSYVOICE2, COSYVOICE3))
    window = bench.open_window()
    bench.trigger("file.models")
    page = bench.parts.models.page
    assert page is not None
    bench.until(lambda: "CosyVoice-300M" in page.cards)
    assert page._unsupported.text() == "Not supported yet (3)"
    assert page.cards["CosyVoice-300M"].isHidden()
    assert not page.cards["CosyVoice2-0.5B"].isHidden()
    page._unsupported.click()
    assert not page.cards["CosyVoice-300M"].isHidden()
    assert page._column.indexOf(page._unsupported) < page._column.indexOf(page.cards["CosyVoice-300M"])
    screen = window.screen().availableGeometry()
    assert page.width() <= screen.width()
    assert page.height() <= screen.height()


@pytest.mark.slow
def test_a_download_shows_its_progress_and_ends_with_an_installed_model(models: PageBench, hub: HubServer) -> None:
    hub.faults["llm.pt"] = [Fault(bytes_per_second=400_000)]
    models.click("Download")
    models.bench.until(lambda: "kB of " in models.card._task.text())
    assert "Downloading Small-CosyVoice3" in models.window.status._models.accessibleDescription()
    assert models.card._bar.maximum() > 0
    assert models.card._main.text() == "Pause"
    models.until(ModelState.INSTALLED)
    assert models.card._state.text() == "Installed"
    assert models.card._bar.isHidden()
    assert models.window.status._models.accessibleDescription() == ""


@pytest.mark.slow
def test_a_download_resumes_after_the_window_was_closed(
    make_bench: Any, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = PageBench(make_bench())
    hub.faults["llm.pt"] = [Fault(bytes_per_second=100_000)]
    first.click("Download")
    first.bench.until(lambda: hub.served_bytes.get("llm.pt", 0) > 20_000)
    first.bench.close()  # in the middle
    served = dict(hub.served_bytes)
    second = PageBench(make_bench())
    second.until(ModelState.INSTALLED)
    assert hub.served_bytes["flow.pt"] == served["flow.pt"]


@pytest.mark.slow
def test_a_task_requested_while_the_statuses_are_read_waits(models: PageBench, hub: HubServer) -> None:
    """Continuing right after a pause starts one download, not two."""
    work, begun = models.bench.session.parts.models, []
    refresh, do = work.refreshed, work._do

    async def refresh_slowly() -> None:
        await asyncio.sleep(0.3)
        await refresh()

    work.refreshed = refresh_slowly
    work._do = lambda task: (begun.append(task.kind), do(task))[1]
    hub.faults["llm.pt"] = 2 * [Fault(bytes_per_second=200_000)]
    models.click("Download")
    models.bench.until(lambda: hub.served_bytes.get("llm.pt", 0) > 20_000)
    work.stop(NAME)
    models.bench.until(lambda: work.current is None)
    work.install(NAME)
    models.until(ModelState.INSTALLED)
    assert begun == [ModelTaskKind.INSTALL, ModelTaskKind.INSTALL]


@pytest.mark.slow
def test_pause_keeps_the_download_and_cancel_deletes_it(models: PageBench, hub: HubServer, tmp_path: Path) -> None:
    hub.faults["llm.pt"] = [Fault(bytes_per_second=100_000), Fault(bytes_per_second=100_000)]
    models.click("Download")
    models.bench.until(lambda: hub.served_bytes.get("llm.pt", 0) > 20_000)
    models.click("Pause")
    models.until(ModelState.PARTIAL)
    models.click("Continue")
    models.bench.until(lambda: models.bench.session.parts.models.current is not None)
    models.click("Cancel")
    models.until(ModelState.AVAILABLE)
    assert not [path for path in (tmp_path / "timbre_data" / "models").rglob("*") if path.is_file()]


@pytest.mark.slow
def test_the_rl_tuned_language_model_is_optional(models: PageBench) -> None:
    models.card._variant.setChecked(True)
    models.install()
    session = models.bench.session
    assert models.bench.session.parts.models.status_of(NAME).variants == {"rl"}  # type: ignore[union-attr]
    folder = models.bench.session.parts.models.status_of(NAME).folder  # type: ignore[union-attr]
    assert session.model_selection.engine_options().variant is None
    session.settings[PREFERS_RL] = True
    assert session.model_selection.engine_options().variant is None  # the model in use has no RL-tuned variant
    session.model_selection.local_folder = lambda: folder  # type: ignore[method-assign]
    assert session.model_selection.engine_options().variant == "rl"


@pytest.mark.slow
def test_a_damaged_file_is_found_and_repaired(models: PageBench, hub: HubServer) -> None:
    models.install()
    path = models.bench.session.parts.models.status_of(NAME).folder / "flow.pt"  # type: ignore[union-attr,operator]
    path.write_bytes(path.read_bytes()[::-1])
    models.choose("Verify")
    models.until(ModelState.DAMAGED)
    assert "flow.pt damaged" in models.message
    assert models.card._main.text() == "Repair"
    hub.served_bytes.clear()
    models.click("Repair")
    models.until(ModelState.INSTALLED)
    assert set(hub.served_bytes) == {"flow.pt"}
    models.choose("Verify")
    models.bench.until(lambda: "intact" in models.message)


@pytest.mark.slow
def test_an_error_is_shown_once_on_the_page_with_its_remedy(models: PageBench, hub: HubServer) -> None:
    hub.faults["llm.pt"] = 5 * [Fault(403, at_hub=True)]
    models.click("Download")
    models.bench.until(lambda: models.message)
    assert "restricts access" in models.message
    assert "another source" in models.message
    assert models.window.notices.words == ""  # the page shows it


@pytest.mark.slow
def test_import_and_remove(models: PageBench, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "my voice", small_files() | {"llm.pt": b"tuned"})
    models.bench.loop.call_soon(lambda: models.bench.session.parts.models.import_from(folder))
    models.bench.until(lambda: "my voice" in models.page.cards)
    models.bench.until(lambda: models.bench.session.parts.models.current is None)
    card = models.page.cards["my voice"]
    column = models.page._column
    available = [each for each in models.bench.session.parts.models.statuses if each.state is ModelState.AVAILABLE]
    assert column.indexOf(card) < min(column.indexOf(models.page.cards[each.name]) for each in available)
    models.bench.loop.call_soon(card.remove_wanted.emit)
    models.bench.live(0.05)
    box = models.page.findChildren(QMessageBox)[0]
    assert "This frees" in box.informativeText()
    button = next(button for button in box.buttons() if button.text() == "Remove")
    models.bench.loop.call_soon(button.click)
    models.bench.until(lambda: "my voice" not in models.page.cards)


@pytest.mark.slow
def test_export_and_import_by_archive(models: PageBench, tmp_path: Path) -> None:
    models.install()
    work = models.bench.session.parts.models
    models.bench.loop.call_soon(lambda: work.export_to(NAME, tmp_path / "out.zip"))
    models.bench.until(lambda: (tmp_path / "out.zip").is_file() and work.current is None)
    shutil.rmtree(tmp_path / "timbre_data" / "models")
    models.bench.loop.call_soon(lambda: work.import_from(tmp_path / "out.zip"))
    models.until(ModelState.INSTALLED)


@pytest.mark.slow
def test_the_use_button_chooses_the_model(models: PageBench) -> None:
    chosen: list[str] = []
    models.bench.parts.models.model_chosen.disconnect()
    models.bench.parts.models.model_chosen.connect(chosen.append)
    models.install()
    models.click("Use")
    assert chosen == [NAME]


@pytest.mark.slow
def test_a_notice_offers_a_model_installed_while_the_page_is_closed(models: PageBench) -> None:
    models.page.close()
    models.bench.loop.call_soon(lambda: models.bench.session.parts.models.install(NAME))
    models.bench.until(lambda: models.window.notices.words)
    assert models.window.notices.words == f"{NAME} is installed."


@pytest.mark.slow
def test_tasks_run_one_after_the_other(models: PageBench) -> None:
    work = models.bench.session.parts.models

    def add_tasks() -> None:
        work.check("studio-mini")
        work.install(NAME)
        work.install(NAME)  # dropped as a duplicate

    models.bench.loop.call_soon(add_tasks)
    models.bench.until(lambda: models.card._task.text().endswith("queued"))
    models.until(ModelState.INSTALLED)


def test_opening_the_page_again_shows_the_same_dialog(models: PageBench) -> None:
    models.bench.trigger("file.models")
    assert len(models.window.findChildren(ModelsPage)) == 1
