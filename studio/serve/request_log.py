"""Identifies each request, measures it, and logs one line about it, without texts and names of voices."""

from __future__ import annotations

import contextlib
import contextvars
import hashlib
import json
import logging
import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from studio.serve.backend import ServedSpeech

_log = logging.getLogger(__name__)

REQUEST_ID = b"x-request-id"
# Ids of clients that may appear in headers and logs as they are.
_VALID_ID = re.compile(rb"[A-Za-z0-9._:/+=@-]{1,128}")
# Requests of probes and scrapers, which are logged only if they fail.
_PROBES = frozenset({"/health", "/healthz", "/readyz", "/metrics"})
_UNSAFE = re.compile(r"[^ -~]")
_MAX_AGENT_CHARACTERS = 60
# nginx's status for a client that disconnects before its response.
_CLIENT_CLOSED = 499
_current: contextvars.ContextVar[RequestRecord | None] = contextvars.ContextVar("request", default=None)


@dataclass(slots=True)
class RequestRecord:
    """What is logged about one request. ``outcome`` is “ok”, “cancelled”, or the code of an error."""

    id: str
    client: str
    method: str
    agent: str = ""  # the client's name for itself; shown in the window, never logged
    began: float = field(default_factory=time.perf_counter)
    route: str = "unknown"
    status: int = 0
    first_byte: float | None = None
    voice: str = ""
    characters: int = 0
    outcome: str = "ok"
    speeches: list[ServedSpeech] = field(default_factory=list)

    def seconds(self) -> float:
        """Return the time since the request arrived."""
        return time.perf_counter() - self.began

    def fields(self) -> dict[str, object]:
        """Return the values of the line, without those that do not apply. Times are in seconds."""
        waits = [speech.times.waited for speech in self.speeches if speech.times.waited is not None]
        audio = [speech.report.audio_seconds for speech in self.speeches if speech.report is not None]
        values: dict[str, object] = {
            "id": self.id,
            "client": self.client,
            "method": self.method,
            "route": self.route,
            "status": self.status,
            "outcome": self.outcome,
            "voice": self.voice or None,
            "characters": self.characters or None,
            "queue": round(sum(waits), 3) if waits else None,
            "first_byte": None if self.first_byte is None else round(self.first_byte, 3),
            "duration": round(self.seconds(), 3),
            "audio": round(sum(audio), 3) if audio else None,
        }
        return {name: value for name, value in values.items() if value is not None}


def request_id() -> str | None:
    """Return the id of the current request, or None outside of requests."""
    record = _current.get()
    return None if record is None else record.id


def note_speech(speech: ServedSpeech, voice: str, num_characters: int) -> None:
    """Add ``speech`` to the line of the current request."""
    if record := _current.get():
        record.speeches.append(speech)
        record.voice = hashlib.sha256(voice.encode("utf-8", "surrogateescape")).hexdigest()[:12]
        record.characters += num_characters


def note_outcome(outcome: str) -> None:
    """Set the outcome in the line of the current request."""
    if record := _current.get():
        record.outcome = outcome


class RequestLog:
    """ASGI middleware. It takes the id of a request from its header, or makes one, and returns it in the response.

    ``on_end`` is called with the record of each request. A HEAD request is passed on as GET.
    """

    def __init__(self, app: ASGIApp, on_end: Callable[[RequestRecord], None]) -> None:
        self._app = app
        self._on_end = on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        given = headers.get(REQUEST_ID, b"")
        record = RequestRecord(
            id=given.decode() if _VALID_ID.fullmatch(given) else uuid.uuid4().hex,
            client=scope["client"][0] if scope.get("client") else "",
            method=scope.get("method", "WEBSOCKET"),
            agent=_UNSAFE.sub("", headers.get(b"user-agent", b"").decode("ascii", "ignore"))[:_MAX_AGENT_CHARACTERS],
        )
        if record.method == "HEAD":
            scope = {**scope, "method": "GET"}  # the server sends no body

        async def send_marked(message: Message) -> None:
            if message["type"] == "websocket.close" and not record.status:
                record.status = 403  # the server then refuses the connection
            elif message["type"] in ("http.response.start", "websocket.accept"):
                record.status = message.get("status", 101)
                message["headers"] = [*message.get("headers", ()), (REQUEST_ID, record.id.encode())]
            elif record.first_byte is None and (message.get("body") or message.get("bytes")):
                record.first_byte = record.seconds()
            await send(message)

        token = _current.set(record)
        try:
            await self._app(scope, receive, send_marked)
        finally:
            _current.reset(token)
            record.route = getattr(scope.get("route"), "path", record.route)
            record.status = record.status or _CLIENT_CLOSED
            if record.status >= 400 and record.outcome == "ok":
                record.outcome = "refused"
            self._on_end(record)
            is_quiet = record.route in _PROBES and record.status < 400
            _log.log(logging.DEBUG if is_quiet else logging.INFO, "%s", _Line(record.fields()))


class _Line(dict[str, object]):
    """The fields of a line. As text, it has the form ``name=value``."""

    def __str__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.items())


class JsonFormatter(logging.Formatter):
    """Formats the line of a request, and any other message, as a JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        values: dict[str, object] = {"time": self.formatTime(record), "level": record.levelname}
        line: object = record.args
        values |= line if isinstance(line, _Line) else {"message": record.getMessage(), "id": request_id()}
        if record.exc_info:
            values["exception"] = self.formatException(record.exc_info)
        return json.dumps(values, ensure_ascii=False)


@contextlib.contextmanager
def log_to_standard_error(log_format: str) -> Iterator[None]:
    """Write the log of the service to standard error, as “text” or “json”."""
    handler = logging.StreamHandler()
    text = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    formatter = JsonFormatter() if log_format == "json" else text
    formatter.default_time_format, formatter.default_msec_format = "%Y-%m-%dT%H:%M:%S%z", ""
    handler.setFormatter(formatter)
    logger = logging.getLogger("studio.serve")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
