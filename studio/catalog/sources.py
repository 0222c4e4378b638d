"""Model hubs: the interface of their clients, and the endpoints they use.

Decision: the hub clients only list files and build addresses; ``download.py`` fetches the bytes from every hub.
Reason: a download must cancel at once, resume within a file after a power cut and report its bytes. The Hugging Face
client's downloader waits between retries without a way to cancel, resumes without checking that the file is still
the same (no If-Range), does not verify the content, and its Xet transfers do not resume within a file.
Alternative: ModelScope's client has the same limits and adds a second HTTP library; its HTTP interface is two URLs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from studio.catalog.known import SourceKind
from studio.catalog.retry_policy import retry_after
from studio.errors import SourceRefused, UnusableSetting

_ENDPOINTS = {
    SourceKind.HUGGING_FACE: ("HF_ENDPOINT", "https://huggingface.co"),
    SourceKind.MODEL_SCOPE: ("MODELSCOPE_ENDPOINT", "https://www.modelscope.cn"),
}


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a repository. ``sha256`` and ``git_sha1`` (git's blob id) are None if the hub omits them."""

    path: str
    size_bytes: int
    sha256: str | None = None
    git_sha1: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a repository at ``revision``, by path."""

    revision: str
    files: Mapping[str, RemoteFile]


@dataclass(frozen=True, slots=True)
class Address:
    url: str
    headers: Mapping[str, str]


class ModelSource(Protocol):
    @property
    def kind(self) -> SourceKind: ...

    @property
    def endpoint(self) -> str: ...

    def list_files(self, repository: str, revision: str | None) -> Listing:
        """List the files of ``revision``, or of the newest one.

        Raise ``RefusedError``, ``SourceRefused`` and ``httpx2.HTTPError``.
        """

    def address(self, repository: str, revision: str, path: str) -> Address: ...


class RefusedError(Exception):
    """An HTTP error status. ``wait_seconds`` comes from Retry-After; ``is_html``: the body is a web page."""

    def __init__(self, status: int, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.wait_seconds = retry_after(headers or {})
        self.is_html = is_html(headers or {})


def is_html(headers: Mapping[str, str]) -> bool:
    """Return whether a response is HTML: an error page, or the login page of a network."""
    return headers.get("Content-Type", "").partition(";")[0].strip().lower() == "text/html"


def not_a_listing(endpoint: str) -> SourceRefused:
    return SourceRefused(
        "{place} returned something other than a list of files.",
        remedy="Check whether this network requires a login, or choose another source (Settings, Models).",
        place=endpoint,
    )


def endpoint_of(kind: SourceKind, chosen: str = "") -> str:
    """Return ``chosen``, else the endpoint in the environment, else the hub's own. Raise ``UnusableSetting``."""
    variable, default = _ENDPOINTS[kind]
    endpoint = (chosen.strip() or os.environ.get(variable, "").strip() or default).rstrip("/")
    if not _is_address(endpoint):
        raise UnusableSetting(
            "“{endpoint}” is not a server address.",
            remedy="Enter an address such as https://hf-mirror.com, or leave it empty.",
            endpoint=endpoint,
        )
    return endpoint


def _is_address(endpoint: str) -> bool:
    try:
        parts = urlsplit(endpoint)
        is_complete = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # incomplete IPv6 address, or a port that is not a number
        return False
    return is_complete and endpoint.isprintable() and " " not in endpoint


def is_default_endpoint(kind: SourceKind, endpoint: str) -> bool:
    return endpoint == _ENDPOINTS[kind][1]
