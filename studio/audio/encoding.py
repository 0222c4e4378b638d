"""Encodings of audio files by name, and the tags of MP3 files.

libsndfile passes tags to its MP3 encoder as Latin-1, which corrupts Chinese titles. MP3 files therefore get ID3 tags of
version 2.3 in UTF-16, which every player reads.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from studio.errors import UnusableSetting
from studio.messages import did_you_mean

_ANY_RATE = frozenset({8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000})
# The header of a WAV file counts bytes in 32 bits. Some of them are left for the tags.
_MAX_WAV_BYTES = 2**32 - 2**20
_FRAME_OF_NAME = {
    "title": b"TIT2",
    "artist": b"TPE1",
    "album": b"TALB",
    "composer": b"TCOM",
    "tracknumber": b"TRCK",
    "software": b"TENC",
}
_UTF_16_WITH_MARK = b"\x01"
_END = "\0".encode("utf-16")


@dataclass(frozen=True, slots=True)
class SoundEncoding:
    """File format and sample encoding."""

    name: str
    title: str
    suffix: str
    file_format: str  # libsndfile's name, like that of ``subtype``
    subtype: str
    num_bytes: int | None = None  # bytes of one sample; None if compressed
    is_float: bool = False  # samples beyond full scale are kept
    compression_level: float | None = None  # compression level of lossy encodings, 0..1 as in libsndfile
    has_constant_bit_rate: bool = False
    sample_rates: frozenset[int] = _ANY_RATE

    def holding(self, num_samples: int) -> SoundEncoding:
        """Return this encoding, or RF64 for a WAV file that would exceed 4 GB."""
        if self.file_format != "WAV" or num_samples * (self.num_bytes or 0) <= _MAX_WAV_BYTES:
            return self
        return replace(self, file_format="RF64")


WAV_16 = SoundEncoding("wav16", "WAV, 16 bit", ".wav", "WAV", "PCM_16", 2)
WAV_24 = SoundEncoding("wav24", "WAV, 24 bit", ".wav", "WAV", "PCM_24", 3)
WAV_FLOAT = SoundEncoding("wav32f", "WAV, 32-bit float", ".wav", "WAV", "FLOAT", 4, is_float=True)
FLAC_16 = SoundEncoding("flac16", "FLAC, 16 bit", ".flac", "FLAC", "PCM_16")
FLAC_24 = SoundEncoding("flac24", "FLAC, 24 bit", ".flac", "FLAC", "PCM_24")
# For speech at 24 kHz, the compression levels below give about 120, 90 and 110 kbit/s, and an error some 30 dB below
# the speech.
MP3 = SoundEncoding("mp3", "MP3", ".mp3", "MP3", "MPEG_LAYER_III", compression_level=0.0)
# libsndfile maps the level to 320..32 kbit/s, and LAME rounds to the nearest rate that the format has. Rates below
# 32 kHz are another version of the format, whose highest bit rate is 160 kbit/s.
MP3_192 = SoundEncoding(
    "mp3-192",
    "MP3, 192 kbit/s",
    ".mp3",
    "MP3",
    "MPEG_LAYER_III",
    compression_level=(320 - 192) / (320 - 32),
    has_constant_bit_rate=True,
    sample_rates=frozenset({32_000, 44_100, 48_000}),
)
OGG_VORBIS = SoundEncoding("ogg", "OGG Vorbis", ".ogg", "OGG", "VORBIS", compression_level=0.2)
OPUS = SoundEncoding(
    "opus",
    "OGG Opus",
    ".opus",
    "OGG",
    "OPUS",
    compression_level=0.6,
    sample_rates=frozenset({8_000, 16_000, 24_000, 48_000}),  # the only rates Opus supports
)

ENCODINGS = {each.name: each for each in (WAV_16, WAV_24, WAV_FLOAT, FLAC_16, FLAC_24, MP3, MP3_192, OGG_VORBIS, OPUS)}
_SHORT_NAMES = {"wav": WAV_16, "flac": FLAC_16, "vorbis": OGG_VORBIS}


def encoding_named(name: str) -> SoundEncoding:
    """Return the encoding with that name or suffix. Raise ``UnusableSetting``, which suggests similar names."""
    wanted = name.strip().lower().removeprefix(".")
    found = ENCODINGS.get(wanted) or _SHORT_NAMES.get(wanted)
    if found is not None:
        return found
    near = difflib.get_close_matches(wanted, ENCODINGS, n=2, cutoff=0.4)
    raise UnusableSetting(
        "“{name}” is not a supported audio format.{did_you_mean}",
        remedy="Choose one of {known}.",
        name=name,
        did_you_mean=did_you_mean(near),
        known=list(ENCODINGS),
    )


def id3_tag(tags: Mapping[str, str]) -> bytes:
    """Return the tag that precedes the audio. ``tags`` have libsndfile's names; unknown ones are omitted."""
    frames = b"".join(
        _frame(_FRAME_OF_NAME[name], value.encode("utf-16")) for name, value in tags.items() if name in _FRAME_OF_NAME
    )
    if "comment" in tags:
        frames += _frame(b"COMM", b"eng" + _END + tags["comment"].encode("utf-16"))
    return b"ID3\x03\x00\x00" + _seven_bits_per_byte(len(frames)) + frames if frames else b""


def _frame(name: bytes, content: bytes) -> bytes:
    # The first byte of the content is the text encoding; the language of a comment follows it.
    return name + (len(content) + 1).to_bytes(4, "big") + b"\0\0" + _UTF_16_WITH_MARK + content


def _seven_bits_per_byte(size: int) -> bytes:
    """Encode a size without a byte that looks like the start of an MP3 frame."""
    return bytes((size >> shift) & 0x7F for shift in (21, 14, 7, 0))
