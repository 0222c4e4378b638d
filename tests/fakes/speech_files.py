"""Files with two seconds of sound, in every format of an export."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studio.audio.encoding import ENCODINGS
from studio.audio.files import AudioWriter
from studio.audio.m4b import BookFacts, Chapter, write_m4b


def write_speech(path: Path, encoding: str) -> Path:
    samples = (0.2 * np.sin(np.arange(48_000) / 30)).astype(np.float32)
    if path.suffix == ".m4b":
        facts = BookFacts("A book", "Ada", chapters=(Chapter("One", 0, len(samples)),))
        with write_m4b(path, 24_000, facts) as book:
            book.write(samples)
        return path
    with AudioWriter(path, 24_000, encoding=ENCODINGS[encoding], tags={"title": "你好"}) as writer:
        writer.write(samples)
    return path
