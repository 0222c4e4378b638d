"""HTTP connection to a speech server: requests, and failures as errors with a remedy."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator
from typing import Any

import httpx2

import studio
from studio.catalog.network import untrusted_certificate
from studio.errors import (
    BadRequest,
    NotAllowed,
    ServerRefused,
    ServerUnreachable,
    StudioError,
    TooManyRequests,
    UnknownService,
    type_of_code,
)
from studio.messages import Message, message
from studio.remote.address import ServerAddress
from studio.remote.wire import HEARTBEAT_SECONDS
from studio.storage.json_input import parse_json

_CONNECT_SECONDS = 5.0
_SILENCE_SECONDS = 4 * HEARTBEAT_SECONDS
# Shorter than the time after which `timbre serve` closes an idle connection.
_KEEP_ALIVE_SECONDS = 8.0
_MAX_ERROR_BYTES = 64 << 10
# Answers of a reverse proxy whose server does not run.
_GATEWAY_ERRORS = frozenset({502, 503, 504})


class Connection:
    """Connection to ``server`` with ``token``, for one event loop. Use it with ``async with``, or call ``close``."""

    def __init__(self, server: ServerAddress, token: str | None) -> None:
        self.server = server
        headers = {"User-Agent": f"timbre-studio/{studio.__version__}"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        encryption: dict[str, Any] = {"verify": _trusted_certificates()} if server.is_encrypted else {}
        # The proxy of this computer is for the internet; the other computer is usually in the same network.
        self._client = httpx2.AsyncClient(
            base_url=server.url,
            headers=headers,
            trust_env=False,
            **encryption,
            timeout=httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS),
            limits=httpx2.Limits(keepalive_expiry=_KEEP_ALIVE_SECONDS),
        )

    async def __aenter__(self) -> Connection:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._client.aclose()

    async def json(self, method: str, path: str, *, silence_seconds: float = _SILENCE_SECONDS, **content: Any) -> Any:
        """Return the JSON answer, or None for an empty one. Raise ``StudioError``, ``httpx2.TransportError``."""
        timeout = httpx2.Timeout(silence_seconds, connect=_CONNECT_SECONDS)
        answer = await self._client.request(method, path, timeout=timeout, **content)
        if not answer.is_success:
            raise self._refusal(answer, answer.content)
        if not answer.content:
            return None
        try:
            return parse_json(answer.content)
        except ValueError as error:
            raise self.unknown_answer() from error

    @contextlib.asynccontextmanager
    async def stream(self, path: str, **content: Any) -> AsyncIterator[httpx2.Response]:
        """Yield the answer to a POST request while it arrives. Raise ``StudioError``, ``httpx2.TransportError``."""
        async with self._client.stream("POST", path, **content) as answer:
            if not answer.is_success:
                body = bytearray()
                async for block in answer.aiter_bytes():
                    body += block
                    if len(body) > _MAX_ERROR_BYTES:
                        break
                raise self._refusal(answer, bytes(body))
            yield answer

    def unreachable(self, error: httpx2.TransportError) -> ServerUnreachable:
        if (untrusted := untrusted_certificate(error)) is not None:
            return untrusted_server(self.server.host, str(untrusted.verify_message or untrusted))
        return ServerUnreachable(
            "{host} {happened}.",
            remedy="Check its address, that it is switched on, and that `timbre serve` runs there; or use this computer.",
            host=self.server.host,
            happened=what_happened(error),
        )

    def unknown_answer(self) -> UnknownService:
        return UnknownService(
            "{host} is not a speech service.",
            remedy="Check the address and the port.",
            host=self.server.host,
        )

    def _refusal(self, answer: httpx2.Response, body: bytes) -> StudioError:
        """Return the error for an answer with an error status."""
        host = self.server.host
        code, text = _read_error(body)
        match answer.status_code:
            case 401:
                return ServerRefused(
                    "{host} does not accept the token.",
                    remedy="Enter the token of `timbre serve` on the other computer.",
                    host=host,
                )
            case 403 if code == NotAllowed.code:
                return ServerRefused(
                    "{host} does not accept this host name.",
                    remedy="Use its IP address, or start `timbre serve` there with --allow-host NAME.",
                    host=host,
                )
            case 429:
                wait = answer.headers.get("Retry-After", "")
                return TooManyRequests(
                    "{host} is busy.",
                    remedy="Try again in {seconds} s.",
                    host=host,
                    seconds=int(wait) if wait.isdigit() else 1,
                )
            case status if status in _GATEWAY_ERRORS and not code:
                raise httpx2.RemoteProtocolError(f"status {status}")
            case 404 | 405 if code not in type_of_code or code == BadRequest.code:
                return self.unknown_answer()
        if code in type_of_code:
            return type_of_code[code](text)
        reason = text or message("status {status}", status=answer.status_code)
        return ServerRefused("{host} refuses the request: {reason}.", host=host, reason=reason)


def incompatible_server(host: str, reason: ValueError) -> ServerRefused:
    """Return the error for a server whose description cannot be read."""
    return ServerRefused(
        "{host} runs an incompatible version ({reason}).",
        remedy="Install the same version of Timbre Studio on both computers.",
        host=host,
        reason=reason,
    )


def _read_error(body: bytes) -> tuple[str, str]:
    """Return the code and the message of an error in the form of OpenAI's API, or empty texts."""
    try:
        error = parse_json(body)["error"]
        code, message = error.get("code"), error.get("message")
    except (ValueError, KeyError, TypeError, AttributeError):
        return "", ""
    return code if isinstance(code, str) else "", message if isinstance(message, str) else ""


def untrusted_server(host: str, reason: str) -> ServerUnreachable:
    """Return the error for a server with a certificate of an unknown authority, or for another name."""
    return ServerUnreachable(
        "{host} presented a certificate that this computer does not trust ({reason}).",
        remedy="Add the certificate of its authority to this computer, or set SSL_CERT_FILE to its file.",
        host=host,
        reason=reason,
    )


def _trusted_certificates() -> ssl.SSLContext:
    """Return the certificates of the system, or of the file in SSL_CERT_FILE. Raise ``ServerUnreachable``."""
    try:
        return httpx2.create_ssl_context()
    except OSError as error:  # ssl.SSLError is one too
        raise ServerUnreachable(
            "The trusted certificate file set on this computer cannot be used ({reason}).",
            remedy="Correct or remove the environment variable SSL_CERT_FILE.",
            reason=error,
        ) from error


def what_happened(error: Exception) -> Message:
    """Return the predicate of a sentence about a failed connection."""
    match error:
        case httpx2.ConnectTimeout() | httpx2.ConnectError():
            return message("cannot be reached")
        case httpx2.TimeoutException():
            return message("stopped responding")
        case _:
            return message("closed the connection")
