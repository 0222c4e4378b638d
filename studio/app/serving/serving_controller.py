"""Switches the speech service on and off, and restarts it when the model changes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import urllib.error
import urllib.request
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from studio import paths
from studio.app.background import run_in_thread
from studio.app.bridge import Engine, EngineState, WorkerBridge
from studio.errors import CannotServe, IncompleteInstallation, StudioError
from studio.provenance.signing import chosen_signing
from studio.settings import MARKS_FILES, SERVED_VOICE_NAMES, SERVICE_PORT
from studio.settings_store import Settings
from studio.system.installation import how_to_add

if TYPE_CHECKING:
    from collections.abc import Callable

    from studio.serve.service_thread import ServiceState, ServiceThread
    from studio.voices.library import VoiceLibrary

_STOP_SECONDS = 3.0
_TEST_SECONDS = 120.0
_WAV_HEADER_BYTES = 44


class ServingController(QObject):
    """The service of this window, which is off until :meth:`switch` starts it.

    ``changed`` is emitted when the service begins to listen and when it ends.
    """

    changed = Signal()
    failed = Signal(object)  # StudioError

    def __init__(
        self,
        bridge: WorkerBridge,
        settings: Settings,
        open_library: Callable[[], VoiceLibrary],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._open_library = open_library
        self._settings = settings
        self._thread: ServiceThread | None = None
        self._ending: ServiceThread | None = None  # still uses the port until it has ended
        self._is_on = False
        self._folder = bridge.engine.folder
        bridge.engine_changed.connect(self._on_engine_changed)

    @property
    def is_on(self) -> bool:
        return self._is_on

    @property
    def token_file(self) -> Path:
        """The file with the API key, which is created when the service is first switched on."""
        return paths.config_folder() / "service-token"

    def state(self) -> ServiceState | None:
        """Return the address and the figures of the service, or None while it is off."""
        return None if self._thread is None else self._thread.state()

    @property
    def url(self) -> str:
        """The address on which the service listens, or an empty text."""
        state = self.state()
        return "" if state is None else state.url

    def switch(self, *, is_on: bool) -> None:
        self._is_on = is_on
        self._restart()

    def voices(self) -> list[str]:
        """Return the names of the voices. Reads the library; may be called on any thread."""
        return [voice.name for voice in self._open_library().voices()]

    def map_voice(self, sent: str, voice: str) -> None:
        """Use ``voice`` for requests that name ``sent``, from now on; the default if ``voice`` is empty."""
        names = {name: chosen for name, chosen in self._settings[SERVED_VOICE_NAMES].items() if name != sent}
        if voice:
            names[sent] = voice
        self._settings[SERVED_VOICE_NAMES] = names
        if self._thread is not None:
            self._thread.use_voice_names(names)

    def release(self) -> None:
        """End the service before the window closes."""
        self._is_on = False
        self._stop_thread()

    def _start_thread(self) -> None:
        try:
            from studio.serve.running import Address  # noqa: PLC0415 - an optional extra, and slow to import
            from studio.serve.service import ServiceOptions  # noqa: PLC0415
            from studio.serve.service_thread import ServiceThread  # noqa: PLC0415
        except ImportError as error:
            self._is_on = False
            self.failed.emit(
                IncompleteInstallation(
                    "The speech service needs libraries that are not installed ({reason}).",
                    remedy="{how}",
                    reason=error,
                    how=how_to_add("serve"),
                )
            )
            return
        self._folder = self._bridge.engine.folder
        self._thread = ServiceThread(
            weakref.ref(self._bridge),
            asyncio.get_event_loop(),
            ServiceOptions(
                self._folder,
                voice_names=self._settings[SERVED_VOICE_NAMES],
                signing=chosen_signing(self._settings),
                is_marked=self._settings[MARKS_FILES],
            ),
            Address(port=self._settings[SERVICE_PORT], token_file=self.token_file),
            on_change=_notification(asyncio.get_event_loop(), weakref.WeakMethod(self._on_thread_changed)),
            open_library=self._open_library,
        )

    def _stop_thread(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            self._ending = thread
            thread.stop()

    def _on_thread_changed(self) -> None:
        thread = self._thread
        if thread is not None and not thread.state().url and (error := thread.state().error) is not None:
            self._fail(error)
        self.changed.emit()

    def _fail(self, error: StudioError) -> None:
        self._is_on = False
        self._thread = None
        self.failed.emit(error)

    def _on_engine_changed(self, engine: Engine) -> None:
        """Serve the new model under the same address. A model that fails to load is not served."""
        if self._is_on and engine.state is EngineState.READY and engine.folder != self._folder:
            self._restart()

    def _restart(self) -> None:
        """End the running service and, if it is on, start another when the port is free again."""
        self._stop_thread()
        if self._is_on:
            self._bridge.run(self._start_after(self._ending))
        self.changed.emit()

    async def _start_after(self, old: ServiceThread | None) -> None:
        if old is not None:
            await run_in_thread(old.wait, _STOP_SECONDS)
        if self._is_on and self._thread is None:
            self._start_thread()
            self.changed.emit()

    async def finished(self) -> None:
        """Wait for the end of the service after ``release``, for a limited time."""
        if self._ending is not None:
            await run_in_thread(self._ending.wait, _STOP_SECONDS)


def find_free_port(used: int) -> int:
    """Return a free port of this computer: the next after ``used``, if it is one of the next ten."""
    for port in (*range(used + 1, min(used + 11, 65536)), 0):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)) as listener:
            return int(listener.getsockname()[1])
    return used


def request_test_speech(url: str, key: str) -> float:
    """Let the service at ``url`` speak, as another program would. Return the seconds of speech. Raise ``CannotServe``.

    Takes as long as the speech: call it on a background thread.
    """
    body = json.dumps({"input": "1, 2, 3.", "response_format": "wav"}).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", "User-Agent": "Timbre Studio"}
    request = urllib.request.Request(f"{url}/audio/speech", body, headers)  # noqa: S310 - the address of this window
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=_TEST_SECONDS) as response:
            wav = response.read()
    except (OSError, ValueError) as error:
        reason = error.read().decode(errors="replace") if isinstance(error, urllib.error.HTTPError) else error
        raise CannotServe(
            "The service did not speak the test ({reason}).", remedy="Speak a line in the window first.", reason=reason
        ) from error
    rate = int.from_bytes(wav[24:28], "little")
    return (len(wav) - _WAV_HEADER_BYTES) / 2 / rate


def _notification(
    loop: asyncio.AbstractEventLoop, method: weakref.WeakMethod[Callable[[], None]]
) -> Callable[[], None]:
    """Return a function that calls ``method`` on ``loop``, if its object still exists.

    The thread of the service must not hold the last reference to a Qt object: it would be destroyed there.
    """

    def call() -> None:
        if (found := method()) is not None:
            found()

    def notify() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(call)

    return notify
