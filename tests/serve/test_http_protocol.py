"""Connections of the service."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import httpx2
import pytest
from running_service import RunningService

from studio.serve import http_protocol
from studio.serve.http_protocol import LimitedH11Protocol


def test_small_parts_of_an_answer_are_sent_at_once(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> None:
    options: list[int] = []
    connect = LimitedH11Protocol.connection_made

    def connection_made(protocol: LimitedH11Protocol, transport: asyncio.Transport) -> None:
        connect(protocol, transport)
        connection = transport.get_extra_info("socket")
        options.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(LimitedH11Protocol, "connection_made", connection_made)
    assert httpx2.get(f"{service.url}/healthz").status_code == 200
    assert options
    assert all(options)


def test_dripping_connections_do_not_keep_others_out(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "MAX_CONNECTIONS", 8)
    with contextlib.ExitStack() as stack:
        for _ in range(30):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=10))
            slow.sendall(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX: ")
        assert httpx2.get(f"{service.url}/healthz").status_code == 200
