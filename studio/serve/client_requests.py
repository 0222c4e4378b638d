"""Clients and their uploads."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fastapi import Request, UploadFile

# Suffixes that an uploaded recording may keep. Stored features are not accepted as recordings.
AUDIO_SUFFIXES = frozenset({".wav", ".flac", ".ogg", ".mp3", ".m4a", ".mp4", ".webm", ".opus", ".aac"})
_BLOCK_BYTES = 1 << 20


def client_key(request: Request) -> str:
    """Return the key by which requests of one client take turns with other clients' requests.

    It consists of address, token, user agent and the header X-Client-Id, which distinguishes programs behind one
    address.
    """
    parts = [request.client.host if request.client else ""]
    parts += [request.headers.get(name, "") for name in ("authorization", "user-agent", "x-client-id")]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


@contextlib.contextmanager
def saved(upload: UploadFile, other_suffixes: frozenset[str] = frozenset()) -> Iterator[Path]:
    """Copy an uploaded recording to a temporary file, which is deleted afterwards.

    Only the suffix of the client's file name is kept, if it belongs to audio files or is in ``other_suffixes``.
    """
    suffix = Path(upload.filename or "").suffix.lower()
    with tempfile.TemporaryDirectory(prefix="timbre-upload-") as folder:
        path = Path(folder) / f"recording{suffix if suffix in AUDIO_SUFFIXES | other_suffixes else '.wav'}"
        with path.open("wb") as file:
            while block := upload.file.read(_BLOCK_BYTES):
                file.write(block)
        yield path
