"""Sound inside m4a, mp4, webm and other containers, through PyAV.

Decided: an optional extra, imported on demand. Because: PyAV's wheel bundles GPL parts, and most
clips are WAV, FLAC, OGG or MP3. Instead of: a hard dependency.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from studio.audio.resampling import Samples
from studio.errors import UnreadableClip

MEDIA_SUFFIXES = frozenset(
    {".aac", ".ac3", ".amr", ".ape", ".m4a", ".m4b", ".mka", ".opus", ".wma"}
    | {".3gp", ".asf", ".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpg", ".ts", ".webm", ".wmv"}
)


def read_media_blocks(path: Path) -> Iterator[tuple[Samples, int]]:
    """Blocks of mono samples with their rate, from the first sound track. Raises ``UnreadableClip``."""
    try:
        import av  # noqa: PLC0415 -- an optional extra
    except ImportError as error:
        if path.suffix.lower() in MEDIA_SUFFIXES:
            raise UnreadableClip(
                "Reading {suffix} files such as {file} needs the media extra, which is not installed.",
                remedy='Install it with: pip install "timbre-studio[media]", or save the sound as WAV, FLAC or MP3.',
                suffix=path.suffix,
                file=path.name,
            ) from error
        raise not_a_sound_file(path) from error
    try:
        with av.open(str(path), metadata_errors="ignore") as container:
            if not container.streams.audio:
                raise UnreadableClip(
                    "{file} holds no sound.",
                    remedy="Choose a recording, or a film that has a sound track.",
                    file=path.name,
                )
            track = container.streams.audio[0]
            to_float = av.AudioResampler(format="fltp", layout=track.layout, rate=track.rate)
            for frame in container.decode(track):
                for converted in to_float.resample(frame):
                    yield converted.to_ndarray().mean(axis=0, dtype=np.float32), int(track.rate)
            for converted in to_float.resample(None):
                yield converted.to_ndarray().mean(axis=0, dtype=np.float32), int(track.rate)
    except av.error.FFmpegError as error:
        raise not_a_sound_file(path) from error


def not_a_sound_file(path: Path) -> UnreadableClip:
    return UnreadableClip(
        "{file} is not a sound file we can read: it is damaged, or of an unknown kind.",
        remedy="Save it as WAV, FLAC or MP3 and add it again.",
        file=path.name,
    )
