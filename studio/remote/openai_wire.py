"""OpenAI's speech API as a client uses it: paths, the body of a request, and the forms of its audio.

Source: https://platform.openai.com/docs/api-reference (Audio, "Create speech"; Models, "List models"). ``VOICES_PATH`` is
not part of it, but many compatible servers have it. Their audio is raw or a WAV file, at any rate.
"""

from __future__ import annotations

import re
import struct
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from typing import Any

import numpy as np
import soxr

from studio.audio.resampling import Samples
from studio.pipeline.request import SynthesisRequest
from studio.remote.address import ServerAddress
from studio.remote.other_worker import SAMPLE_RATE

SPEECH_PATH = "/v1/audio/speech"
MODELS_PATH = "/v1/models"
VOICES_PATH = "/v1/audio/voices"
AUDIO_TYPES = ("audio/", "application/octet-stream")
_WAV = b"RIFF"
_MAX_HEADER_BYTES = 4096
_PCM_FORMATS = (1, 0xFFFE)  # integers, and the extensible form, whose first fields are the same
_STATED_RATE = re.compile(r"\brate=\"?(\d+)")
_RATES = range(8_000, 192_001)


def speech_body(request: SynthesisRequest, server: ServerAddress) -> dict[str, Any]:
    """Return the request. The server's voice with the name of the line's voice is used, or else ``server.voice``."""
    own = {name.casefold(): name for name in server.voices}
    body = {
        "model": server.model,
        "input": request.text,
        "voice": own.get(request.voice.name.casefold(), server.voice),
        "response_format": "pcm",
        "speed": request.speed,
    }
    return body | ({"instructions": request.instruct} if request.instruct else {})


def read_names(entries: object) -> tuple[str, ...]:
    """Return the names in a list of names, or of objects with an id or a name."""
    names = []
    for entry in entries if isinstance(entries, list) else []:
        name = entry.get("id", entry.get("name")) if isinstance(entry, dict) else entry
        if isinstance(name, str) and name:
            names.append(name)
    return tuple(names)


async def read_samples(blocks: AsyncIterable[bytes], headers: Mapping[str, str]) -> AsyncIterator[Samples]:
    """Yield the samples, as float32 at ``SAMPLE_RATE``, of raw 16-bit mono audio or of a WAV file.

    Raw audio is at ``SAMPLE_RATE`` unless ``headers`` name another rate. Raise ``ValueError`` for another form.
    """
    rest = b""
    is_started = False
    resampler: soxr.ResampleStream | None = None
    async for block in blocks:
        rest += block
        if not is_started:
            form = _read_form(rest, headers)
            if form is None:
                continue
            rate, start = form
            rest, is_started = rest[start:], True
            if rate != SAMPLE_RATE:
                resampler = soxr.ResampleStream(rate, SAMPLE_RATE, 1, dtype="float32", quality="VHQ")
        num_bytes = len(rest) // 2 * 2
        samples = np.frombuffer(rest[:num_bytes], "<i2").astype(np.float32) / 32_768.0
        rest = rest[num_bytes:]
        yield samples if resampler is None else resampler.resample_chunk(samples)
    if resampler is not None:
        yield resampler.resample_chunk(np.zeros(0, np.float32), last=True)


def _read_form(start: bytes, headers: Mapping[str, str]) -> tuple[int, int] | None:
    """Return the sample rate and the position of the first sample, or None if ``start`` does not contain it yet."""
    if start.startswith(_WAV):
        position = _data_position(start)
        if position is None and len(start) < _MAX_HEADER_BYTES:
            return None
        form = start.find(b"fmt ", 0, position)
        if position is None or form < 0:
            raise ValueError("a WAV file without a header")
        kind, channels, rate, bits = struct.unpack_from("<HHI6xH", start, form + 8)
        if kind not in _PCM_FORMATS or (channels, bits) != (1, 16):
            raise ValueError("not 16-bit mono")
    elif _WAV.startswith(start):
        return None
    else:
        position = 0
        stated = _STATED_RATE.search(headers.get("content-type", ""))
        text = stated[1] if stated else headers.get("x-sample-rate", str(SAMPLE_RATE))
        rate = int(text) if text.isdigit() else 0
    if rate not in _RATES:
        raise ValueError(f"a sample rate of {rate}")
    return rate, position


def _data_position(start: bytes) -> int | None:
    """Return the position of the samples in a WAV file, or None if they are not in ``start``."""
    position = 12
    while position + 8 <= len(start):
        if start[position : position + 4] == b"data":
            return position + 8
        size = int.from_bytes(start[position + 4 : position + 8], "little")
        position += 8 + size + size % 2
    return None
