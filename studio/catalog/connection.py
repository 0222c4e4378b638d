"""HTTP client for model hubs, using the system's proxy and trusted certificates."""

from __future__ import annotations

import os
import ssl
from functools import cache
from urllib.request import getproxies

import httpx2

import studio
from studio.errors import SourceUnreachable

_CONNECT_SECONDS = 15.0
_SILENCE_SECONDS = 30.0  # without data from the server, before the request is retried


def open_client() -> httpx2.Client:
    """Return a client. httpx2 takes proxies from the environment or the system, and the system's certificates.

    Raise ``SourceUnreachable`` if a proxy or the certificate file cannot be used.
    """
    _forget_unneeded_proxy()
    try:
        return httpx2.Client(
            verify=_trusted_certificates(),
            follow_redirects=True,
            timeout=httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS),
            headers={"User-Agent": f"timbre-studio/{studio.__version__}"},
        )
    except (ImportError, ValueError, httpx2.InvalidURL) as error:  # SOCKS proxy; unknown proxy type; invalid address
        raise SourceUnreachable(
            "This computer's proxy type is not supported, or its address is wrong.",
            remedy="Set HTTPS_PROXY to an address such as http://127.0.0.1:7890, or import the model from a folder.",
        ) from error


def _forget_unneeded_proxy() -> None:
    """Remove ``ALL_PROXY=socks5://…``, which httpx2 rejects, if the two variables used here are set as well."""
    if {"http", "https"} <= getproxies().keys():
        for name in ("all_proxy", "ALL_PROXY"):
            os.environ.pop(name, None)


@cache
def _trusted_certificates() -> ssl.SSLContext:
    """Return the trusted certificates, read once: reading takes longer than a request."""
    try:
        return httpx2.create_ssl_context()
    except OSError as error:  # ssl.SSLError is one too
        raise SourceUnreachable(
            "The trusted certificate file set on this computer cannot be used ({reason}).",
            remedy="Correct or remove the environment variable SSL_CERT_FILE.",
            reason=error,
        ) from error
