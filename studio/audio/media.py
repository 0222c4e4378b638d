"""Decoding of m4a, mp4, webm and other containers: with PyAV if it is installed, else with the ffmpeg program.

Decision: PyAV is an optional extra, imported on demand. Reason: its wheel bundles GPL parts, and most clips are
WAV, FLAC, OGG or MP3. Alternative: a hard dependency. The packaged app does not include it and uses ffmpeg.

Decision: ffmpeg runs as a separate process that reads one local file and is killed if it stalls. Reason: the usual
builds of FFmpeg are under the GPL, and a package that contains PyTorch (with Intel's MKL) cannot be distributed under
it; a crash on a damaged file stays in that process. Alternative: bundle FFmpeg's libraries.
"""

from __future__ import annotations

import os
import queue
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from studio.audio.resampling import Samples
from studio.errors import ClipTooLong, UnreadableClip
from studio.system.installation import media_hint

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame

MEDIA_SUFFIXES = frozenset(
    {".aac", ".ac3", ".amr", ".ape", ".m4a", ".m4b", ".mka", ".opus", ".wma"}
    | {".3gp", ".asf", ".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpg", ".ts", ".webm", ".wmv"}
)
_SILENCE_SECONDS = 30.0  # time without output before ffmpeg counts as stalled
_MAX_SECONDS = 4 * 3600
_CHUNK_BYTES = 1 << 18
# Folders of Homebrew and MacPorts, which are not on the PATH of an app started from the macOS desktop.
_MORE_FOLDERS = ("/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin")
# Header of the AU format, which ffmpeg can write to a pipe: magic number, offset of the data, size (unknown),
# encoding, sample rate, number of channels.
_AU_HEADER = struct.Struct(">4sIIIII")
_AU_FLOAT = 6
_MAX_CHANNELS = 64
_NO_TRACK = b"matches no streams"
# FFmpeg's names of the formats that contain audio. Without this list, ffmpeg also follows playlists, whatever their
# suffix, so an untrusted file could make it read other files on this computer.
_CONTAINERS = (
    *("mov", "matroska", "webm", "ogg", "asf", "asf_o", "avi", "flv", "mpeg", "mpegts", "mxf", "rm", "nut", "wtv"),
    *("aac", "loas", "ac3", "eac3", "truehd", "dts", "dtshd", "amr", "amrnb", "amrwb", "gsm", "mp3", "mpc", "mpc8"),
    *("ape", "flac", "tak", "tta", "wv", "dsf", "aiff", "au", "caf", "voc", "w64", "wav", "spdif", "xwma", "oma"),
)
NO_CONSOLE = 0
if sys.platform == "win32":  # a console program would open a terminal window
    NO_CONSOLE = subprocess.CREATE_NO_WINDOW


def read_media_blocks(path: Path) -> Iterator[tuple[Samples, int]]:
    """Yield mono samples and their sample rate, from the first audio track.

    Raise ``UnreadableClip``, ``ClipTooLong``.
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
                how=media_hint(),
            ) from error
        raise _not_a_sound_file(path) from error
    yield from _read_with_pyav(path)


def _read_with_pyav(path: Path) -> Iterator[tuple[Samples, int]]:
    import av  # noqa: PLC0415 -- an optional extra

    only_this_file = {"protocol_whitelist": "file", "format_whitelist": ",".join(_CONTAINERS)}
    # Titles may be in any encoding. PyAV 19 accepts them all and no longer has the option.
    lenient: dict[str, Any] = {"metadata_errors": "ignore"} if int(av.__version__.partition(".")[0]) < 19 else {}
    try:
        with av.open(f"file:{path.absolute()}", options=only_this_file, **lenient) as container:
            if not container.streams.audio:
                raise _no_sound_track(path)
            track = container.streams.audio[0]
            if track.codec_context is None:  # a codec FFmpeg cannot decode, usually copy-protected audio
                raise _not_a_sound_file(path)
            rate = int(track.rate)
            for frame in _as_floats(container.decode(track), rate):
                yield frame.to_ndarray().mean(axis=0, dtype=np.float32), rate
    except av.error.FFmpegError as error:
        raise _not_a_sound_file(path) from error


def _as_floats(frames: Iterator[AudioFrame], rate: int) -> Iterator[AudioFrame]:
    """Convert to float at one sample rate. Broadcasts change between stereo and surround in mid-stream."""
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


def find_ffmpeg() -> Path | None:
    """Return the path of ffmpeg. The current folder, which Windows would search too, is skipped."""
    name = "ffmpeg.exe" if sys.platform == "win32" else "ffmpeg"
    more = _MORE_FOLDERS if sys.platform == "darwin" else ()
    for folder in (*os.environ.get("PATH", "").split(os.pathsep), *more):
        program = Path(folder, name)
        if program.is_absolute() and program.is_file() and os.access(program, os.X_OK):
            return program
    return None


def ffmpeg_version(program: Path) -> str | None:
    """Return the version, or None if the program does not run."""
    command = [str(program), "-hide_banner", "-version"]
    try:
        finished = subprocess.run(  # noqa: S603 - without a shell
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SILENCE_SECONDS,
            check=True,
            creationflags=NO_CONSOLE,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    words = finished.stdout.decode(errors="replace").split()  # ffmpeg version 5.1.8-0+deb12u1 Copyright ...
    return words[2] if words[:2] == ["ffmpeg", "version"] and len(words) > 2 else None


def read_with_ffmpeg(program: Path, path: Path) -> Iterator[tuple[Samples, int]]:
    """Yield mono samples and their sample rate, from the first audio track.

    The process ends with the last block, or when the iterator is closed. Raise ``UnreadableClip``, ``ClipTooLong``.
    """
    rest, rate, num_channels, num_samples = b"", 0, 0, 0
    for chunk in _read_output(program, path):
        rest += chunk
        if not num_channels:
            if len(rest) < _AU_HEADER.size or len(rest) < _AU_HEADER.unpack_from(rest)[1]:
                continue
            name, start, _, encoding, rate, num_channels = _AU_HEADER.unpack_from(rest)
            if (name, encoding) != (b".snd", _AU_FLOAT) or not 0 < num_channels <= _MAX_CHANNELS or not rate:
                raise _not_a_sound_file(path)
            rest = rest[start:]
        num_whole = len(rest) // (4 * num_channels)
        sound = np.frombuffer(rest, ">f4", num_whole * num_channels).reshape(num_whole, num_channels)
        rest = rest[4 * num_channels * num_whole :]
        num_samples += num_whole
        if num_samples > _MAX_SECONDS * rate:
            raise clip_too_long(path, _MAX_SECONDS)
        yield sound.mean(axis=1, dtype=np.float32), rate
    if not num_channels:
        raise _not_a_sound_file(path)


def clip_too_long(path: Path, longest_seconds: float) -> ClipTooLong:
    return ClipTooLong(
        "{file} is longer than {longest:.0f} s.",
        remedy="Cut out the part you need and use that.",
        file=path.name,
        longest=longest_seconds,
    )


def _not_a_sound_file(path: Path) -> UnreadableClip:
    return UnreadableClip(
        "{file} is not a readable audio file: it is damaged, or its format is unknown.",
        remedy="Save it as WAV, FLAC or MP3 and add it again.",
        file=path.name,
    )


def _no_sound_track(path: Path) -> UnreadableClip:
    return UnreadableClip(
        "{file} contains no audio.", remedy="Choose a recording, or a video with an audio track.", file=path.name
    )


def _read_output(program: Path, path: Path) -> Iterator[bytes]:
    """Yield the output of ffmpeg. Raise ``UnreadableClip`` when it fails or stalls."""
    with tempfile.TemporaryFile() as errors:
        process = _start(program, path, errors)
        chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        is_over = threading.Event()
        # A daemon thread reads the pipe, because not every system can read one with a timeout.
        threading.Thread(target=_copy_output, args=(process.stdout, chunks, is_over), daemon=True).start()
        try:
            while chunk := chunks.get(timeout=_SILENCE_SECONDS):
                yield chunk
            status = process.wait(timeout=_SILENCE_SECONDS)
        except (queue.Empty, subprocess.TimeoutExpired) as error:
            raise UnreadableClip(
                "ffmpeg, which reads {suffix} files, stopped responding while reading {file}.",
                remedy="Save the audio as WAV, FLAC or MP3 and add it again.",
                suffix=path.suffix,
                file=path.name,
            ) from error
        finally:
            is_over.set()
            process.kill()
            process.wait()
        if status != 0:
            errors.seek(0)
            raise _no_sound_track(path) if _NO_TRACK in errors.read(1 << 16) else _not_a_sound_file(path)


def _start(program: Path, path: Path, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [str(program), "-hide_banner", "-nostdin", "-loglevel", "fatal", "-xerror"]
    command += ["-protocol_whitelist", "file", "-format_whitelist", ",".join(_CONTAINERS)]
    command += ["-i", f"file:{path.absolute()}"]
    command += ["-map", "0:a:0", "-vn", "-sn", "-dn", "-map_metadata", "-1", "-c:a", "pcm_f32be", "-f", "au", "pipe:1"]
    try:
        return subprocess.Popen(  # noqa: S603 - without a shell
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, creationflags=NO_CONSOLE
        )
    except OSError as error:
        raise UnreadableClip(
            "ffmpeg, which reads {suffix} files, does not start ({reason}).",
            remedy="Install it again, or save the audio as WAV, FLAC or MP3.",
            suffix=path.suffix,
            reason=error.strerror or type(error).__name__,
        ) from error


def _copy_output(pipe: IO[bytes], chunks: queue.SimpleQueue[bytes], is_over: threading.Event) -> None:
    """Copy the pipe to ``chunks``; an empty chunk marks the end. Closing the pipe ends a process that is still writing."""
    with pipe:
        while not is_over.is_set():
            chunk = pipe.read(_CHUNK_BYTES)
            chunks.put(chunk)
            if not chunk:
                return
