"""Messages of the worker protocol survive pickling unchanged."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from studio.engines.overview import EngineAction, EngineStatus
from studio.engines.stage import Device
from studio.model.device_kind import DeviceKind
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    EngineOptions,
    Mode,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.text.arriving import Fragment
from studio.worker import protocol

VOICE = VoiceReference(Path("a.wav"), None, "a")
REPORT = SynthesisReport(0.1, 1.0, 0.5, 24_000, Mode.INSTRUCT, 25, {"flow": 0.1}, {"flow": "torch"}, ("hi",), ("w",))
MESSAGES = [
    protocol.Load(1, Path("m"), EngineOptions(num_threads=2)),
    protocol.PrepareVoice(3, VOICE),
    protocol.Synthesize(4, SynthesisRequest("你好", VOICE, seed=5)),
    protocol.Convert(7, ConversionRequest(Path("s.wav"), VOICE)),
    protocol.ReadRecording(7, SynthesisRequest("你好", VOICE, is_divided=False), Path("s.wav")),
    protocol.ImportStoredVoices(8, Path("spk2info.pt"), Path("m"), Path("d")),
    protocol.FinishWrites(14),
    protocol.Cancel(9),
    protocol.AddText(7, Fragment(" word", is_last=True)),
    protocol.StopEarly(9),
    protocol.NormalizeText(11, "It is 3.", Path("model")),
    protocol.WatchEngines(12),
    protocol.EngineCommand(13, EngineAction.REBUILD, ("flow-plan-0",)),
    protocol.Shutdown(),
    protocol.Ready(1, EngineDescription("m", "CosyVoice3", "f", 24_000, "cpu", {"flow": "float32"}, True, ("n",))),
    protocol.Progress(3, "voice", 0.5),
    protocol.PlaybackStartEstimate(4, 9.0, 8.5),
    protocol.VoiceReady(5, VoiceSummary("a", 3.0, 75, 10, ("quiet",))),
    protocol.StoredVoicesWritten(6, (protocol.StoredVoice("a", Path("f"), None, "CosyVoice3", 3.0),), ("no",)),
    protocol.WritesFinished(14),
    protocol.NormalizedText(11, "It is three."),
    protocol.EngineStatusChanged(12, EngineStatus("m", Device(DeviceKind.CPU, "a processor", 2, 1 << 30), (), 0, 1)),
    protocol.EnginesManaged(13, 1000),
    protocol.Finished(8, REPORT),
    protocol.Failed(9, ("silent-clip", "It is silent.", "Record again.")),
    protocol.Cancelled(10),
]


def test_the_list_contains_every_message() -> None:
    listed = {type(message) for message in MESSAGES} | {protocol.AudioReady}
    assert listed == {*get_args(protocol.Command), *get_args(protocol.Event)}


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_messages_arrive_as_sent_and_cannot_be_changed(message: protocol.Command | protocol.Event) -> None:
    assert pickle.loads(pickle.dumps(message)) == message
    if dataclasses.fields(message):
        with pytest.raises(dataclasses.FrozenInstanceError):
            message.request_id = 0  # type: ignore[misc, union-attr]


def test_audio_arrives_bit_for_bit() -> None:
    samples = np.random.default_rng(1).standard_normal(4800).astype(np.float32)
    sent = protocol.AudioReady(1, AudioChunk(samples, 24_000, 1, 3))
    arrived = pickle.loads(pickle.dumps(sent))
    np.testing.assert_array_equal(arrived.chunk.samples, samples)
    assert arrived.chunk.samples.dtype == np.float32
    assert (arrived.chunk.sentence_index, arrived.chunk.num_sentences) == (1, 3)
