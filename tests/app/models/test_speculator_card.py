"""A trained speculator on the Models page: it is offered beside its model, downloaded, verified and removed there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import noise_models
import pytest
from hub_server import HubServer, Repository, use_only_hub
from PySide6.QtWidgets import QMessageBox, QPushButton
from small_speculator import REPOSITORY, known_speculator, speculator_files
from window_bench import Bench

from studio.app.models.model_card import ModelCard
from studio.app.models.models_page import ModelsPage
from studio.catalog.installed import ModelState
from studio.catalog.transfer import import_model
from studio.engines.overview import EngineAction

MODEL, NAME = "Noise3", "Noise3-speculator"


class PageBench:
    """The window with the Models page open, and a model that has a speculator on a hub."""

    def __init__(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bench = bench
        import_model(noise_models.V3, name=MODEL)
        self.window = bench.open_window()
        self.managed: list[EngineAction] = []

        async def manage(action: EngineAction, keys: tuple[str, ...] = ()) -> int:
            if action is EngineAction.REFRESH:
                self.managed.append(action)
            return 0

        monkeypatch.setattr(bench.session.bridge, "manage_engines", manage)
        bench.trigger("file.models")
        page = bench.parts.models.page
        assert page is not None
        self.page: ModelsPage = page
        bench.until(lambda: NAME in page.cards)

    @property
    def card(self) -> ModelCard:
        return self.page.cards[NAME]

    def click(self, button: QPushButton, words: str) -> None:
        assert (button.text(), button.isHidden(), button.isEnabled()) == (words, False, True)
        self.bench.loop.call_soon(button.click)

    def choose(self, words: str) -> None:
        action = next(action for action in self.card._menu.actions() if action.text().startswith(words))
        assert action.isEnabled()
        self.bench.loop.call_soon(action.trigger)

    def until(self, state: ModelState) -> None:
        tasks = self.bench.session.parts.models

        def is_reached() -> bool:
            status = tasks.status_of(NAME)
            return status is not None and status.state is state and tasks.current is None

        self.bench.until(is_reached)


@pytest.fixture
def models(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PageBench]:
    known = known_speculator(MODEL)
    use_only_hub(monkeypatch, tmp_path / "hf", {known.name: known}, in_window=True)
    with HubServer() as server:
        server.repositories[REPOSITORY] = Repository(speculator_files())
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield PageBench(bench, monkeypatch)


def test_it_is_offered_below_its_model_with_its_use(models: PageBench) -> None:
    page, card = models.page, models.card
    assert page._column.indexOf(card) == page._column.indexOf(page.cards[MODEL]) + 1
    assert card._title.text() == f"Faster speech on a graphics card ({MODEL})"
    assert "on a processor without 8-bit or 4-bit weights" in card._abilities.text()
    assert card._origin.text() == f"1.50 MB · licence: see its page · {REPOSITORY}"
    assert (card.speed.isHidden(), card.measure.isHidden()) == (True, True)
    assert page.cards[MODEL].measure.isVisibleTo(page)


@pytest.mark.slow
def test_it_is_downloaded_verified_and_removed(models: PageBench, monkeypatch: pytest.MonkeyPatch) -> None:
    controller = models.bench.parts.models
    monkeypatch.setattr(type(controller), "_name_in_use", MODEL)
    monkeypatch.setattr(type(models.bench.session.bridge), "engine_status", object())
    models.click(models.card._main, "Download")
    models.until(ModelState.INSTALLED)
    assert models.managed == [EngineAction.REFRESH], "the loaded model tries the engine that needs it"
    assert models.card._main.isHidden(), "it is not used by itself"
    assert "Verify" in {action.text() for action in models.card._menu.actions()}
    models.choose("Verify")
    models.bench.until(lambda: "intact" in models.page._message.text())
    assert "Faster speech" in models.page._message.text()
    models.choose("Remove…")
    models.bench.until(lambda: models.page.findChildren(QMessageBox))
    box = models.page.findChildren(QMessageBox)[0]
    assert box.text() == f"Remove Faster speech on a graphics card ({MODEL}) from this computer?"
    button: Any = next(button for button in box.buttons() if button.text() == "Remove")
    models.bench.loop.call_soon(button.click)
    models.until(ModelState.AVAILABLE)
    assert models.managed == 2 * [EngineAction.REFRESH]
    assert models.card._main.text() == "Download"


@pytest.mark.slow
def test_a_folder_is_imported_into_its_model_and_a_notice_is_shown(models: PageBench, tmp_path: Path) -> None:
    folder = tmp_path / "my speculator"
    folder.mkdir()
    for name, content in speculator_files().items():
        (folder / name).write_bytes(content)
    models.page.close()
    models.bench.loop.call_soon(lambda: models.bench.session.parts.models.import_from(folder))
    models.until(ModelState.INSTALLED)
    assert models.window.notices.words == f"Faster speech on a graphics card ({MODEL}) is installed."
    assert models.managed == [], "another model is in use"
