"""Encoders of streamed audio: bytes are sent before later audio exists.

A header with a length field marks the length as unknown, in the form that players accept.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np
import soundfile
import soxr

from studio.audio.encoding import FLAC_16, OPUS, WAV_16, SoundEncoding
from studio.audio.files import open_encoder
from studio.audio.resampling import Samples
from studio.errors import BadRequest
from studio.system.installation import how_to_add

if TYPE_CHECKING:
    from av.container import OutputContainer

_UNKNOWN_SIZE = 0xFFFFFFFF
_PCM = 1
_AAC_BITS_PER_SECOND = 96_000
# libsndfile maps the level to 160..8 kbit/s below 32 kHz, and to 320..32 kbit/s from there on. A constant bit rate lets
# players show the position in a stream without an index.
_MP3_LEVEL = 0.2
MP3_STREAM = SoundEncoding(
    "mp3-stream", "MP3", ".mp3", "MP3", "MPEG_LAYER_III", compression_level=_MP3_LEVEL, has_constant_bit_rate=True
)


class StreamEncoder(Protocol):
    """Encodes one stream of mono audio. Samples are (n,), from -1 to 1; the bytes of all calls form the file.

    ``sample_rate`` is that of the file.
    """

    sample_rate: int

    def encode(self, samples: Samples) -> bytes: ...

    def finish(self) -> bytes: ...


class LibsndfileEncoder:
    """Encodes with libsndfile, exactly as ``AudioWriter`` does.

    ``header`` precedes the audio. ``omits_first_write`` omits the index of an MP3 file, which libsndfile fills in at
    the end; it rewrites other headers too, but those are valid as first written. ``is_whole`` keeps all bytes until the
    end, so that headers contain the length.
    """

    def __init__(
        self,
        encoding: SoundEncoding,
        sample_rate: int,
        *,
        header: bytes = b"",
        omits_first_write: bool = False,
        is_whole: bool = False,
    ) -> None:
        self.sample_rate = sample_rate
        self._file = _WholeFile() if is_whole else _GrowingFile(omits_first_write=omits_first_write)
        self._sound = open_encoder(self._file, encoding, sample_rate)
        self._header = header

    def encode(self, samples: Samples) -> bytes:
        self._sound.write(np.clip(samples, -1.0, 1.0))
        header, self._header = self._header, b""
        return header + self._file.take()

    def finish(self) -> bytes:
        self._sound.close()
        return self._header + self._file.take_rest()


class AacEncoder:
    """Encodes AAC in ADTS frames, with PyAV. Raise ``BadRequest`` if PyAV is not installed."""

    def __init__(self, sample_rate: int) -> None:
        try:
            import av  # noqa: PLC0415 -- an optional extra
        except ImportError as error:
            raise BadRequest(
                "AAC needs PyAV, which is not installed here.",
                remedy="Request mp3, opus, flac, wav or pcm. {how}",
                how=how_to_add("media"),
            ) from error
        self._file = _GrowingFile()
        self._container: OutputContainer = av.open(self._file, "w", format="adts")
        self._stream = self._container.add_stream("aac", rate=sample_rate, layout="mono")
        self._stream.bit_rate = _AAC_BITS_PER_SECOND
        self.sample_rate = sample_rate
        self._num_samples = 0

    def encode(self, samples: Samples) -> bytes:
        import av  # noqa: PLC0415 -- an optional extra

        if len(samples):
            clipped = np.clip(samples, -1.0, 1.0).astype(np.float32, copy=False)
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(clipped[None]), format="fltp", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = (
                self.sample_rate,
                self._num_samples,
                Fraction(1, self.sample_rate),
            )
            self._num_samples += len(samples)
            self._container.mux(self._stream.encode(frame))
        return self._file.take()

    def finish(self) -> bytes:
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._file.take()


class ResamplingEncoder:
    """Resamples before ``encoder``."""

    def __init__(self, encoder: StreamEncoder, from_rate: int, to_rate: int) -> None:
        self.sample_rate = encoder.sample_rate
        self._encoder = encoder
        self._resampler = soxr.ResampleStream(from_rate, to_rate, 1, dtype="float32", quality="VHQ")

    def encode(self, samples: Samples) -> bytes:
        return self._encoder.encode(self._resampler.resample_chunk(samples))

    def finish(self) -> bytes:
        rest = self._resampler.resample_chunk(np.zeros(0, np.float32), last=True)
        return self._encoder.encode(rest) + self._encoder.finish()


def _wav(sample_rate: int) -> StreamEncoder:
    return LibsndfileEncoder(_raw(WAV_16), sample_rate, header=_wav_header(sample_rate))


def _pcm(sample_rate: int) -> StreamEncoder:
    return LibsndfileEncoder(_raw(WAV_16), sample_rate)


def _flac(sample_rate: int) -> StreamEncoder:
    return LibsndfileEncoder(FLAC_16, sample_rate)


def _mp3(sample_rate: int) -> StreamEncoder:
    return LibsndfileEncoder(MP3_STREAM, sample_rate, omits_first_write=True)


def _opus(sample_rate: int) -> StreamEncoder:
    if sample_rate in OPUS.sample_rates:
        return LibsndfileEncoder(OPUS, sample_rate)
    return ResamplingEncoder(LibsndfileEncoder(OPUS, max(OPUS.sample_rates)), sample_rate, max(OPUS.sample_rates))


def _raw(encoding: SoundEncoding) -> SoundEncoding:
    return SoundEncoding(encoding.name, encoding.title, ".raw", "RAW", encoding.subtype, encoding.num_bytes)


def _wav_header(sample_rate: int) -> bytes:
    """Return the header of a 16-bit WAV file of unknown length."""
    layout = struct.pack("<HHIIHH", _PCM, 1, sample_rate, 2 * sample_rate, 2, 16)
    return b"".join(
        (
            b"RIFF" + struct.pack("<I", _UNKNOWN_SIZE) + b"WAVE",
            b"fmt " + struct.pack("<I", len(layout)) + layout,
            b"data" + struct.pack("<I", _UNKNOWN_SIZE),
        )
    )


PCM_TYPE = "audio/pcm"
# Format names of OpenAI's API, with their media types.
FORMATS: dict[str, tuple[str, Callable[[int], StreamEncoder]]] = {
    "mp3": ("audio/mpeg", _mp3),
    "opus": ("audio/ogg", _opus),
    "aac": ("audio/aac", AacEncoder),
    "flac": ("audio/flac", _flac),
    "wav": ("audio/wav", _wav),
    "pcm": (PCM_TYPE, _pcm),
}


# Formats whose header contains the length.
_WITH_LENGTH = {"wav": WAV_16, "flac": FLAC_16, "mp3": MP3_STREAM}


def new_encoder(
    format_name: str, from_rate: int, sample_rate: int | None = None, *, is_whole: bool = False
) -> StreamEncoder:
    """Return an encoder for audio at ``from_rate``. It resamples to ``sample_rate`` unless that is None.

    ``is_whole`` means that nothing is sent before the end.
    """
    _, make = FORMATS[format_name]
    if is_whole and format_name in _WITH_LENGTH:
        make = partial(LibsndfileEncoder, _WITH_LENGTH[format_name], is_whole=True)
    rate = sample_rate or from_rate
    try:
        encoder = make(rate)
    except soundfile.LibsndfileError as error:
        raise BadRequest(
            "The format {format} does not support a sample rate of {rate} Hz.",
            remedy="Request 24000 or 48000 Hz, or omit the sample rate.",
            format=format_name,
            rate=rate,
        ) from error
    return encoder if rate == from_rate else ResamplingEncoder(encoder, from_rate, rate)


class _WholeFile(io.BytesIO):
    """File in memory that can be taken only when it is complete."""

    def take(self) -> bytes:
        return b""

    def take_rest(self) -> bytes:
        return self.getvalue()


class _GrowingFile(io.RawIOBase):
    """File in memory that keeps only the bytes that were not taken yet. Earlier bytes cannot be changed."""

    def __init__(self, *, omits_first_write: bool = False) -> None:
        super().__init__()
        self._new = bytearray()
        self._end = 0
        self._position = 0
        self._omits_next = omits_first_write

    def take(self) -> bytes:
        taken = bytes(self._new)
        self._new.clear()
        return taken

    take_rest = take

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def write(self, data: bytes | bytearray | memoryview) -> int:  # type: ignore[override]
        piece = bytes(data)
        num_known = self._end - self._position  # these bytes replace earlier ones
        self._position += len(piece)
        if num_known < len(piece):
            if not self._omits_next:
                self._new += piece[num_known:]
            self._omits_next = False
            self._end = self._position
        return len(piece)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._end}[whence]
        self._position = start + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, _buffer: object) -> int:
        return 0
