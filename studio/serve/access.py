"""Access control of the service: the token, the Host and Origin headers, and limits on the size and time of requests.

Host and Origin are checked so that no web page in a browser on this computer can use the service, not even by resolving
its own host name to this address (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from studio.errors import BadRequest, CannotServe, NotAllowed, RequestTooLarge, StudioError, WrongToken
from studio.serve.errors import error_response
from studio.storage.token_file import read_token, write_token

MAX_JSON_BYTES = 1 << 20
MAX_UPLOAD_BYTES = 64 << 20
# Limits of the time in which a body must arrive, and of each pause within it.
_BODY_SECONDS = 120.0
_PAUSE_SECONDS = 15.0
# A client that reads nothing for this long is disconnected.
_UNREAD_SECONDS = 60.0
_MIN_TOKEN = 16
_PATHS_WITHOUT_TOKEN = frozenset({"/health", "/healthz", "/readyz"})
_CLOSED_FOR_POLICY = 1008
# Names under which containers reach this computer. Nobody can register names below .internal.
_CONTAINER_HOSTS = frozenset({"host.docker.internal", "host.containers.internal"})


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Rules of access. Without ``token``, every program on this computer may use the service.

    ``hosts`` are the names that a Host header may have beside localhost, IP addresses and the names that containers use.
    ``origins`` are the web pages that may use the service.
    """

    token: str | None = None
    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()


class AccessControl:
    """ASGI middleware that enforces ``AccessRules`` and the limits of this module."""

    def __init__(self, app: ASGIApp, rules: AccessRules, on_refused: Callable[[StudioError], None]) -> None:
        self._app = app
        self._rules = rules
        self._on_refused = on_refused
        self._digest = None if rules.token is None else _digest(rules.token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = _Headers(scope["headers"])
        try:
            self._require_access(scope["path"], headers)
        except StudioError as error:
            self._on_refused(error)
            await _refuse(error, scope, receive, send)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        origin = headers.value("origin")
        limited = _LimitedRequest(headers, receive, send, None if origin is None else origin.encode())
        if scope["method"] == "OPTIONS" and origin is not None:
            await limited.answer_preflight()
        elif limited.declares_too_much():
            self._on_refused(_too_large())
            await error_response(_too_large()).__call__(scope, receive, limited.send)
        else:
            await self._app(scope, limited.receive, limited.send)

    def _require_access(self, path: str, headers: _Headers) -> None:
        if not self._is_known_host(headers.value("host")):
            raise NotAllowed(
                "The host name of this request is not known.",
                remedy="Use the address of the service, or start it with --allow-host NAME.",
            )
        origin = headers.value("origin")
        if origin is not None and origin not in self._rules.origins:
            raise NotAllowed(
                "Web pages may not use this service.", remedy="Start it with --allow-origin to permit one page."
            )
        if self._digest is not None and path not in _PATHS_WITHOUT_TOKEN:
            scheme, _, token = (headers.value("authorization") or "").partition(" ")
            if scheme.lower() != "bearer" or not hmac.compare_digest(_digest(token.strip()), self._digest):
                raise WrongToken(
                    "The token is missing or wrong.",
                    remedy="Send it as the API key: “Authorization: Bearer TOKEN”.",
                )

    def _is_known_host(self, header: str | None) -> bool:
        """Whether a Host header names this service. An address cannot be the result of DNS rebinding."""
        if header is None:
            return False
        host = header.rpartition(":")[0] if header.rpartition(":")[2].isdigit() else header
        host = host.removeprefix("[").removesuffix("]").rstrip(".").lower()
        if host == "localhost" or host in self._rules.hosts | _CONTAINER_HOSTS:
            return True
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return False
        return True


class _Headers:
    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._raw = list(raw)

    def value(self, name: str) -> str | None:
        """Return a header. Raise ``BadRequest`` if it occurs twice, because servers disagree about which one counts."""
        found = [value.decode("latin-1") for key, value in self._raw if key == name.encode()]
        if len(found) > 1:
            raise BadRequest("The header {name} occurs twice.", remedy="Send it once.", name=name)
        return found[0] if found else None


class _LimitedRequest:
    """Receive and send functions of one request, with limits on its size and on its pauses."""

    def __init__(self, headers: _Headers, receive: Receive, send: Send, origin: bytes | None) -> None:
        content_type = headers.value("content-type") or ""
        self._max_bytes = MAX_UPLOAD_BYTES if content_type.startswith("multipart/") else MAX_JSON_BYTES
        self._declared = headers.value("content-length") or ""
        self._receive, self._send = receive, send
        self._origin = origin
        self._num_bytes = 0
        self._is_complete = False
        self._deadline = asyncio.get_running_loop().time() + _BODY_SECONDS

    def declares_too_much(self) -> bool:
        return self._declared.isdigit() and int(self._declared) > self._max_bytes

    async def receive(self) -> Message:
        if self._is_complete:  # waiting for the client to disconnect
            return await self._receive()
        left = self._deadline - asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(min(_PAUSE_SECONDS, left)):
                message = await self._receive()
        except TimeoutError:
            raise BadRequest("The request did not arrive in time.", remedy="Send it again, without pauses.") from None
        self._num_bytes += len(message.get("body", b""))
        if self._num_bytes > self._max_bytes:
            raise _too_large()
        self._is_complete = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and self._origin is not None:
            message["headers"] = [
                *message["headers"],
                (b"access-control-allow-origin", self._origin),
                (b"vary", b"Origin"),
            ]
        async with asyncio.timeout(_UNREAD_SECONDS):
            await self._send(message)

    async def answer_preflight(self) -> None:
        headers = [
            (b"access-control-allow-methods", b"GET, POST, DELETE"),
            (b"access-control-allow-headers", b"authorization, content-type, x-client-id"),
            (b"content-length", b"0"),
        ]
        await self.send({"type": "http.response.start", "status": 204, "headers": headers})
        await self.send({"type": "http.response.body", "body": b""})


def _too_large() -> RequestTooLarge:
    return RequestTooLarge("The request is too large.", remedy="Send a shorter text or recording.")


async def _refuse(error: StudioError, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        with contextlib.suppress(OSError):
            await receive()
            await send({"type": "websocket.close", "code": _CLOSED_FOR_POLICY, "reason": str(error.problem)})
        return
    response = error_response(error)
    if isinstance(error, WrongToken):
        response.headers["www-authenticate"] = "Bearer"
    await response(scope, receive, send)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def service_token(path: Path) -> str:
    """Return the token in ``path``. If the file does not exist, create it with a random token.

    Raise ``UnusableSetting`` and ``CannotWrite``, and ``CannotServe`` if the token is short.
    """
    if not path.exists():
        write_token(path, secrets.token_urlsafe(32))
    token = read_token(path) or ""
    if len(token) < _MIN_TOKEN:
        raise CannotServe(
            "The token in {path} is shorter than {number} characters.",
            remedy="Use a longer one, or delete the file to get a new token.",
            path=path,
            number=_MIN_TOKEN,
        )
    return token
