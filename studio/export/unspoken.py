"""Cache key of a line that is still to be spoken: a hash of everything that affects its audio."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path

from studio.errors import UnreadableClip
from studio.pipeline.request import EngineOptions, SynthesisRequest
from studio.storage.disk import require_regular_file

# Options that do not affect the audio.
_INAUDIBLE_OPTIONS = ("loads_speech_lm", "num_threads", "voice_memory_bytes", "voice_disk_bytes")


def request_cache_key(request: SynthesisRequest, model_folder: Path, options: EngineOptions) -> str:
    """Return a key that is equal for requests with equal audio.

    The voice is identified by the content of its clip, the model by the sizes and times of its files. Raise
    ``UnreadableClip`` if the clip cannot be read.
    """
    voice = request.voice
    asked = asdict(replace(request, voice=replace(voice, clip=Path(), name="")))
    asked["voice"] = [_content_of(voice.clip, *_stamp(voice.clip)), voice.transcript]
    run = {name: value for name, value in asdict(options).items() if name not in _INAUDIBLE_OPTIONS}
    model = [
        [path.relative_to(model_folder).as_posix(), path.stat().st_size, path.stat().st_mtime_ns]
        for path in sorted(model_folder.rglob("*"))
        if path.is_file()
    ]
    return hashlib.sha256(json.dumps([asked, run, model], ensure_ascii=False).encode("utf-8")).hexdigest()


@lru_cache(maxsize=256)
def _content_of(path: Path, _num_bytes: int, _modified_ns: int) -> str:
    require_regular_file(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise UnreadableClip(
            "The recording {file} cannot be read ({reason}).",
            remedy="Choose another voice.",
            file=path.name,
            reason=error,
        ) from error
    return found.st_size, found.st_mtime_ns
