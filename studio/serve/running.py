"""Running the service: the listening socket, uvicorn, and shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from studio.errors import CannotServe
from studio.serve.access import AccessRules, service_token
from studio.serve.application import create_application, create_metrics_application
from studio.serve.http_protocol import LimitedH11Protocol
from studio.serve.responses import BrokenOff
from studio.serve.service import SpeechService

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8807
# asyncio accepts up to this number of connections at once, before those beyond the limit are closed. With more, a flood of
# connections could use up the descriptors of the process.
_BACKLOG = 64
_MAX_HEADERS_BYTES = 32 << 10
_MAX_MESSAGE_BYTES = 1 << 20  # of a WebSocket
_KEEP_ALIVE_SECONDS = 10
# Time in which running requests may end when the service is stopped.
_SHUTDOWN_SECONDS = 30
# Time in which they end when that is over.
_END_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Address:
    """Address of the service, and the rules for its use.

    ``token_file`` may be None only for addresses of this computer. ``metrics_port`` is the port of the metrics for
    programs without the token, or None.
    """

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    token_file: Path | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    metrics_port: int | None = None


def access_rules(address: Address) -> AccessRules:
    """Return the rules for ``address``. Raise ``CannotServe`` if other computers could connect without a token.

    Raises the errors of :func:`service_token`.
    """
    if address.token_file is None and not _is_loopback(address.host):
        raise CannotServe(
            "Other computers can reach {host}, so the service needs a token.",
            remedy="Name a file with --token-file; it is created if it does not exist.",
            host=address.host,
        )
    token = None if address.token_file is None else service_token(address.token_file)
    hosts = frozenset(name.lower() for name in (*address.allowed_hosts, address.host))
    return AccessRules(token, hosts, frozenset(address.allowed_origins))


def listen(address: Address) -> socket.socket:
    """Return a listening socket. Raise ``CannotServe`` if the address cannot be used."""
    try:
        family = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((address.host, address.port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = str(error.strerror if isinstance(error, OSError) else error)
        reason, _, _ = reason.partition(" (while attempting to bind")  # Python adds the address
        raise CannotServe(
            "The service cannot listen on {host}, port {port} ({reason}).",
            remedy="Choose another port, or end the program that uses this one.",
            host=address.host,
            port=address.port,
            reason=reason,
        ) from error
    listener.setblocking(False)
    return listener


def listener_url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _is_unexpected(record: logging.LogRecord) -> bool:
    """Return whether uvicorn reports something else than a response that the service ended itself."""
    return not (record.exc_info and isinstance(record.exc_info[1], BrokenOff))


class ServiceServer(uvicorn.Server):
    """uvicorn without its own signal handlers: ``stop`` ends it."""

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield

    def stop(self) -> None:
        """Accept no more connections, let running requests end, and return from ``serve``."""
        self.should_exit = True


def create_server(application: ASGIApp, shutdown_seconds: int) -> ServiceServer:
    config = uvicorn.Config(
        application,
        http=LimitedH11Protocol,
        ws="websockets-sansio",
        ws_max_size=_MAX_MESSAGE_BYTES,
        lifespan="off",
        log_config=None,
        access_log=False,  # paths contain names of voices; ``RequestLog`` replaces it
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=shutdown_seconds + _END_SECONDS,
        backlog=_BACKLOG,
        h11_max_incomplete_event_size=_MAX_HEADERS_BYTES,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_unexpected)
    return ServiceServer(config)


async def run_service(
    service: SpeechService,
    address: Address,
    *,
    on_ready: Callable[[str], None] = lambda _: None,
    shutdown_seconds: int = _SHUTDOWN_SECONDS,
) -> None:
    """Serve until cancelled. ``on_ready`` receives the URL once the model is loaded. Raise ``StudioError``.

    Cancelling refuses requests that wait, and lets running ones end, for at most ``shutdown_seconds``.
    """
    application = create_application(service, access_rules(address))
    with contextlib.ExitStack() as stack:
        stack.callback(service.close)
        listener = stack.enter_context(listen(address))
        servers = {create_server(application, shutdown_seconds): listener}
        if address.metrics_port is not None:
            metrics_listener = stack.enter_context(listen(replace(address, port=address.metrics_port)))
            servers[create_server(create_metrics_application(service), 0)] = metrics_listener
        serving = asyncio.gather(*(server.serve([socket]) for server, socket in servers.items()))
        try:
            await service.load()
            on_ready(listener_url(listener))
            await asyncio.shield(serving)
        finally:
            service.queue.close()
            for server in servers:
                server.stop()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([serving], timeout=shutdown_seconds)
                service.end_requests()
                await serving


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
