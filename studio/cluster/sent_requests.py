"""Requests as they are sent to a replica, which may be on another computer and does not have the files of the request.

A file is stored again for each request: a copy of an earlier one may be on a node that has just been lost, and Ray waits
ten seconds (``object_manager_pull_timeout_ms``) before it fetches it from another node.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from studio.errors import UnreadableClip
from studio.storage.atomic_file import atomic_path
from studio.storage.disk import require_regular_file
from studio.worker import protocol

Store = Callable[[bytes], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file by its SHA-256 digest. ``content`` is awaited only where the file does not exist yet."""

    digest: str
    suffix: str
    content: Awaitable[bytes]


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request, the clip of its voice, and the recording to convert."""

    command: protocol.Synthesize | protocol.Convert | protocol.PrepareVoice | protocol.NormalizeText
    clip: SentFile | None = None
    source: SentFile | None = None
    reports_progress: bool = False
    text_id: str = ""  # of the sentence that is still being written, in ``ArrivingTexts``


def sent_clip(path: Path, store: Store) -> SentFile:
    """Store the clip of a voice where every replica can read it. Raise ``UnreadableClip``."""
    try:
        require_regular_file(path)
        return sent_file(path, store)
    except OSError as error:
        raise UnreadableClip(
            "{file} cannot be opened.",
            remedy="Check the path and that the file may be read.",
            file=path.name or path,
        ) from error


def sent_file(path: Path, store: Store) -> SentFile:
    """Store a file where every replica can read it. Raise ``OSError``."""
    content = path.read_bytes()
    return SentFile(hashlib.sha256(content).hexdigest(), path.suffix, store(content))


async def received_file(sent: SentFile, folder: Path) -> Path:
    """Return the path of ``sent`` in ``folder``, after fetching its content if it is not there."""
    path = folder / f"{sent.digest}{sent.suffix}"
    if not path.exists():
        content = await sent.content
        with atomic_path(path, syncs=False) as part:
            part.write_bytes(content)
    return path
