"""Closing of the program: asks about unsaved changes, then ends the session."""

from __future__ import annotations

import asyncio
import logging

from PySide6.QtCore import QObject, Signal

from studio.app.documents import Documents, UnsavedChangesChoice
from studio.app.session import Session

_log = logging.getLogger(__name__)


class Closing(QObject):
    """Closes the program: asks about unsaved changes and ends the session, even if a step fails.

    ``leaving`` is emitted when no more work can be lost; ``ended`` always follows.
    """

    leaving = Signal()
    ended = Signal()

    def __init__(self, session: Session, documents: Documents, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._documents = documents
        self._task: asyncio.Task[None] | None = None

    @property
    def is_under_way(self) -> bool:
        return self._task is not None and not self._task.done()

    def begin(self) -> None:
        """Start closing, unless it is under way; return at once."""
        if not self.is_under_way:
            self._task = self._session.bridge.run(self._close())

    async def _close(self) -> None:
        if await self._documents.confirm_close() is UnsavedChangesChoice.CANCEL:
            return
        self.leaving.emit()
        try:
            await self._session.close(keeps_draft=False)
        except Exception:  # noqa: BLE001 - the window is hidden: the program must not keep running
            _log.exception("could not end the session properly")
        finally:
            self.ended.emit()
