"""Runs an export on a thread and reports to the window's thread by signals."""

from __future__ import annotations

import logging
import threading
from pathlib import PurePosixPath

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal

from studio.errors import InternalError, StudioError
from studio.export.exporter import Exporter, ExportResult
from studio.export.plan import ExportPlan
from studio.export.progress import ExportProgress
from studio.export.speech_source import SpeechSource
from studio.pipeline.control import Cancelled, RequestControl

_log = logging.getLogger(__name__)


class ExportRun(QObject):
    """One export. The last signal is exactly one of ``ended``, ``failed`` and ``cancelled``."""

    progressed = Signal(object)  # ExportProgress
    ended = Signal(object)  # ExportResult
    failed = Signal(object)  # StudioError
    cancelled = Signal()

    _event_received = Signal(object)  # ExportProgress, ExportResult, StudioError or Cancelled

    def __init__(self, plan: ExportPlan, source: SpeechSource, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._control = RequestControl()
        self._exporter = Exporter(plan, source, control=self._control, on_progress=self._post)
        # Not connected to a method of this object, which may be destroyed before the thread ends.
        self.destroyed.connect(self._control.cancel)
        application = QCoreApplication.instance()
        if application is not None:  # quitting does not wait for the remaining lines
            application.aboutToQuit.connect(self._control.cancel)
        self._event_received.connect(self._on_event, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._work, name="export")
        self.is_running = False

    @property
    def files_in_the_way(self) -> tuple[PurePosixPath, ...]:
        """Files of other scripts that made the export fail, empty if it failed for another reason."""
        return self._exporter.files_in_the_way

    def start(self) -> None:
        self.is_running = True
        self._thread.start()

    def cancel(self) -> None:
        """Cancel; finished files stay. ``cancelled`` is emitted when the thread ends."""
        self._control.cancel()

    def _work(self) -> None:
        try:
            self._post(self._exporter.run())
        except (StudioError, Cancelled) as error:
            self._post(error)
        except Exception as error:  # noqa: BLE001 - reported from a thread
            _log.exception("unexpected error in an export")
            self._post(
                InternalError("Unexpected error: {reason}.", remedy="See the Log tab for details.", reason=error)
            )

    def _post(self, event: object) -> None:
        try:
            self._event_received.emit(event)
        except RuntimeError:  # the dialog was destroyed
            self._control.cancel()

    def _on_event(self, event: object) -> None:
        self.is_running = isinstance(event, ExportProgress)
        match event:
            case ExportProgress():
                self.progressed.emit(event)
            case ExportResult():
                self.ended.emit(event)
            case StudioError():
                self.failed.emit(event)
            case Cancelled():
                self.cancelled.emit()
