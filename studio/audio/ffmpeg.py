"""Sound inside m4a, mp4, webm and other containers, through the program ffmpeg where a person has it.

Decided: a process of its own that reads one file and no network, and is ended when it says nothing for long.
Because: the usual builds of FFmpeg are under the GPL, which a package that holds PyTorch (with a part of Intel's) cannot
be passed on under; and what a damaged film does to it, it does to itself. Instead of: taking its libraries along.
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
# Where programs are that a window started by macOS does not find on its path: Homebrew's and MacPorts' folders.
_MORE_FOLDERS = ("/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin")
# Of a sound file in the AU format, which can be written into a pipe: name, where the sound begins, size (unknown),
# encoding, samples a second, channels.
_HEAD = struct.Struct(">4sIIIII")
_FLOATS = 6
_MOST_CHANNELS = 64
_NO_TRACK = b"matches no streams"
# FFmpeg's names for what holds sound in itself. Without such a list it would also follow playlists, whatever their
# suffix, and what a stranger's "recording" names on this computer would become the sound of a voice.
CONTAINERS = (
    *("mov", "matroska", "webm", "ogg", "asf", "asf_o", "avi", "flv", "mpeg", "mpegts", "mxf", "rm", "nut", "wtv"),
    *("aac", "loas", "ac3", "eac3", "truehd", "dts", "dtshd", "amr", "amrnb", "amrwb", "gsm", "mp3", "mpc", "mpc8"),
    *("ape", "flac", "tak", "tta", "wv", "dsf", "aiff", "au", "caf", "voc", "w64", "wav", "spdif", "xwma", "oma"),
)
_NO_CONSOLE = 0
if sys.platform == "win32":  # which would open a terminal beside the window
    _NO_CONSOLE = subprocess.CREATE_NO_WINDOW


def find_ffmpeg() -> Path | None:
    """Only where programs are installed: Windows would also take one that lies in the current folder."""
    name = "ffmpeg.exe" if sys.platform == "win32" else "ffmpeg"
    more = _MORE_FOLDERS if sys.platform == "darwin" else ()
    for folder in (*os.environ.get("PATH", "").split(os.pathsep), *more):
        program = Path(folder, name)
        if program.is_absolute() and program.is_file() and os.access(program, os.X_OK):
            return program
    return None


def ffmpeg_version(program: Path) -> str | None:
    """None where it does not even tell that."""
    command = [str(program), "-hide_banner", "-version"]
    try:
        said = subprocess.run(  # noqa: S603 - without a shell
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SILENCE_SECONDS,
            check=True,
            creationflags=_NO_CONSOLE,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    words = said.stdout.decode(errors="replace").split()  # ffmpeg version 5.1.8-0+deb12u1 Copyright ...
    return words[2] if words[:2] == ["ffmpeg", "version"] and len(words) > 2 else None


def read_with_ffmpeg(program: Path, path: Path) -> Iterator[tuple[Samples, int]]:
    """Blocks of mono samples with their rate, from the first sound track. Raises ``UnreadableClip``, ``ClipTooLong``.

    The process ends with the last block, or when the iterator is closed before.
    """
    rest, rate, num_channels, num_samples = b"", 0, 0, 0
    for chunk in _written_by(program, path):
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
                "{file} lasts more than {longest:.0f} s.",
                remedy="Cut out the part that is needed and use that.",
                file=path.name,
                longest=_LONGEST_SECONDS,
            )
        yield sound.mean(axis=1, dtype=np.float32), rate
    if not num_channels:
        raise not_a_sound_file(path)


def not_a_sound_file(path: Path) -> UnreadableClip:
    return UnreadableClip(
        "{file} is not a sound file we can read: it is damaged, or of an unknown kind.",
        remedy="Save it as WAV, FLAC or MP3 and add it again.",
        file=path.name,
    )


def no_sound_track(path: Path) -> UnreadableClip:
    return UnreadableClip(
        "{file} holds no sound.", remedy="Choose a recording, or a film that has a sound track.", file=path.name
    )


def _written_by(program: Path, path: Path) -> Iterator[bytes]:
    """What ffmpeg makes of the file. Raises ``UnreadableClip`` when it fails, or writes nothing for long."""
    with tempfile.TemporaryFile() as complaints:
        process = _start(program, path, complaints)
        chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        is_over = threading.Event()
        # On a thread: a pipe cannot be waited at for a time on every system. It is never in the way of an ending program.
        threading.Thread(target=_pump, args=(process.stdout, chunks, is_over), daemon=True).start()
        try:
            while chunk := chunks.get(timeout=_SILENCE_SECONDS):
                yield chunk
            status = process.wait(timeout=_SILENCE_SECONDS)
        except (queue.Empty, subprocess.TimeoutExpired) as error:
            raise UnreadableClip(
                "ffmpeg, which reads {suffix} files for us, got stuck at {file}.",
                remedy="Save the sound as WAV, FLAC or MP3 and add it again.",
                suffix=path.suffix,
                file=path.name,
            ) from error
        finally:
            is_over.set()
            process.kill()
            process.wait()
        if status != 0:
            complaints.seek(0)
            raise no_sound_track(path) if _NO_TRACK in complaints.read(1 << 16) else not_a_sound_file(path)


def _start(program: Path, path: Path, complaints: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [str(program), "-hide_banner", "-nostdin", "-loglevel", "fatal", "-xerror"]
    command += ["-protocol_whitelist", "file", "-format_whitelist", ",".join(CONTAINERS)]
    command += ["-i", f"file:{path.absolute()}"]
    command += ["-map", "0:a:0", "-vn", "-sn", "-dn", "-map_metadata", "-1", "-c:a", "pcm_f32be", "-f", "au", "pipe:1"]
    try:
        return subprocess.Popen(  # noqa: S603 - without a shell
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints, creationflags=_NO_CONSOLE
        )
    except OSError as error:
        raise UnreadableClip(
            "The program ffmpeg, which reads {suffix} files for us, does not start ({reason}).",
            remedy="Install it again, or save the sound as WAV, FLAC or MP3.",
            suffix=path.suffix,
            reason=error.strerror or type(error).__name__,
        ) from error


def _pump(pipe: IO[bytes], chunks: queue.SimpleQueue[bytes], is_over: threading.Event) -> None:
    """An empty chunk is the end. Closing the pipe ends whoever still writes into it."""
    with pipe:
        while not is_over.is_set():
            chunk = pipe.read(_CHUNK_BYTES)
            chunks.put(chunk)
            if not chunk:
                return
