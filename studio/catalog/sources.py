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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from studio.catalog.known import SourceKind
from studio.errors import UnusableSetting

AUTOMATIC = "automatic"  # choice of the source by the location of the computer
# Environment variable and default endpoint.
_ENDPOINTS = {
    SourceKind.HUGGING_FACE: ("HF_ENDPOINT", "https://huggingface.co"),
    SourceKind.MODEL_SCOPE: ("MODELSCOPE_ENDPOINT", "https://www.modelscope.cn"),
}
_MIRRORS = {"https://hf-mirror.com": SourceKind.HUGGING_FACE}


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a repository."""

    path: str
    size_bytes: int
    sha256: str | None = None  # None if the hub does not report it, like ``git_sha1``
    git_sha1: str | None = None  # git's blob id


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
    """Client of a model hub."""

    @property
    def kind(self) -> SourceKind: ...

    @property
    def endpoint(self) -> str: ...

    def list_files(self, repository: str, revision: str | None) -> Listing:
        """List the files of ``revision``, or of the newest revision for None.

        Raise ``RefusedError``, ``SourceRefused`` and ``httpx2.HTTPError``.
        """

    def address(self, repository: str, revision: str, path: str) -> Address: ...


def open_source(kind: SourceKind, endpoint: str = "") -> ModelSource:
    """Return the client of a hub, without a request. Raise ``UnusableSetting``."""
    from studio.catalog.hubs import HuggingFace, ModelScope  # noqa: PLC0415 - slow to load, and rarely needed

    found = endpoint_of(kind, endpoint)
    return HuggingFace(found) if kind is SourceKind.HUGGING_FACE else ModelScope(found)


@dataclass(frozen=True, slots=True)
class SourceOrder:
    """Sources of models: those tried in turn by themselves, and those tried only when the user asks."""

    automatic: tuple[ModelSource, ...]
    others: tuple[ModelSource, ...] = ()


def order_sources(choice: str, own_endpoints: Mapping[SourceKind, str], *, is_in_china: bool) -> SourceOrder:
    """Return the sources for the setting ``choice``: a source, or "automatic".

    An own address, from the settings or the environment, is used alone until the user asks for another source. Raise
    ``UnusableSetting``.
    """
    hugging_face, model_scope = SourceKind.HUGGING_FACE, SourceKind.MODEL_SCOPE
    mirrors = [(kind, endpoint) for endpoint, kind in _MIRRORS.items()]
    official = {kind: (kind, default) for kind, (_, default) in _ENDPOINTS.items()}
    if is_in_china:
        places = [official[model_scope], *mirrors, official[hugging_face]]
    else:
        places = [official[hugging_face], official[model_scope], *mirrors]
    is_automatic = choice == AUTOMATIC
    kinds = [kind for kind, _ in places] if is_automatic else [SourceKind(choice)]
    own = {kind: endpoint_of(kind, own_endpoints.get(kind, "")) for kind in dict.fromkeys(kinds)}
    own_places = [(kind, endpoint) for kind, endpoint in own.items() if not is_default_endpoint(kind, endpoint)]
    if own_places:
        chosen = own_places if is_automatic else own_places[:1]
        return SourceOrder(_opened(chosen), _opened([place for place in places if place not in chosen]))
    if not is_automatic:
        places.sort(key=lambda place: place != official[SourceKind(choice)])
    return SourceOrder(_opened(places))


def _opened(places: Sequence[tuple[SourceKind, str]]) -> tuple[ModelSource, ...]:
    return tuple(open_source(kind, endpoint) for kind, endpoint in places)


def source_title(source: ModelSource) -> str:
    """Return the name of the hub, or the host of a mirror."""
    is_official = is_default_endpoint(source.kind, source.endpoint)
    return source.kind.title if is_official else urlsplit(source.endpoint).netloc


def endpoint_of(kind: SourceKind, chosen: str = "") -> str:
    """Return ``chosen``, or otherwise the endpoint in the environment, or otherwise the hub's own. Raise ``UnusableSetting``."""
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
