"""Reading audio files as mono, and writing speech while it is synthesised."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO, FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import soundfile

from studio.audio.encoding import FLAC_16, MP3, OGG_VORBIS, WAV_16, SoundEncoding, id3_tag
from studio.audio.media import clip_too_long, read_media_blocks
from studio.audio.resampling import Samples, resample_blocks
from studio.audio.waveform import Waveform
from studio.errors import BrokenClip, CannotWrite, StudioError, UnreadableClip
from studio.messages import message
from studio.storage.atomic_file import commit, new_part
from studio.storage.disk import write_error

# The highest rate of common recorders. Files with a higher rate are resampled while they are read.
MAX_SAMPLE_RATE = 192_000
_IMPOSSIBLE_RATE = 10_000_000
_BLOCK_VALUES = 1 << 19  # number of samples of all channels
_MAX_CHANNELS = 64
_MAX_SAMPLES = 1 << 29  # 2 GB of mono samples, three hours at 48 kHz
# Lengths in headers written by recorders that could not seek back to write the real length.
_UNKNOWN_DATA_SIZES = (0, 0x7FFFFFFF, 0xFFFFFFFF)
_MAX_MISSING_SHARE = 0.01


def read_audio(path: Path, *, longest_seconds: float | None = None, highest_rate: int = MAX_SAMPLE_RATE) -> Waveform:
    """Read a file as mono (mean of the channels), at its own sample rate or at most ``highest_rate``.

    The file is decoded in blocks, so that memory holds only the mono samples. WAV, FLAC, OGG and MP3 are always
    supported; m4a, mp4, webm and more with the ``media`` extra or ffmpeg.

    Raise ``UnreadableClip`` if the file is missing, a folder, damaged, truncated, without audio, or has an impossible
    sample rate; ``BrokenClip`` if it contains NaN or infinity; ``ClipTooLong`` if it is longer than ``longest_seconds``
    or has more samples than fit in memory.
    """
    _require_file(path)
    blocks: list[Samples] = []
    num_samples = 0
    sample_rate = 0
    for block, rate in _limit_rate(_finite_blocks(path, longest_seconds), highest_rate):
        sample_rate = rate
        num_samples += len(block)
        blocks.append(block)
        if num_samples > _MAX_SAMPLES:
            raise clip_too_long(path, _MAX_SAMPLES / rate)
    if num_samples == 0:
        raise UnreadableClip("{file} contains no audio.", remedy="Record or save it again.", file=path.name)
    return Waveform(np.concatenate(blocks), sample_rate)


def read_audio_blocks(path: Path) -> Iterator[tuple[Samples, int]]:
    """Yield blocks of mono samples and the sample rate, of files of any length. Raises the errors of ``read_audio``."""
    _require_file(path)
    yield from _finite_blocks(path, None)


def _finite_blocks(path: Path, longest_seconds: float | None) -> Iterator[tuple[Samples, int]]:
    num_samples = 0
    for block, rate in _read_blocks(path):
        if not 0 < rate <= _IMPOSSIBLE_RATE:
            raise UnreadableClip(
                "{file} has an invalid sample rate of {rate} Hz.",
                remedy="Save it again at 48000 Hz.",
                file=path.name,
                rate=rate,
            )
        num_samples += len(block)
        if longest_seconds is not None and num_samples > longest_seconds * rate:
            raise clip_too_long(path, longest_seconds)
        if not np.isfinite(block).all():
            raise BrokenClip(
                "{file} contains invalid samples (NaN or infinity).",
                remedy="Export it again, for example as 16-bit WAV.",
                file=path.name,
            )
        yield block, rate


def _limit_rate(blocks: Iterator[tuple[Samples, int]], highest_rate: int) -> Iterator[tuple[Samples, int]]:
    first = next(blocks, None)
    if first is None:
        return
    _, rate = first
    all_blocks = itertools.chain([first], blocks)
    if rate <= highest_rate:
        yield from all_blocks
        return
    for block in resample_blocks((block for block, _ in all_blocks), rate, highest_rate):
        yield block, highest_rate


def _require_file(path: Path) -> None:
    try:
        is_file, is_folder, exists = path.is_file(), path.is_dir(), path.exists()
    except OSError as error:  # no permission for a parent folder, or the name is too long
        raise UnreadableClip(
            "{path} cannot be opened ({reason}).",
            remedy="Check the name and the permissions of the file.",
            path=path,
            reason=error,
        ) from error
    if is_folder:
        raise UnreadableClip(
            "{path} is a folder, not an audio file.", remedy="Choose one of the files in it.", path=path
        )
    if not exists:
        raise UnreadableClip("There is no file {path}.", remedy="Check the spelling of its name and folder.", path=path)
    if not is_file:
        raise UnreadableClip(
            "{path} is not an ordinary file.", remedy="Save the audio to a file and use that.", path=path
        )
    if not os.access(path, os.R_OK):
        raise UnreadableClip(
            "No permission to read {path}.", remedy="Change the permissions of the file, or copy it.", path=path
        )


def _read_blocks(path: Path) -> Iterator[tuple[Samples, int]]:
    try:
        file = soundfile.SoundFile(path)
    except soundfile.LibsndfileError:
        yield from read_media_blocks(path)
        return
    with file:
        if file.format == "WAV" and _is_cut_short(path):
            raise _truncated(path)
        if file.channels > _MAX_CHANNELS:
            raise UnreadableClip(
                "{file} has {channels} channels.",
                remedy="Save it again with one or two channels.",
                file=path.name,
                channels=file.channels,
            )
        block_frames = _BLOCK_VALUES // file.channels
        try:
            while len(block := file.read(block_frames, dtype="float32", always_2d=True)):
                yield block.mean(axis=1, dtype=np.float32), file.samplerate
        except soundfile.LibsndfileError as error:
            raise _truncated(path) from error


def _is_cut_short(path: Path) -> bool:
    """Return whether a WAV file is much shorter than its header states, which libsndfile does not report."""
    file_size = path.stat().st_size
    with path.open("rb") as file:
        position = len(file.read(12))
        while len(header := file.read(8)) == 8:
            position += 8
            chunk_size = int.from_bytes(header[4:], "little")
            if header[:4] == b"data":
                missing = position + chunk_size - file_size
                return chunk_size not in _UNKNOWN_DATA_SIZES and missing > _MAX_MISSING_SHARE * chunk_size
            position = file.seek(position + chunk_size + chunk_size % 2)
    return False


def _truncated(path: Path) -> UnreadableClip:
    return UnreadableClip("{file} is truncated or damaged.", remedy="Copy or download it again.", file=path.name)


def read_tags(path: Path) -> dict[str, str]:
    """Return the tags of a file by libsndfile's names, or nothing if it is in another format."""
    try:
        with soundfile.SoundFile(path) as file:
            tags: dict[str, str] = file.copy_metadata()
            return tags
    except soundfile.SoundFileError:
        return {}


_LIBSNDFILE_TAGS = frozenset({"title", "artist", "comment", "software", "album", "license", "tracknumber"})
_ENCODING_OF_SUFFIX = {each.suffix: each for each in (WAV_16, FLAC_16, OGG_VORBIS, MP3)}


class AudioWriter:
    """Writer of a mono audio file that appears under its name only when it is complete.

    The suffix selects the format: .wav, .flac, .ogg or .mp3. On leaving a ``with`` block the file is closed, or
    discarded if the block raised. All methods raise ``DiskFull`` and ``CannotWrite``.
    """

    def __init__(
        self,
        path: Path,
        sample_rate: int,
        *,
        encoding: SoundEncoding | None = None,
        tags: Mapping[str, str] | None = None,
        process: Callable[[Samples], Samples] | None = None,
    ) -> None:
        """Create the file. ``process`` changes the samples that are written, which arrive in pieces.

        ``encoding`` overrides the suffix. ``tags`` have libsndfile's names (title, artist, comment ...); a format omits the tags that it does not support.
        """
        self._path = path.resolve()  # write to the target of a link instead of replacing the link
        self._part = new_part(self._path.parent)
        encoding = encoding or self._encoding_of_suffix()
        self._clips = not encoding.is_float
        tags = tags or {}
        preface = id3_tag(tags) if encoding.file_format == "MP3" else b""
        try:
            self._require_place()
            self._file = _ErrorTrackingFile(self._part, preface)
        except OSError as error:
            raise self._disk_error(error) from error
        self._process = process
        self._is_open = True
        self._is_finished = False
        try:
            self._sound = open_encoder(self._file, encoding, sample_rate)
            for name in _LIBSNDFILE_TAGS & tags.keys() if not preface else ():
                setattr(self._sound, name, tags[name])
        except soundfile.LibsndfileError as error:
            self._discard_part()
            if self._file.failure is not None:
                raise self._disk_error(self._file.failure) from error
            raise CannotWrite(
                "A {suffix} file does not support a sample rate of {sample_rate} Hz.",
                remedy="Write a .wav file.",
                suffix=path.suffix,
                sample_rate=sample_rate,
            ) from error

    def write(self, samples: Samples) -> None:
        """Append ``samples`` of shape (n,) in -1..1. Integer formats clip at full scale."""
        if self._process is not None:
            samples = self._process(samples)
        with self._reporting():
            self._sound.write(np.clip(samples, -1.0, 1.0) if self._clips else samples)

    def finish(self, seal: Callable[[Path], None] | None = None) -> os.stat_result:
        """Complete the part file and return its size and time, which :meth:`close` does not change.

        ``seal`` is called with the path of the complete part file, which it may change.
        """
        with self._reporting():
            self._sound.close()
            self._file.close()
        with self._reporting():
            self._is_finished = True
            if seal is not None:
                seal(self._part)
            return self._part.stat()

    def close(self) -> None:
        """Complete the file and rename it to its final name, replacing an existing file."""
        if not self._is_open:
            return
        if not self._is_finished:
            self.finish()
        with self._reporting():
            commit(self._part, self._path)
        self._is_open = False

    def discard(self) -> None:
        """Remove the unfinished file. An existing file under the final name is kept."""
        if self._is_open:
            self._file.close()
            with contextlib.suppress(soundfile.SoundFileError):
                self._sound.close()
            self._discard_part()

    def __enter__(self) -> AudioWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def _encoding_of_suffix(self) -> SoundEncoding:
        encoding = _ENCODING_OF_SUFFIX.get(self._path.suffix.lower())
        if encoding is None:
            raise CannotWrite(
                "{suffix} is not a supported audio format ({file}).",
                remedy="Choose a name that ends in one of {known}.",
                suffix=self._path.suffix or message("a file without a suffix"),
                file=self._path.name,
                known=list(_ENCODING_OF_SUFFIX),
            )
        return encoding

    def _require_place(self) -> None:
        if self._path.exists() and not self._path.is_file():
            raise CannotWrite("{path} is not an ordinary file.", remedy="Choose another name.", path=self._path)
        if self._path.exists() and not os.access(self._path, os.W_OK):
            raise CannotWrite("{path} is write-protected.", remedy="Choose another name.", path=self._path)
        if not self._path.parent.is_dir():
            raise CannotWrite(
                "There is no folder {folder}.", remedy="Create it, or choose another.", folder=self._path.parent
            )

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        """Raise the ``OSError`` that the file recorded, because libsndfile gives no reason for failures."""
        reason: OSError | None = None
        try:
            yield
        except OSError as error:
            reason = error
        except (soundfile.SoundFileError, AssertionError):
            if self._file.failure is None:
                self.discard()
                raise
        reason = reason or self._file.failure
        if reason is not None:
            self.discard()
            raise self._disk_error(reason) from reason

    def _discard_part(self) -> None:
        self._is_open = False
        self._file.close()
        with contextlib.suppress(OSError):
            self._part.unlink()

    def _disk_error(self, error: OSError) -> StudioError:
        return write_error(
            error,
            self._path,
            if_full=message("Free some space and try again."),
            if_refused=message("Choose another folder."),
        )


def open_encoder(file: Any, encoding: SoundEncoding, sample_rate: int) -> soundfile.SoundFile:
    """Return libsndfile's encoder of mono audio, which writes to the file object ``file``. Raise ``LibsndfileError``."""
    return soundfile.SoundFile(
        file,
        "w",
        sample_rate,
        1,
        encoding.subtype,
        format=encoding.file_format,
        compression_level=encoding.compression_level,
        bitrate_mode="CONSTANT" if encoding.has_constant_bit_rate else None,
    )


class _ErrorTrackingFile:
    """New file for libsndfile that records why a write failed, because libsndfile ignores exceptions in callbacks.

    After ``close`` it accepts and drops writes, because libsndfile still writes when it closes. Positions are relative
    to the end of ``preface``, the bytes before libsndfile's own.
    """

    def __init__(self, path: Path, preface: bytes = b"") -> None:
        self._file: FileIO | BytesIO = FileIO(path, "xb")
        self._start = len(preface)
        self.failure: OSError | None = None
        self.write(preface)

    def write(self, data: bytes) -> int:
        num_written = 0
        try:
            while num_written < len(data):
                num_written += self._file.write(data[num_written:])
        except OSError as error:
            self.failure = self.failure or error
        return num_written

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset + self._start if whence == os.SEEK_SET else offset, whence) - self._start

    def tell(self) -> int:
        return self._file.tell() - self._start

    def close(self) -> None:
        try:
            self._file.close()
        except OSError as error:
            self.failure = self.failure or error
        self._file = BytesIO()
