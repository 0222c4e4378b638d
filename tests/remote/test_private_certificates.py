"""Servers with certificates of a private authority: trusted through SSL_CERT_FILE, otherwise said at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_server import HubServer

from studio.errors import ServerUnreachable, UnknownService
from studio.pipeline.request import SynthesisRequest, VoiceReference
from studio.remote.address import ServerAddress
from studio.remote.probing import OtherServer, probe, probe_other
from studio.remote.remote_worker import RemoteWorker
from studio.worker.client import WorkerClient

pytestmark = pytest.mark.timeout(60)
CERTIFICATES = Path(__file__).parents[1] / "catalog" / "certificates"


@pytest.fixture
def address() -> Iterator[ServerAddress]:
    """A web server that is no speech service."""
    with HubServer(CERTIFICATES / "hub.pem") as hub:
        yield ServerAddress(f"https://127.0.0.1:{hub.port}")


def test_a_private_authority_is_trusted_through_its_file(
    address: ServerAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "authority.pem"))
    with pytest.raises(UnknownService):
        probe(address, None)


def test_an_unknown_authority_is_said_without_further_attempts(
    address: ServerAddress, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setattr("studio.remote.line_request._RETRY_SECONDS", (1000.0,))
    with pytest.raises(ServerUnreachable, match="does not trust") as raised:
        probe(address, None)
    assert "SSL_CERT_FILE" in str(raised.value.remedy)

    async def speak() -> None:
        async with WorkerClient(Path("unused"), start_worker=lambda: RemoteWorker(address)) as client:
            await client.synthesize(SynthesisRequest("one", VoiceReference(clip, None, "Anna"))).finished()

    with pytest.raises(ServerUnreachable, match="does not trust"):
        asyncio.run(speak())


def test_an_unusable_certificate_file_is_said(
    address: ServerAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no.pem").write_text("no certificate")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "no.pem"))
    with pytest.raises(ServerUnreachable, match="trusted certificate file"):
        probe(address, None)


def test_triton_with_a_private_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    grpc = pytest.importorskip("grpc", reason="the extra triton is not installed")
    from triton_server import triton_server

    content = (CERTIFICATES / "hub.pem").read_bytes()
    with triton_server(grpc.ssl_server_credentials([(content, content)])) as triton:
        address = ServerAddress(triton.url.replace("grpc://", "grpcs://"))
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        with pytest.raises(ServerUnreachable, match="does not trust"):
            probe_other(address, None)
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "authority.pem"))
        assert probe_other(address, None) == OtherServer(("cosyvoice2",))
