"""Controller of the Engines page and the tuning panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from studio.app.bridge import WorkerBridge
from studio.app.engines.tuning_panel import EngineTuningPanel
from studio.engines.overview import EngineAction, EngineStatus

if TYPE_CHECKING:
    from studio.app.engines.engines_page import EnginesPage


class EnginesController(QObject):
    """Shows the status that the worker pushes, and sends it the user's actions."""

    def __init__(self, bridge: WorkerBridge, window: QWidget) -> None:
        super().__init__(window)
        self._bridge = bridge
        self._window = window
        self._page: EnginesPage | None = None
        self._overview: EngineStatus | None = None
        self.panel = EngineTuningPanel()
        self.panel.details_wanted.connect(self.open_page)
        self.panel.action_wanted.connect(lambda action: self._manage(action, ()))
        bridge.engines_changed.connect(self.show)
        self.show(bridge.engine_status)

    @property
    def page(self) -> EnginesPage | None:
        return self._page

    def open_page(self) -> None:
        """Open the page, or bring it to the front."""
        if self._page is None:
            from studio.app.engines.engines_page import EnginesPage  # noqa: PLC0415 - not needed for the first paint

            self._page = EnginesPage(self._window)
            self._page.action_wanted.connect(self._manage)
        self._page.show_overview(self._overview)
        self._page.show()
        self._page.raise_()
        self._page.activateWindow()

    def show(self, overview: EngineStatus | None) -> None:
        """Show ``overview``, None if no model is loaded."""
        self._overview = overview
        if overview is None:
            self.panel.hide()
        else:
            self.panel.show_overview(overview)
        if self._page is not None:
            self._page.show_overview(overview)

    def _manage(self, action: EngineAction, keys: tuple[str, ...]) -> None:
        self._bridge.run(self._bridge.manage_engines(action, keys))
