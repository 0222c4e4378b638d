"""An export at work on a thread of its own, told to the window's thread by signals."""

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
    """Exactly one of ``ended``, ``failed`` and ``cancelled`` comes, as the last signal."""

    progressed = Signal(object)  # ExportProgress
    ended = Signal(object)  # ExportResult
    failed = Signal(object)  # StudioError
    cancelled = Signal()

    _event_received = Signal(object)  # what the thread has to tell

    def __init__(self, plan: ExportPlan, source: SpeechSource, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._control = RequestControl()
        self._exporter = Exporter(plan, source, control=self._control, on_progress=self._tell)
        # Not a method of this object: it may be gone before the thread is.
        self.destroyed.connect(self._control.cancel)
        application = QCoreApplication.instance()
        if application is not None:  # the program ends: it does not wait for a thousand lines
            application.aboutToQuit.connect(self._control.cancel)
        self._event_received.connect(self._on_came, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._work, name="export")
        self.is_running = False

    @property
    def files_in_the_way(self) -> tuple[PurePosixPath, ...]:
        """Files that it may not replace unasked, if it ``failed`` because of them."""
        return self._exporter.files_in_the_way

    def start(self) -> None:
        self.is_running = True
        self._thread.start()

    def cancel(self) -> None:
        """What is done stays. ``cancelled`` comes when the thread has ended."""
        self._control.cancel()

    def _work(self) -> None:
        try:
            self._tell(self._exporter.run())
        except (StudioError, Cancelled) as error:
            self._tell(error)
        except Exception as error:  # noqa: BLE001 - the end of a thread
            _log.exception("the export ended unexpectedly")
            self._tell(
                InternalError("Something unexpected happened: {reason}.", remedy="The log has the rest.", reason=error)
            )

    def _tell(self, news: object) -> None:
        try:
            self._event_received.emit(news)
        except RuntimeError:  # the window is gone, and with it everybody who could be told
            self._control.cancel()

    def _on_came(self, news: object) -> None:
        self.is_running = isinstance(news, ExportProgress)
        match news:
            case ExportProgress():
                self.progressed.emit(news)
            case ExportResult():
                self.ended.emit(news)
            case StudioError():
                self.failed.emit(news)
            case Cancelled():
                self.cancelled.emit()
