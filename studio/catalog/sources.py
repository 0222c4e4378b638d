"""Model hubs: the interface of their clients, and the endpoints they use.

Decision: the clients in ``hubs.py`` only list files and build addresses; ``download.py`` downloads from every hub.
Reason: a download must cancel at once, resume within a file after a power cut and report its bytes. The Hugging Face
client's downloader waits between retries without a way to cancel, resumes without checking that the file is still
the same (no If-Range), does not verify the content, and its Xet transfers do not resume within a file.
Alternative: the clients' own downloaders. ModelScope's client has the same limits and adds a second HTTP library; its
HTTP interface consists of two URLs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from studio.catalog.known import SourceKind
from studio.errors import UnusableSetting

DEFAULT_ENDPOINTS = {
    SourceKind.HUGGING_FACE: "https://huggingface.co",
    SourceKind.MODEL_SCOPE: "https://www.modelscope.cn",
}
_VARIABLES = {SourceKind.HUGGING_FACE: "HF_ENDPOINT", SourceKind.MODEL_SCOPE: "MODELSCOPE_ENDPOINT"}


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a repository."""

    path: str
    size_bytes: int
    sha256: str | None = None  # None if the hub does not report it, like ``git_sha1``
    git_sha1: str | None = None  # git's blob id


@dataclass(frozen=True, slots=True)
class FileList:
    """The files of a repository at ``revision``, by path."""

    revision: str
    files: Mapping[str, RemoteFile]


@dataclass(frozen=True, slots=True)
class Address:
    url: str
    headers: Mapping[str, str]


class ModelSource(Protocol):
    """Client of a model hub."""

    @property
    def kind(self) -> SourceKind: ...

    @property
    def endpoint(self) -> str: ...

    def list_files(self, repository: str, revision: str | None) -> FileList:
        """List the files of ``revision``, or of the newest revision for None.

        Raise ``RefusedError``, ``SourceRefused`` and ``httpx2.HTTPError``.
        """

    def address(self, repository: str, revision: str, path: str) -> Address: ...


def source_title(source: ModelSource) -> str:
    """Return the name of the hub, or the host of a mirror."""
    is_official = is_default_endpoint(source.kind, source.endpoint)
    return source.kind.title if is_official else urlsplit(source.endpoint).netloc


def choose_endpoint(kind: SourceKind, chosen: str = "") -> str:
    """Return ``chosen``, or otherwise the endpoint in the environment, or otherwise the hub's own. Raise ``UnusableSetting``."""
    endpoint = (chosen.strip() or os.environ.get(_VARIABLES[kind], "").strip() or DEFAULT_ENDPOINTS[kind]).rstrip("/")
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
    return endpoint == DEFAULT_ENDPOINTS[kind]
