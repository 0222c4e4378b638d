"""Controller of the Engines page."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import (
    QWidget,
)

from studio.app.bridge import WorkerBridge
from studio.app.engines.engine_text import (
    panel_title,
    progress_text,
    trial_text,
)
from studio.app.engines.engines_page import EnginesPage
from studio.app.widgets.dialogs import bring_to_front
from studio.engines.overview import EngineAction, EngineStatus


class EnginesController(QObject):
    """Shows the engine status that the worker sends, and sends the user's actions to the worker.

    ``progress_changed`` carries a short text and a longer one about the current tuning, and its finished share. The
    texts are empty when there is no tuning.
    """

    progress_changed = Signal(str, str, object)

    def __init__(self, bridge: WorkerBridge, window: QWidget) -> None:
        super().__init__(window)
        self._bridge = bridge
        self._window = window
        self.page: EnginesPage | None = None  # created when it is first opened
        self._overview: EngineStatus | None = None
        bridge.engines_changed.connect(self.show)

    def begin(self) -> None:
        """Show the current status, once ``progress_changed`` is connected."""
        self.show(self._bridge.engine_status)

    def open_page(self) -> None:
        """Open the page, or bring it to the front."""
        if self.page is None:
            self.page = EnginesPage(self._window)
            self.page.action_wanted.connect(self._manage)
        self.page.show_overview(self._overview)
        bring_to_front(self.page)

    def show(self, overview: EngineStatus | None) -> None:
        """Show ``overview``, which is None if no model is loaded."""
        self._overview = overview
        work = overview.work if overview is not None else None
        if overview is None or work is None:
            self.progress_changed.emit("", "", None)
        else:
            share = (work.index - 1 + work.share) / work.total
            details = f"{panel_title(overview)}\n{trial_text(overview)}"
            self.progress_changed.emit(progress_text(overview), details, share)
        if self.page is not None:
            self.page.show_overview(overview)

    def _manage(self, action: EngineAction, keys: tuple[str, ...]) -> None:
        self._bridge.run(self._bridge.manage_engines(action, keys))
