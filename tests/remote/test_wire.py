"""Streams of events survive any division into blocks, and damaged ones are refused."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest

from studio.messages import message
from studio.model.options import Quality
from studio.pipeline.request import (
    AudioChunk,
    FlowQuality,
    LengthFinding,
    LengthVerdict,
    Mode,
    SentenceEvidence,
    SynthesisReport,
    VoiceSummary,
)
from studio.remote import wire
from studio.worker import protocol
from studio.worker.protocol import Event

REPORT = SynthesisReport(
    0.25,
    1.5,
    0.75,
    24_000,
    Mode.INSTRUCT,
    38,
    {"flow": 0.1},
    {"flow": "torch"},
    spoken_text=("one “two”",),
    odd_lengths=(LengthFinding("one", LengthVerdict.TOO_LONG),),
    evidence=(SentenceEvidence("one", 0.1, 1 / 3, (1, 2), ("o", "ne"), True, 3, (0.5,), (), 0.04),),
    voice_was_cached=True,
    quality=FlowQuality(Quality.DRAFT, 0.5, 0.25),
    device_memory_bytes=2**40,
)
NESTED = message("{name} is gone.{more}", name="Anna", more=message(" Again {n}.", n=3))
EVENTS: list[Event] = [
    protocol.Progress(5, "voice", 1 / 3),
    protocol.PlaybackStartEstimate(5, 0.7, -0.1),
    protocol.Finished(5, REPORT),
    protocol.Failed(5, ("voice-not-found", NESTED, message("Add it."))),
    protocol.VoiceReady(5, VoiceSummary("Anna", 3.0, 75, 10, ("quiet",))),
    protocol.Cancelled(5),
]


@pytest.mark.parametrize("num_bytes", [1, 7, 10_000])
def test_events_are_the_same_after_the_journey(num_bytes: int) -> None:
    chunk = AudioChunk(np.linspace(-1, 1, 1_000, dtype=np.float32) / 3, 24_000, 2, 5)
    stream = wire.HEARTBEAT.join(map(wire.encode_event, [*EVENTS, protocol.AudioReady(5, chunk)]))
    reader = wire.EventReader(5)
    blocks = [stream[start : start + num_bytes] for start in range(0, len(stream), num_bytes)]
    *events, audio = [event for block in blocks for event in reader.feed(block)]
    assert events == EVENTS
    assert isinstance(audio, protocol.AudioReady)
    assert np.array_equal(audio.chunk.samples, chunk.samples)
    assert replace(audio.chunk, samples=chunk.samples) == chunk


def frame(content: bytes, audio: bytes = b"") -> bytes:
    return struct.pack(">II", len(content), len(audio)) + content + audio


@pytest.mark.parametrize(
    "stream",
    [
        struct.pack(">II", 2**31, 0),
        struct.pack(">II", 2, 2**31),
        struct.pack(">II", 2, 3),
        frame(b"[]"),
        frame(b"{"),
        frame(b'{"event": "Progress", "stage": 3, "share": 0.5}'),
        frame(b'{"event": "Progress", "stage": "voice"}'),
        frame(b'{"event": "Progress", "stage": "voice", "share": NaN}'),
        frame(b'{"event": "AudioReady", "sample_rate": "24000"}', b"\0" * 4),
        frame(b'{"event": "Failed", "error": ["code", {"template": "a"}]}'),
        frame(b'{"event": "Finished", "report": {"mode": "shouting"}}'),
    ],
)
def test_damaged_streams_are_refused(stream: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any
        list(wire.EventReader().feed(stream))


def test_unknown_events_and_fields_of_a_later_version_are_ignored() -> None:
    stream = frame(b'{"event": "Later", "x": 1}') + frame(b'{"event": "Progress", "stage": "a", "share": 1, "x": 1}')
    assert list(wire.EventReader(3).feed(stream)) == [protocol.Progress(3, "a", 1.0)]
