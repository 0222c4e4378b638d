"""Connections through a company proxy with its own certificates, from the system or the environment."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hub_server import HubServer, Repository
from small_model import REPOSITORY
from tunnel_proxy import TunnelProxy

from studio.catalog import network
from studio.catalog.known import SourceKind
from studio.errors import SourceRefused, SourceUnreachable

CERTIFICATES = Path(__file__).parent / "certificates"


@pytest.fixture
def secure_place(place: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A hub at https://hub.invalid, reachable only through a proxy, with a certificate of a private authority."""
    network._trusted_certificates.cache_clear()
    with HubServer(CERTIFICATES / "hub.pem") as hub, TunnelProxy({"hub.invalid:443": hub.port}) as proxy:
        hub.repositories[REPOSITORY] = Repository(place.files)
        hub.url = "https://hub.invalid"
        place.hub, place.proxy = hub, proxy
        monkeypatch.setenv("https_proxy", proxy.url)
        yield place
    network._trusted_certificates.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(SourceKind))
def test_both_hubs_are_reached_through_the_proxy_with_trusted_certificates(
    secure_place: Any, kind: SourceKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "authority.pem"))
    assert secure_place.installation(kind).run().is_dir()
    assert set(secure_place.proxy.requested) == {"hub.invalid:443"}


@pytest.mark.parametrize("kind", list(SourceKind))
def test_an_untrusted_certificate_raises(secure_place: Any, kind: SourceKind) -> None:
    with pytest.raises(SourceUnreachable, match="presented a certificate that this computer does not trust"):
        secure_place.installation(kind).run()
    assert secure_place.hub.asked == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(SourceKind))
def test_an_http_address_goes_through_the_proxy(place: Any, kind: SourceKind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", place.hub.url)
    place.hub.url = "http://hub.invalid"
    assert place.installation(kind).run().is_dir()
    # The host does not exist, so these requests can only have gone through the proxy.
    assert all(asked.path.startswith("http://hub.invalid/") for asked in place.hub.asked)


@pytest.mark.slow
def test_a_proxy_that_refuses_the_connection_is_named(secure_place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    secure_place.hub.url = "https://elsewhere.invalid"
    with pytest.raises((SourceUnreachable, SourceRefused), match="proxy"):
        secure_place.installation().run()


@pytest.mark.parametrize("kind", list(SourceKind))
@pytest.mark.parametrize("address", ["socks5://127.0.0.1:9", "http://[::1", "127.0.0.1:port"])
def test_an_unusable_proxy_raises(place: Any, kind: SourceKind, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", address)
    with pytest.raises(SourceUnreachable, match="proxy type is not supported") as caught:
        place.installation(kind).run()
    assert "HTTPS_PROXY" in str(caught.value.remedy)
    assert place.hub.asked == []


@pytest.mark.parametrize("name", ["nowhere.pem", "no.pem"])
def test_an_unusable_certificate_file_raises(
    secure_place: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no.pem").write_text("no certificate")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / name))
    network._trusted_certificates.cache_clear()
    with pytest.raises(SourceUnreachable, match="trusted certificate file") as caught:
        secure_place.installation().run()
    assert "SSL_CERT_FILE" in str(caught.value.remedy)


def test_an_unusable_all_proxy_is_ignored_if_others_are_set(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """ALL_PROXY is set as well, as proxy programs recommend."""
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, place.hub.url)
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:9")
    place.hub.url = "http://hub.invalid"
    assert place.installation().run().is_dir()


def test_no_proxy_is_obeyed(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert place.installation().run().is_dir()


@pytest.mark.parametrize("system", ["Windows", "Darwin"])
def test_the_certificate_store_of_the_system_is_used(monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    """truststore uses the certificate store of the system. On Linux that is OpenSSL's files."""
    import truststore

    for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("platform.system", lambda: system)
    asked: list[object] = []
    monkeypatch.setattr(truststore, "SSLContext", lambda protocol: asked.append(protocol) or ssl.SSLContext(protocol))
    httpx2.create_ssl_context()
    assert asked == [ssl.PROTOCOL_TLS_CLIENT]
