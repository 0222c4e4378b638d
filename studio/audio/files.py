"""Sound files: any clip a person has, read as mono; speech written as it is made."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import numpy as np
import soundfile

from studio.audio.media import read_media_blocks
from studio.audio.resampling import Samples
from studio.audio.waveform import Waveform
from studio.errors import BrokenClip, CannotWrite, ClipTooLong, DiskFull, StudioError, UnreadableClip

_BLOCK_FRAMES = 1 << 18
# A recorder that could not go back to its header leaves one of these where the length belongs.
_UNKNOWN_DATA_SIZES = (0, 0x7FFFFFFF, 0xFFFFFFFF)
_LARGEST_MISSING_SHARE = 0.01


def read_audio(path: Path, *, longest_seconds: float | None = None) -> Waveform:
    """The sound of a file as mono (mean of its channels), at the file's own sample rate.

    WAV, FLAC, OGG and MP3 always; m4a, mp4, webm and more with the ``media`` extra. Raises
    ``UnreadableClip`` (missing, a folder, damaged, truncated, without sound), ``BrokenClip`` (not
    numbers) and ``ClipTooLong`` (beyond ``longest_seconds``, as soon as that is known).
    """
    _require_file(path)
    blocks: list[Samples] = []
    num_samples = 0
    sample_rate = 0
    for block, rate in _read_blocks(path):
        sample_rate = rate
        num_samples += len(block)
        blocks.append(block)
        if longest_seconds is not None and num_samples > longest_seconds * rate:
            raise ClipTooLong(
                f"{path.name} lasts more than {longest_seconds:.0f} s.",
                remedy="Cut out the part that is needed and use that.",
            )
    if num_samples == 0:
        raise UnreadableClip(f"{path.name} is empty: it holds no sound.", remedy="Record or save it again.")
    samples = np.concatenate(blocks)
    if not np.isfinite(samples).all():
        raise BrokenClip(
            f"{path.name} holds numbers that are not sound (NaN or infinity).",
            remedy="The program that wrote it failed: export it again, as 16-bit WAV for example.",
        )
    return Waveform(samples, sample_rate)


def _require_file(path: Path) -> None:
    if path.is_file():
        return
    if path.is_dir():
        raise UnreadableClip(f"{path} is a folder, not a sound file.", remedy="Name one of the files in it.")
    if path.exists():
        raise UnreadableClip(f"{path} is not an ordinary file.", remedy="Save the sound to a file and use that.")
    raise UnreadableClip(f"There is no file {path}.", remedy="Check the spelling of its name and folder.")


def _read_blocks(path: Path) -> Iterator[tuple[Samples, int]]:
    try:
        file = soundfile.SoundFile(path)
    except soundfile.LibsndfileError:
        yield from read_media_blocks(path)
        return
    with file:
        if file.format == "WAV" and _is_cut_short(path):
            raise _truncated(path)
        try:
            while len(block := file.read(_BLOCK_FRAMES, dtype="float32", always_2d=True)):
                yield block.mean(axis=1, dtype=np.float32), file.samplerate
        except soundfile.LibsndfileError as error:
            raise _truncated(path) from error


def _is_cut_short(path: Path) -> bool:
    """Whether a WAV file ends long before its header says; libsndfile reads such files without a word."""
    file_size = path.stat().st_size
    with path.open("rb") as file:
        position = len(file.read(12))
        while len(header := file.read(8)) == 8:
            position += 8
            chunk_size = int.from_bytes(header[4:], "little")
            if header[:4] == b"data":
                missing = position + chunk_size - file_size
                return chunk_size not in _UNKNOWN_DATA_SIZES and missing > _LARGEST_MISSING_SHARE * chunk_size
            position = file.seek(position + chunk_size + chunk_size % 2)
    return False


def _truncated(path: Path) -> UnreadableClip:
    return UnreadableClip(
        f"{path.name} is truncated or damaged: it ends before it should.", remedy="Copy or download it again."
    )


_FORMATS = {
    ".wav": ("WAV", "PCM_16"),
    ".flac": ("FLAC", "PCM_16"),
    ".ogg": ("OGG", "VORBIS"),
    ".mp3": ("MP3", "MPEG_LAYER_III"),
}


class WavWriter:
    """A mono sound file that grows as speech is made, and appears under its name only when complete.

    The format follows the suffix: .wav, .flac, .ogg or .mp3. As a context manager it closes the file,
    or discards it after an exception. All methods raise ``DiskFull`` and ``CannotWrite``.
    """

    def __init__(self, path: Path, sample_rate: int, *, is_float: bool = False) -> None:
        """``is_float`` keeps 32-bit floats instead of 16-bit integers; WAV only."""
        self._path = path.resolve()  # through a link, not in its place
        self._part = self._path.with_name(f".timbre-{secrets.token_hex(6)}.part")
        file_format, subtype = self._format(is_float)
        self._require_place()
        self._clips = not is_float
        try:
            self._file = _WatchedFile(self._part, "xb")
        except OSError as error:
            raise self._sentence(error) from error
        try:
            self._sound = soundfile.SoundFile(self._file, "w", sample_rate, 1, subtype, format=file_format)
        except soundfile.LibsndfileError as error:
            self._throw_away()
            raise CannotWrite(
                f"A {path.suffix} file cannot hold sound of {sample_rate} Hz.", remedy="Write a .wav file."
            ) from error

    def write(self, samples: Samples) -> None:
        """Appends ``samples`` (n,) in -1..1; what lies beyond is clipped, not wrapped."""
        with self._reporting():
            self._sound.write(np.clip(samples, -1.0, 1.0) if self._clips else samples)

    def close(self) -> None:
        """Completes the file and puts it under its name, in place of one that was there."""
        if self._file.closed:
            return
        with self._reporting():
            self._sound.close()
            self._file.close()
        with self._reporting():
            self._part.replace(self._path)

    def discard(self) -> None:
        """Leaves nothing behind; what was under the name before stays."""
        if not self._file.closed:
            self._throw_away()

    def __enter__(self) -> WavWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def _format(self, is_float: bool) -> tuple[str, str]:
        suffix = self._path.suffix.lower()
        if suffix not in _FORMATS:
            raise CannotWrite(
                f"We cannot write {self._path.suffix or 'a file without a suffix'} ({self._path.name}).",
                remedy=f"Choose a name that ends in one of {', '.join(_FORMATS)}.",
            )
        file_format, subtype = _FORMATS[suffix]
        assert file_format == "WAV" or not is_float
        return file_format, "FLOAT" if is_float else subtype

    def _require_place(self) -> None:
        if self._path.exists() and not self._path.is_file():
            raise CannotWrite(f"{self._path} is not an ordinary file.", remedy="Choose another name.")
        if self._path.exists() and not os.access(self._path, os.W_OK):
            raise CannotWrite(f"{self._path} is write-protected.", remedy="Choose another name.")
        if not self._path.parent.is_dir():
            raise CannotWrite(f"There is no folder {self._path.parent}.", remedy="Make it, or choose another.")

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        """libsndfile knows only that a write failed; the reason is what the file saw."""
        try:
            yield
            failure = self._file.failure
        except (soundfile.SoundFileError, AssertionError, OSError) as error:
            failure = self._file.failure or (error if isinstance(error, OSError) else None)
            if failure is None:
                self._throw_away()
                raise
        if failure is not None:
            self._throw_away()
            raise self._sentence(failure) from failure

    def _throw_away(self) -> None:
        self._file.is_abandoned = True
        with contextlib.suppress(soundfile.SoundFileError, AttributeError):
            self._sound.close()
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            self._part.unlink()

    def _sentence(self, error: OSError) -> StudioError:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return DiskFull(
                f"The disk is full: {self._path.name} could not be completed.", remedy="Free some space and try again."
            )
        return CannotWrite(
            f"{self._path} cannot be written ({error.strerror or error}).", remedy="Choose another folder."
        )


class _WatchedFile(io.FileIO):
    """A file that remembers why a write failed: libsndfile swallows what its callbacks raise."""

    failure: OSError | None = None
    is_abandoned: bool = False

    def write(self, data: bytes) -> int:  # type: ignore[override]
        if self.is_abandoned:
            return len(data)
        try:
            num_written = super().write(data)
            while num_written < len(data):
                num_written += super().write(data[num_written:])
        except OSError as error:
            self.failure = self.failure or error
            return 0
        return num_written
