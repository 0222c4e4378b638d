"""Requests as they are sent to a replica, which may be on another computer and does not have the files of the request."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from studio.errors import UnreadableClip
from studio.pipeline.request import ConversionRequest, SynthesisRequest
from studio.storage.atomic_file import atomic_path
from studio.storage.disk import require_regular_file


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file by its SHA-256 digest. ``content`` is awaited only where the file does not exist yet."""

    digest: str
    suffix: str
    content: Awaitable[bytes]


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request whose clip, and whose recording to convert, are sent as files."""

    request: SynthesisRequest | ConversionRequest
    clip: SentFile
    source: SentFile | None = None
    reports_progress: bool = False


class Sender:
    """Files that the ingress sends with requests. ``put`` stores bytes where every replica can read them.

    A file is stored again for each request: a copy of an earlier one may be on a node that has just been lost, and Ray
    waits ten seconds (``object_manager_pull_timeout_ms``) before it fetches it from another node.
    """

    def __init__(self, put: Callable[[bytes], Awaitable[bytes]]) -> None:
        self._put = put

    def clip(self, path: Path) -> SentFile:
        """Return the file of a clip. Raise ``UnreadableClip``."""
        try:
            require_regular_file(path)
            return self.file(path)
        except OSError as error:
            raise UnreadableClip(
                "{file} cannot be opened.",
                remedy="Check the path and that the file may be read.",
                file=path.name or path,
            ) from error

    def file(self, path: Path) -> SentFile:
        """Return a file. Raise ``OSError``."""
        content = path.read_bytes()
        return SentFile(hashlib.sha256(content).hexdigest(), path.suffix, self._put(content))


class ReceivedFiles:
    """Files that a replica has received with requests, stored in ``folder`` and named by their digests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def path(self, sent: SentFile) -> Path:
        """Return the path of ``sent``, whose content is fetched if it is not there."""
        path = self._folder / f"{sent.digest}{sent.suffix}"
        if not path.exists():
            content = await sent.content
            with atomic_path(path, syncs=False) as part:
                part.write_bytes(content)
        return path

    def remove(self, sent: SentFile) -> None:
        """Remove the file of ``sent``."""
        (self._folder / f"{sent.digest}{sent.suffix}").unlink(missing_ok=True)
