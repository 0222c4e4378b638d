"""Files of voices that clients have sent, named by their SHA-256. Another copy of this program sends each once."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import safetensors

from studio import paths
from studio.audio.files import read_audio
from studio.errors import BadRequest, UnknownVoice, UnreadableClip
from studio.serve.client_requests import AUDIO_SUFFIXES
from studio.storage.atomic_file import atomic_path
from studio.storage.lru import delete_least_used, mark_used

FEATURES_SUFFIX = ".safetensors"
_MAX_BYTES = 1 << 30
# The arrays of ``studio.pipeline.enrolment.feature_arrays``.
_FEATURES = frozenset({"speech_tokens", "mel", "embedding", "clip_seconds", "flow_start_tokens", "warnings"})


class ReceivedVoices:
    """Voice files in the cache folder; beyond ``_MAX_BYTES``, the least recently used are deleted. Thread-safe.

    Recordings are audio files, and voices without a recording are prompt features as safetensors. Nothing else is
    accepted.
    """

    def __init__(self) -> None:
        self._folder = paths.cache_folder() / "received-voices"

    def find(self, sha256: str) -> Path:
        """Return the file with this hash. Raise ``UnknownVoice``."""
        for suffix in (FEATURES_SUFFIX, *sorted(AUDIO_SUFFIXES)):
            path = self._folder / f"{sha256}{suffix}"
            if path.is_file():
                mark_used(path)
                return path
        raise UnknownVoice("This service does not have the voice.", remedy="Send its file first.")

    def add(self, sha256: str, received: Path) -> None:
        """Copy ``received`` into the folder. Raise ``BadRequest`` for another hash, and ``UnreadableClip``."""
        with received.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                raise BadRequest("The file of the voice arrived damaged.", remedy="Send it again.")
        if received.suffix == FEATURES_SUFFIX:
            _require_features(received)
        else:
            read_audio(received)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with atomic_path(self._folder / f"{sha256}{received.suffix}", syncs=False) as part:
            shutil.copyfile(received, part)
            mark_used(part)
        delete_least_used(self._folder.glob("*.*"), max_bytes=_MAX_BYTES)


def _require_features(path: Path) -> None:
    try:
        with safetensors.safe_open(path, framework="np") as file:
            names = set(file.keys())
    except (OSError, safetensors.SafetensorError):
        names = set()
    if not {"speech_tokens", "mel", "embedding"} <= names <= _FEATURES:
        raise UnreadableClip(
            "{file} contains no readable voice features.",
            remedy="Create the voice again from its recording.",
            file="The file of the voice",
        )
