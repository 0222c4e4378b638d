"""Decoding of m4a, mp4, webm and other containers: with PyAV if it is installed, else with the ffmpeg program.

Decision: PyAV is an optional extra, imported on demand. Reason: its wheel bundles GPL parts, and most clips are
WAV, FLAC, OGG or MP3. Alternative: a hard dependency. The packaged app does not include it and uses ffmpeg.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from studio.audio.ffmpeg import CONTAINERS, find_ffmpeg, no_sound_track, not_a_sound_file, read_with_ffmpeg
from studio.audio.resampling import Samples
from studio.errors import UnreadableClip
from studio.system.installation import how_to_read_media

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame

MEDIA_SUFFIXES = frozenset(
    {".aac", ".ac3", ".amr", ".ape", ".m4a", ".m4b", ".mka", ".opus", ".wma"}
    | {".3gp", ".asf", ".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpg", ".ts", ".webm", ".wmv"}
)


def read_media_blocks(path: Path) -> Iterator[tuple[Samples, int]]:
    """Yield mono samples and their sample rate, from the first audio track.

    Raises ``UnreadableClip``, ``ClipTooLong``.
    """
    try:
        import av  # noqa: F401, PLC0415 -- an optional extra
    except ImportError as error:
        program = find_ffmpeg()
        if program is not None:
            yield from read_with_ffmpeg(program, path)
            return
        if path.suffix.lower() in MEDIA_SUFFIXES:
            raise UnreadableClip(
                "Reading {suffix} files such as {file} needs ffmpeg, which is not installed.",
                remedy="{how} Or save the audio as WAV, FLAC or MP3.",
                suffix=path.suffix,
                file=path.name,
                how=how_to_read_media(),
            ) from error
        raise not_a_sound_file(path) from error
    yield from _read_with_pyav(path)


def _read_with_pyav(path: Path) -> Iterator[tuple[Samples, int]]:
    import av  # noqa: PLC0415 -- an optional extra

    only_this_file = {"protocol_whitelist": "file", "format_whitelist": ",".join(CONTAINERS)}
    # Titles may be in any encoding. PyAV 19 accepts them all and no longer has the option.
    lenient: dict[str, Any] = {"metadata_errors": "ignore"} if int(av.__version__.partition(".")[0]) < 19 else {}
    try:
        with av.open(f"file:{path.absolute()}", options=only_this_file, **lenient) as container:
            if not container.streams.audio:
                raise no_sound_track(path)
            track = container.streams.audio[0]
            if track.codec_context is None:  # a codec FFmpeg cannot decode, usually copy-protected audio
                raise not_a_sound_file(path)
            rate = int(track.rate)
            for frame in _as_floats(container.decode(track), rate):
                yield frame.to_ndarray().mean(axis=0, dtype=np.float32), rate
    except av.error.FFmpegError as error:
        raise not_a_sound_file(path) from error


def _as_floats(frames: Iterator[AudioFrame], rate: int) -> Iterator[AudioFrame]:
    """Convert to float at one sample rate; broadcasts change between stereo and surround mid-stream."""
    import av  # noqa: PLC0415 -- an optional extra

    to_float, setup = None, None
    for frame in frames:
        found = (frame.format.name, frame.layout.name, frame.sample_rate)
        if to_float is None or found != setup:
            if to_float is not None:
                yield from to_float.resample(None)
            to_float, setup = av.AudioResampler(format="fltp", layout=frame.layout, rate=rate), found
        yield from to_float.resample(frame)
    if to_float is not None:
        yield from to_float.resample(None)
