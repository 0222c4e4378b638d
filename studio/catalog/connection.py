"""Connections to the places models come from: through the system's proxy, trusting the system's certificates."""

from __future__ import annotations

import ssl
from functools import cache

import httpx2

import studio

_CONNECT_SECONDS = 15.0
_SILENCE_SECONDS = 30.0  # a server that says nothing for so long is asked again


def open_client() -> httpx2.Client:
    """Proxies are those of the environment or the system, certificates those the system trusts (both httpx2's doing)."""
    return httpx2.Client(
        verify=_trusted_certificates(),
        follow_redirects=True,
        timeout=httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS),
        headers={"User-Agent": f"timbre-studio/{studio.__version__}"},
    )


@cache
def _trusted_certificates() -> ssl.SSLContext:
    """Read once: it takes longer than asking a server."""
    return httpx2.create_ssl_context()
