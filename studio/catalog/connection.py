"""Connections to the places models come from: through the system's proxy, trusting the system's certificates."""

from __future__ import annotations

import os
import ssl
from functools import cache
from urllib.request import getproxies

import httpx2

import studio
from studio.errors import SourceUnreachable

_CONNECT_SECONDS = 15.0
_SILENCE_SECONDS = 30.0  # a server that says nothing for so long is asked again


def open_client() -> httpx2.Client:
    """Proxies are those of the environment or the system, certificates those the system trusts (both httpx2's doing).

    Raises ``SourceUnreachable`` where a proxy or the file of certificates is none that can be used.
    """
    _forget_unneeded_proxy()
    try:
        return httpx2.Client(
            verify=_trusted_certificates(),
            follow_redirects=True,
            timeout=httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS),
            headers={"User-Agent": f"timbre-studio/{studio.__version__}"},
        )
    except (ImportError, ValueError, httpx2.InvalidURL) as error:  # SOCKS; another kind; no address
        raise SourceUnreachable(
            "The proxy of this computer is of a kind this program does not speak, or its address is wrong.",
            remedy="Set HTTPS_PROXY to an address like http://127.0.0.1:7890, or import the model from a folder.",
        ) from error


def _forget_unneeded_proxy() -> None:
    """Programs for proxies ask for ``ALL_PROXY=socks5://…`` beside the two that are used here, and httpx2 stumbles over it."""
    if {"http", "https"} <= getproxies().keys():
        for name in ("all_proxy", "ALL_PROXY"):
            os.environ.pop(name, None)


@cache
def _trusted_certificates() -> ssl.SSLContext:
    """Read once: it takes longer than asking a server."""
    try:
        return httpx2.create_ssl_context()
    except OSError as error:  # ssl.SSLError is one too
        raise SourceUnreachable(
            "The file of trusted certificates that this computer names cannot be used ({reason}).",
            remedy="Correct the environment variable SSL_CERT_FILE, or remove it.",
            reason=error,
        ) from error
