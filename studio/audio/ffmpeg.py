"""Decoding of m4a, mp4, webm and other containers with the ffmpeg program, if it is installed.

Decision: run ffmpeg as a separate process that reads one local file and is killed when it stalls. Reason: the
usual builds of FFmpeg are under the GPL, and a package that contains PyTorch (with Intel's MKL) cannot be
distributed under it; a crash on a damaged file stays in that process. Alternative: bundle FFmpeg's libraries.
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
from typing import IO

import numpy as np

from studio.audio.resampling import Samples
from studio.errors import ClipTooLong, UnreadableClip

_SILENCE_SECONDS = 30.0
_LONGEST_SECONDS = 4 * 3600
_CHUNK_BYTES = 1 << 18
# Homebrew and MacPorts folders: an app started from the macOS desktop does not have them on its PATH.
_MORE_FOLDERS = ("/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin")
# Header of the AU format, which ffmpeg can write to a pipe: magic, data offset, size (unknown), encoding, sample
# rate, channels.
_HEAD = struct.Struct(">4sIIIII")
_FLOATS = 6
_MOST_CHANNELS = 64
_NO_TRACK = b"matches no streams"
# FFmpeg's names of formats that contain the audio themselves. Without this list ffmpeg also follows playlists,
# with any suffix, so an untrusted file could read other files of this computer.
CONTAINERS = (
    *("mov", "matroska", "webm", "ogg", "asf", "asf_o", "avi", "flv", "mpeg", "mpegts", "mxf", "rm", "nut", "wtv"),
    *("aac", "loas", "ac3", "eac3", "truehd", "dts", "dtshd", "amr", "amrnb", "amrwb", "gsm", "mp3", "mpc", "mpc8"),
    *("ape", "flac", "tak", "tta", "wv", "dsf", "aiff", "au", "caf", "voc", "w64", "wav", "spdif", "xwma", "oma"),
)
_NO_CONSOLE = 0
if sys.platform == "win32":  # a console program would open a terminal window
    _NO_CONSOLE = subprocess.CREATE_NO_WINDOW


def find_ffmpeg() -> Path | None:
    """Return the path of ffmpeg; never from the current folder, which Windows would search too."""
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
            creationflags=_NO_CONSOLE,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    words = finished.stdout.decode(errors="replace").split()  # ffmpeg version 5.1.8-0+deb12u1 Copyright ...
    return words[2] if words[:2] == ["ffmpeg", "version"] and len(words) > 2 else None


def read_with_ffmpeg(program: Path, path: Path) -> Iterator[tuple[Samples, int]]:
    """Yield mono samples and their sample rate, from the first audio track.

    The process ends with the last block, or when the iterator is closed. Raises ``UnreadableClip``, ``ClipTooLong``.
    """
    rest, rate, num_channels, num_samples = b"", 0, 0, 0
    for chunk in _read_output(program, path):
        rest += chunk
        if not num_channels:
            if len(rest) < _HEAD.size or len(rest) < _HEAD.unpack_from(rest)[1]:
                continue
            name, start, _, encoding, rate, num_channels = _HEAD.unpack_from(rest)
            if (name, encoding) != (b".snd", _FLOATS) or not 0 < num_channels <= _MOST_CHANNELS or not rate:
                raise not_a_sound_file(path)
            rest = rest[start:]
        num_whole = len(rest) // (4 * num_channels)
        sound = np.frombuffer(rest, ">f4", num_whole * num_channels).reshape(num_whole, num_channels)
        rest = rest[4 * num_channels * num_whole :]
        num_samples += num_whole
        if num_samples > _LONGEST_SECONDS * rate:
            raise ClipTooLong(
                "{file} is longer than {longest:.0f} s.",
                remedy="Cut out the part you need and use that.",
                file=path.name,
                longest=_LONGEST_SECONDS,
            )
        yield sound.mean(axis=1, dtype=np.float32), rate
    if not num_channels:
        raise not_a_sound_file(path)


def not_a_sound_file(path: Path) -> UnreadableClip:
    return UnreadableClip(
        "{file} is not a readable audio file: it is damaged, or its format is unknown.",
        remedy="Save it as WAV, FLAC or MP3 and add it again.",
        file=path.name,
    )


def no_sound_track(path: Path) -> UnreadableClip:
    return UnreadableClip(
        "{file} contains no audio.", remedy="Choose a recording, or a video with an audio track.", file=path.name
    )


def _read_output(program: Path, path: Path) -> Iterator[bytes]:
    """Yield what ffmpeg writes. Raises ``UnreadableClip`` when it fails or stalls."""
    with tempfile.TemporaryFile() as errors:
        process = _start(program, path, errors)
        chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        is_over = threading.Event()
        # On a daemon thread: reading a pipe with a timeout is not possible on every system.
        threading.Thread(target=_pump, args=(process.stdout, chunks, is_over), daemon=True).start()
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
            raise no_sound_track(path) if _NO_TRACK in errors.read(1 << 16) else not_a_sound_file(path)


def _start(program: Path, path: Path, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [str(program), "-hide_banner", "-nostdin", "-loglevel", "fatal", "-xerror"]
    command += ["-protocol_whitelist", "file", "-format_whitelist", ",".join(CONTAINERS)]
    command += ["-i", f"file:{path.absolute()}"]
    command += ["-map", "0:a:0", "-vn", "-sn", "-dn", "-map_metadata", "-1", "-c:a", "pcm_f32be", "-f", "au", "pipe:1"]
    try:
        return subprocess.Popen(  # noqa: S603 - without a shell
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, creationflags=_NO_CONSOLE
        )
    except OSError as error:
        raise UnreadableClip(
            "ffmpeg, which reads {suffix} files, does not start ({reason}).",
            remedy="Install it again, or save the audio as WAV, FLAC or MP3.",
            suffix=path.suffix,
            reason=error.strerror or type(error).__name__,
        ) from error


def _pump(pipe: IO[bytes], chunks: queue.SimpleQueue[bytes], is_over: threading.Event) -> None:
    """Copy the pipe to ``chunks``; an empty chunk marks the end. Closing the pipe ends a process that still writes."""
    with pipe:
        while not is_over.is_set():
            chunk = pipe.read(_CHUNK_BYTES)
            chunks.put(chunk)
            if not chunk:
                return
