"""Encodings of audio files, by name."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace

from studio.errors import UnusableSetting
from studio.messages import did_you_mean

_ANY_RATE = frozenset({8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000})
# The header of a WAV file counts bytes in 32 bits; leave some for the tags.
_LARGEST_WAV_BYTES = 2**32 - 2**20


@dataclass(frozen=True, slots=True)
class SoundEncoding:
    """File format and sample encoding; ``file_format`` and ``subtype`` are libsndfile's names.

    ``num_bytes`` is per sample, None if compressed. ``compression_level``, 0..1, is libsndfile's; None is its
    default, which favours small files. ``is_float`` encodings keep samples beyond full scale.
    """

    name: str
    title: str
    suffix: str
    file_format: str
    subtype: str
    num_bytes: int | None = None
    is_float: bool = False
    is_lossy: bool = False
    compression_level: float | None = None
    sample_rates: frozenset[int] = _ANY_RATE

    def holding(self, num_samples: int) -> SoundEncoding:
        """Return this encoding, or RF64 for a WAV file that would exceed 4 GB."""
        if self.file_format != "WAV" or num_samples * (self.num_bytes or 0) <= _LARGEST_WAV_BYTES:
            return self
        return replace(self, file_format="RF64")


WAV_16 = SoundEncoding("wav16", "WAV, 16 bit", ".wav", "WAV", "PCM_16", 2)
WAV_24 = SoundEncoding("wav24", "WAV, 24 bit", ".wav", "WAV", "PCM_24", 3)
WAV_FLOAT = SoundEncoding("wav32f", "WAV, 32-bit float", ".wav", "WAV", "FLOAT", 4, is_float=True)
FLAC_16 = SoundEncoding("flac16", "FLAC, 16 bit", ".flac", "FLAC", "PCM_16")
FLAC_24 = SoundEncoding("flac24", "FLAC, 24 bit", ".flac", "FLAC", "PCM_24")
# With speech at 24 kHz these levels give about 120, 90 and 110 kbit/s, and an error some 30 dB below the speech.
MP3 = SoundEncoding("mp3", "MP3", ".mp3", "MP3", "MPEG_LAYER_III", is_lossy=True, compression_level=0.0)
OGG_VORBIS = SoundEncoding("ogg", "OGG Vorbis", ".ogg", "OGG", "VORBIS", is_lossy=True, compression_level=0.2)
OPUS = SoundEncoding(
    "opus",
    "OGG Opus",
    ".opus",
    "OGG",
    "OPUS",
    is_lossy=True,
    compression_level=0.6,
    sample_rates=frozenset({8_000, 16_000, 24_000, 48_000}),  # the only ones Opus supports
)

ENCODINGS = {each.name: each for each in (WAV_16, WAV_24, WAV_FLOAT, FLAC_16, FLAC_24, MP3, OGG_VORBIS, OPUS)}
_SHORT_NAMES = {"wav": WAV_16, "flac": FLAC_16, "vorbis": OGG_VORBIS}


def encoding_named(name: str) -> SoundEncoding:
    """Return the encoding with that name or suffix. Raises ``UnusableSetting`` with the nearest names."""
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
        known=", ".join(ENCODINGS),
    )
