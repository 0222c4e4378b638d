"""Menu of recently opened scripts and texts."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from studio.app.background import run_in_background
from studio.errors import StudioError
from studio.settings import RECENT_FILES
from studio.settings_store import Settings

_MAX_FILES = 10


class RecentFiles(QObject):
    """The last ten files in the settings, and their menu. Entries of missing files are disabled."""

    open_requested = Signal(object)  # Path
    failed = Signal(object)  # StudioError: the settings cannot be written

    def __init__(self, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self._settings = settings
        self._actions: dict[Path, QAction] = {}
        self.menu = QMenu(self.tr("Open recent"), window)
        self.menu.setToolTipsVisible(True)
        self._fill()
        self.menu.aboutToShow.connect(self._fill)

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(Path(name) for name in self._settings[RECENT_FILES])

    def add(self, path: Path) -> None:
        """Put ``path`` first."""
        path = path.absolute()
        self._set((path, *(other for other in self.paths if other != path)))

    def clear(self) -> None:
        self._set(())

    def _set(self, paths: tuple[Path, ...]) -> None:
        try:
            self._settings.change({RECENT_FILES: tuple(map(str, paths[:_MAX_FILES]))})
        except StudioError as error:
            self.failed.emit(error)
        self._fill()

    def _fill(self) -> None:
        self.menu.clear()
        paths = self.paths
        self.menu.setEnabled(bool(paths))
        self._actions = {path: self._action(number, path) for number, path in enumerate(paths, 1)}
        self.menu.addSeparator()
        self.menu.addAction(self.tr("Clear list")).triggered.connect(self.clear)

        def disable(missing: list[Path]) -> None:
            for path in missing:
                if path in self._actions:  # otherwise removed from the list meanwhile
                    self._actions[path].setEnabled(False)

        # A disconnected network drive may take seconds to answer.
        run_in_background(
            self.menu,
            lambda: [path for path in paths if not path.exists()],
            done=disable,
            failed=lambda _: None,
        )

    def _action(self, number: int, path: Path) -> QAction:
        action = self.menu.addAction(f"&{number % _MAX_FILES} {path.name.replace('&', '&&')}")
        action.setToolTip(str(path))
        action.triggered.connect(lambda: self.open_requested.emit(path))
        return action
