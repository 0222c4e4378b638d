"""Attacks on the service: it refuses them with a status and stays alive."""

from __future__ import annotations

import json
import os
import pickle
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import httpx2
import pytest
from running_service import RunningService, Serve

from studio.errors import CannotServe
from studio.serve import access, http_protocol
from studio.serve.access import AccessRules, service_token
from studio.serve.running import Address, access_rules

pytestmark = pytest.mark.timeout(180)
SPEECH = {"input": "one two", "response_format": "pcm"}


def speaks(service: RunningService, **headers: str) -> bool:
    answer = httpx2.post(f"{service.url}/v1/audio/speech", json=SPEECH, headers=headers, timeout=30)
    return answer.status_code == 200 and len(answer.content) > 0


def exchange(service: RunningService, data: bytes, *, seconds: float = 30.0) -> bytes:
    """Send ``data`` and return what the service answers until it closes the connection."""
    with closing(socket.create_connection(("127.0.0.1", service.port), timeout=seconds)) as connection:
        connection.sendall(data)
        answer = b""
        with suppress(ConnectionResetError):  # the service closes before it has read everything
            while block := connection.recv(1 << 16):
                answer += block
        return answer


def opens_websocket(service: RunningService, headers: dict[str, str]) -> bool:
    request = {
        "Host": "localhost",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        **headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in request.items())
    with closing(socket.create_connection(("127.0.0.1", service.port), timeout=30)) as connection:
        connection.sendall(f"GET /v1/audio/speech/stream HTTP/1.1\r\n{lines}\r\n".encode())
        return connection.recv(1 << 12).startswith(b"HTTP/1.1 101")


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    return tmp_path / "token"


@pytest.fixture
def guarded(serve: Serve, token_file: Path) -> Iterator[RunningService]:
    with serve(Address(port=0, token_file=token_file)) as running:
        yield running


def test_a_token_is_created_for_the_owner_only(token_file: Path) -> None:
    token = service_token(token_file)
    assert len(token) >= 32
    assert service_token(token_file) == token
    if os.name == "posix":
        assert stat.S_IMODE(token_file.stat().st_mode) == 0o600


@pytest.mark.parametrize("token", ["", "short"])
def test_a_short_token_is_refused(token_file: Path, token: str) -> None:
    token_file.write_text(token, "utf-8")
    token_file.chmod(0o600)
    with pytest.raises(CannotServe, match="shorter than 16"):
        service_token(token_file)


@pytest.mark.slow
def test_no_token_and_a_wrong_token_are_refused(guarded: RunningService, token_file: Path) -> None:
    token = service_token(token_file)
    assert not speaks(guarded)
    assert not speaks(guarded, Authorization="Bearer wrong")
    assert not speaks(guarded, Authorization=token)
    answer = httpx2.get(f"{guarded.url}/v1/audio/voices")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "wrong-token")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert httpx2.get(f"{guarded.url}/metrics").status_code == 401
    for path in ("/health", "/healthz", "/readyz"):  # probes cannot send a token
        assert httpx2.get(f"{guarded.url}{path}").status_code == 200
    assert speaks(guarded, Authorization=f"Bearer {token}")


def test_other_computers_are_not_served_without_a_token(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.168.1.2", "studio.example"):
        with pytest.raises(CannotServe, match="needs a token"):
            access_rules(Address(host=host))
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        assert access_rules(Address(host=host)).token is None


@pytest.mark.slow
@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[evil]:1"])
def test_an_unknown_host_name_is_refused(service: RunningService, host: str) -> None:
    answer = httpx2.get(f"{service.url}/v1/models", headers={"Host": host})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "not-allowed")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.:1234", "127.0.0.1", "[::1]:8807", "192.168.1.2:8807"])
def test_addresses_and_localhost_are_known_hosts(service: RunningService, host: str) -> None:
    assert httpx2.get(f"{service.url}/v1/models", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1"])
def test_web_pages_are_refused(service: RunningService, origin: str) -> None:
    answer = httpx2.post(f"{service.url}/v1/audio/speech", json=SPEECH, headers={"Origin": origin})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.slow
def test_a_permitted_web_page_is_served(serve: Serve) -> None:
    page = "https://page.example"
    with serve(Address(port=0, allowed_origins=(page,))) as running:
        asked = httpx2.options(f"{running.url}/v1/audio/speech", headers={"Origin": page})
        assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (204, page)
        answer = httpx2.post(f"{running.url}/v1/audio/speech", json=SPEECH, headers={"Origin": page})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, page)
        assert httpx2.get(f"{running.url}/v1/models", headers={"Origin": page + ".evil"}).status_code == 403


def test_two_host_headers_are_refused(service: RunningService) -> None:
    answer = exchange(service, b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400")
    assert speaks(service)


@pytest.mark.parametrize("headers", [{"Origin": "http://evil.example"}, {"Host": "evil.example"}])
def test_a_websocket_of_a_web_page_is_refused(service: RunningService, headers: dict[str, str]) -> None:
    assert not opens_websocket(service, headers)
    assert opens_websocket(service, {})


def test_a_websocket_needs_the_token(guarded: RunningService, token_file: Path) -> None:
    assert not opens_websocket(guarded, {})
    assert not opens_websocket(guarded, {"Authorization": "Bearer wrong"})
    assert opens_websocket(guarded, {"Authorization": f"Bearer {service_token(token_file)}"})


@pytest.mark.slow
def test_a_declared_giant_is_refused_before_it_is_sent(service: RunningService) -> None:
    head = (
        "POST /v1/audio/voices HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        "Content-Length: {}\r\nContent-Type: {}\r\n\r\n"
    )
    for size, kind in ((2 << 30, "multipart/form-data; boundary=x"), (2 << 20, "application/json")):
        answer = exchange(service, head.format(size, kind).encode() + b"begin")
        assert answer.startswith(b"HTTP/1.1 413")
        assert b"too large" in answer
    assert speaks(service)


def test_an_undeclared_giant_is_broken_off(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MAX_UPLOAD_BYTES", 1 << 20)

    def endless() -> Iterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="audio_sample"; filename="a.wav"\r\n\r\n'
        for _ in range(64):
            yield bytes(1 << 16)

    answer = httpx2.post(
        f"{service.url}/v1/audio/voices",
        content=endless(),
        headers={"Content-Type": "multipart/form-data; boundary=x"},
        timeout=30,
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "request-too-large")
    assert speaks(service)


@pytest.mark.slow
def test_a_slow_upload_is_ended(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_PAUSE_SECONDS", 0.3)
    head = b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    answer = exchange(service, head + b"Content-Length: 100\r\nConnection: close\r\n\r\n{")
    assert answer.startswith(b"HTTP/1.1 400")
    monkeypatch.undo()
    assert speaks(service)


@pytest.mark.slow
def test_a_path_as_the_name_of_a_voice_finds_nothing(service: RunningService) -> None:
    for name in ("../../etc/passwd", "/etc/passwd", "..%2f..%2fetc%2fpasswd", "C:\\voices\\a.wav"):
        answer = httpx2.post(f"{service.url}/v1/audio/speech", json={**SPEECH, "voice": name})
        assert answer.status_code == 404
        assert httpx2.delete(f"{service.url}/v1/audio/voices/{name}").status_code in (404, 405)
    assert speaks(service)


@pytest.mark.slow
def test_a_pickle_as_a_voice_is_not_read(service: RunningService, tmp_path: Path) -> None:
    mark = tmp_path / "executed"

    class Attack:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (mark,))

    for name in ("voice.pt", "voice.pkl", "voice.wav", "voice.safetensors", "../../voice.wav"):
        answer = httpx2.post(
            f"{service.url}/v1/audio/voices",
            data={"name": "Eve", "consent": "Eve"},
            files={"audio_sample": (name, pickle.dumps(Attack()))},
        )
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "unreadable-clip")
    assert not mark.exists()
    assert speaks(service)


def test_bombs_of_headers_and_of_nested_json_are_refused(service: RunningService) -> None:
    answer = exchange(service, b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Bomb: " + b"x" * (1 << 20))
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    answer = exchange(service, b"GET /v1/models HTTP/1.1\r\n" + b"A: b\r\n" * (1 << 16) + b"\r\n")
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    nested = httpx2.post(
        f"{service.url}/v1/audio/speech",
        content=b"[" * 500_000,
        headers={"Content-Type": "application/json"},
    )
    assert nested.status_code == 400
    assert json.loads(nested.content)["error"]["message"]
    assert speaks(service)


@pytest.mark.slow
def test_silent_connections_are_limited_and_closed(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """More connections than are permitted, none of which sends a request."""
    monkeypatch.setattr(http_protocol, "MAX_CONNECTIONS", 20)
    monkeypatch.setattr(http_protocol, "_HEADER_SECONDS", 1.0)
    with serve() as running:
        connections = [socket.create_connection(("127.0.0.1", running.port), timeout=60) for _ in range(60)]
        connections[0].sendall(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX: ")  # and never more
        closed = 0
        for connection in connections:
            try:
                closed += connection.recv(1) == b""
            except ConnectionError:
                closed += 1
            connection.close()
        assert closed == 60
        assert speaks(running)


@pytest.mark.slow
def test_a_connection_is_kept_for_further_requests(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time limit of headers does not end a connection between requests or during a long answer."""
    monkeypatch.setattr(http_protocol, "_HEADER_SECONDS", 0.5)
    with serve() as running, httpx2.Client(base_url=running.url, timeout=60) as client:
        for _ in range(2):
            long = client.post("/v1/audio/speech", json={"input": "rest " * 12, "response_format": "pcm"})
            assert len(long.content) == 12 * 2 * 2400
            time.sleep(0.8)


def test_rules_without_names_know_only_this_computer() -> None:
    assert AccessRules().hosts == frozenset()
