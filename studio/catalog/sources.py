"""Where models come from: what each place has, and the addresses of its files.

Decided: the hubs are asked for lists and addresses, and the bytes are fetched by ``download.py``, the same
way from everywhere. Because a person wants to stop at once, to go on after a loss of power with the file
that is half there, and to see bytes: the Hugging Face client's own downloader waits out refusals without a
way to stop it, resumes without asking whether the file is still the same (no If-Range), does not check what
arrived, and its Xet transfers do not resume within a file. ModelScope's client brings a second HTTP library
and is made the same way; its HTTP interface is two addresses.
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
    """``sha256`` and ``git_sha1`` as far as the place tells them; the latter is git's name for a small file."""

    path: str
    size_bytes: int
    sha256: str | None = None
    git_sha1: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """What a repository holds at ``revision``, by path."""

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
        """List ``revision``, or the newest. Raise ``RefusedError``, ``SourceRefused`` and ``httpx2.HTTPError``."""

    def address(self, repository: str, revision: str, path: str) -> Address: ...


class RefusedError(Exception):
    """A server answered with ``status`` instead of what was asked for.

    ``wait_seconds``: from its Retry-After header. ``is_html``: it sent HTML, for a reader instead of a program.
    """

    def __init__(self, status: int, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.wait_seconds = retry_after(headers or {})
        self.is_html = is_html(headers or {})


def is_html(headers: Mapping[str, str]) -> bool:
    """Whether an answer is HTML: an error page, or the login page of a network."""
    return headers.get("Content-Type", "").partition(";")[0].strip().lower() == "text/html"


def not_a_listing(endpoint: str) -> SourceRefused:
    return SourceRefused(
        "What {place} sent is not a list of files.",
        remedy="Check that this network does not ask for a login first, or choose another source (Settings, Models).",
        place=endpoint,
    )


def endpoint_of(kind: SourceKind, chosen: str = "") -> str:
    """``chosen``, else what the environment says, else the place itself. Raises ``UnusableSetting``."""
    variable, default = _ENDPOINTS[kind]
    endpoint = (chosen.strip() or os.environ.get(variable, "").strip() or default).rstrip("/")
    if not _is_address(endpoint):
        raise UnusableSetting(
            "“{endpoint}” is not the address of a server.",
            remedy="Write it like https://hf-mirror.com, or leave it empty.",
            endpoint=endpoint,
        )
    return endpoint


def _is_address(endpoint: str) -> bool:
    try:
        parts = urlsplit(endpoint)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half an IPv6 address, a port that is no number
        return False
    return is_whole and endpoint.isprintable() and " " not in endpoint


def is_default_endpoint(kind: SourceKind, endpoint: str) -> bool:
    return endpoint == _ENDPOINTS[kind][1]
