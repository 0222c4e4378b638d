"""The model in use: chosen from the settings, on this computer or another one."""

from __future__ import annotations

from collections.abc import Callable, Container
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from studio.app.bridge import Engine, EngineState, WorkerBridge
from studio.app.script.style_list import StyleList
from studio.app.services import Services
from studio.catalog.installed import DEFAULT_MODEL
from studio.errors import ModelNotFound
from studio.pipeline.request import EngineOptions
from studio.remote.address import ServerAddress, descriptions_folder, server_token_file
from studio.settings import (
    DEVICE,
    ENGINES,
    FLOW_PRECISION,
    MODEL,
    NUM_THREADS,
    OTHER_SERVER_MODEL,
    OTHER_SERVER_VOICE,
    OTHER_SERVER_VOICES,
    PREFERS_RL,
    SERVER_MODEL,
    SERVER_URL,
    SPEECH_LM_PRECISION,
    STREAMS_APPROXIMATELY,
    USES_SERVER,
)
from studio.settings_store import Settings

if TYPE_CHECKING:
    from studio.worker.process import Worker

# Changing one of these reloads the model.
_ENGINE_SETTINGS = (
    SPEECH_LM_PRECISION, FLOW_PRECISION, NUM_THREADS, PREFERS_RL, DEVICE, ENGINES, STREAMS_APPROXIMATELY,
)  # fmt: skip


class ModelSelection(QObject):
    """Chooses the model, and connects to it through ``bridge``. ``styles`` belong to the model."""

    def __init__(self, settings: Settings, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._services = services
        self.styles = StyleList(self)
        server = self.server()
        self.bridge = WorkerBridge(
            self._worker_starter(),
            self.folder(),
            self.engine_options(),
            self,
            server="" if server is None else server.host,
        )
        self.bridge.engine_changed.connect(self._on_engine_changed)

    def server(self) -> ServerAddress | None:
        """Return the address of the computer that runs the model, or None if it is this one."""
        is_used = self._settings[USES_SERVER] and self._settings[SERVER_URL]
        return self.last_server() if is_used else None

    def last_server(self) -> ServerAddress:
        """Return the server that was used last. Its address is empty if there was none."""
        settings = self._settings
        return ServerAddress(
            settings[SERVER_URL],
            server_token_file(),
            model=settings[OTHER_SERVER_MODEL],
            voice=settings[OTHER_SERVER_VOICE],
            voices=settings[OTHER_SERVER_VOICES],
        )

    def folder(self) -> Path:
        """Return the folder that describes the model in use, on this computer or another one."""
        server = self.server()
        if server is None:
            return self.local_folder()
        return descriptions_folder(server.url) / (self._settings[SERVER_MODEL] or server.host)

    def local_folder(self) -> Path:
        """Return the folder of the model that was chosen on this computer, by default of the bundled one."""
        choice = self._settings[MODEL]
        if choice and Path(choice).is_dir():
            return Path(choice)
        models = self._services.find_models()
        found = models.get(choice) or models.get(DEFAULT_MODEL) or next(iter(models.values()), None)
        return found or Path(choice or DEFAULT_MODEL)

    def engine_options(self) -> EngineOptions:
        settings = self._settings
        has_reinforced = (self.local_folder() / "llm.rl.pt").is_file()
        return EngineOptions(
            device=settings[DEVICE],
            variant="rl" if settings[PREFERS_RL] and has_reinforced else None,
            speech_lm_precision=settings[SPEECH_LM_PRECISION],
            flow_precision=settings[FLOW_PRECISION],
            num_threads=settings[NUM_THREADS] or None,
            engines=settings[ENGINES],
            streams_approximately=settings[STREAMS_APPROXIMATELY],
            runs_lines_in_processes=True,
        )

    def use_model(self, choice: str) -> None:
        """Load another model, given its name or folder, and cancel requests to the old one.

        Raises ``ModelNotFound``.
        """
        models = self._services.find_models()
        if choice not in models and not Path(choice).is_dir():
            raise ModelNotFound("There is no model {choice}.", remedy="Choose one that is installed.", choice=choice)
        self._settings[MODEL] = choice
        self.use_this_computer()

    def use_this_computer(self) -> None:
        """Use the model that was chosen on this computer."""
        self._settings[USES_SERVER] = False
        self._change_engine()

    def use_server(self, server: ServerAddress, model: str) -> None:
        """Use ``server``, whose ``model`` name is known."""
        settings = self._settings
        settings[SERVER_URL], settings[SERVER_MODEL] = server.url, model
        settings[OTHER_SERVER_MODEL], settings[OTHER_SERVER_VOICE] = server.model, server.voice
        settings[OTHER_SERVER_VOICES] = server.voices
        self.use_last_server()

    def use_last_server(self) -> None:
        """Use the server that was used last."""
        self._settings[USES_SERVER] = True
        self._change_engine()

    def load_styles(self) -> None:
        """Load the styles of the model. Call after the first paint."""
        self.styles.use_model(self.folder())

    def apply_settings(self, changed: Container[object]) -> None:
        """Reload a model on this computer if the way it runs has changed."""
        if any(setting in changed for setting in _ENGINE_SETTINGS) and self.server() is None:
            self.bridge.use_model(self.local_folder(), self.engine_options())

    def _change_engine(self) -> None:
        server = self.server()
        self.load_styles()
        self.bridge.use_model(
            self.folder(),
            self.engine_options(),
            start_worker=self._worker_starter(),
            server="" if server is None else server.host,
        )

    def _worker_starter(self) -> Callable[[], Worker]:
        server = self.server()
        if server is None:
            return self._services.start_worker

        def connect() -> Worker:
            from studio.remote.open_worker import open_worker  # noqa: PLC0415 - after the first paint

            return open_worker(server)

        return connect

    def _on_engine_changed(self, engine: Engine) -> None:
        """Follow a server that has another model than at the last connection."""
        if engine.server and engine.state is EngineState.READY:
            self._settings[SERVER_MODEL] = engine.folder.name
            self.load_styles()
