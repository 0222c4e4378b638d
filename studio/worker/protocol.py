"""Messages between the program and its worker: commands go in, events come out.

They are sent through a private pipe between the two processes (``process.py``), not through a port. The client
chooses the ``request_id``; every event of the request carries it. Each request ends with exactly one event: its
own (``Ready``, ``Unloaded``, ``VoiceReady``,
``StoredVoicesWritten``, ``WritesFinished``, ``NormalizedText``, ``EnginesManaged``, ``Pong``, ``Finished``), or ``Failed``, or ``Cancelled``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from studio.engines.overview import EngineAction, EngineStatus
from studio.errors import ErrorRecord
from studio.messages import Message
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    EngineOptions,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)


@dataclass(frozen=True, slots=True)
class Load:
    """Load a model, after closing the loaded one."""

    request_id: int
    folder: Path
    options: EngineOptions


@dataclass(frozen=True, slots=True)
class Unload:
    """Release the model's memory; the process keeps running."""

    request_id: int


@dataclass(frozen=True, slots=True)
class PrepareVoice:
    request_id: int
    voice: VoiceReference


@dataclass(frozen=True, slots=True)
class Synthesize:
    """``text_arrives``: the request's text is empty and follows in ``AppendText`` until ``EndText``.

    ``in_batch``: background request; may run concurrently and yields to interactive ones.
    """

    request_id: int
    request: SynthesisRequest
    text_arrives: bool = False
    in_batch: bool = False


@dataclass(frozen=True, slots=True)
class AppendText:
    request_id: int
    text: str


@dataclass(frozen=True, slots=True)
class EndText:
    request_id: int


@dataclass(frozen=True, slots=True)
class Convert:
    request_id: int
    request: ConversionRequest


@dataclass(frozen=True, slots=True)
class ImportStoredVoices:
    """Write each voice of an official ``spk2info.pt`` into ``destination`` as a file of prompt features."""

    request_id: int
    path: Path
    model_folder: Path
    destination: Path


@dataclass(frozen=True, slots=True)
class FinishWrites:
    """Wait until the prompt states of new voices are on disk, or no longer advance; progress comes as stage "save"."""

    request_id: int


@dataclass(frozen=True, slots=True)
class NormalizeText:
    """Normalise ``text`` for the model of that folder. Answered even while requests run."""

    request_id: int
    text: str
    model_folder: Path


@dataclass(frozen=True, slots=True)
class WatchEngines:
    """Subscribe to ``EngineStatusChanged``: sent now and after every change, for every model loaded from now on."""

    request_id: int


@dataclass(frozen=True, slots=True)
class EngineCommand:
    """``keys`` of candidates; empty for all of the loaded model. Answered even while requests run."""

    request_id: int
    action: EngineAction
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cancel:
    """End a running or waiting request. Unknown and finished requests are ignored."""

    request_id: int


@dataclass(frozen=True, slots=True)
class Ping:
    """Answered even while requests run."""

    request_id: int


@dataclass(frozen=True, slots=True)
class Shutdown:
    """Cancel everything, release memory and end the process."""


Command = (
    Load
    | Unload
    | PrepareVoice
    | Synthesize
    | AppendText
    | EndText
    | Convert
    | ImportStoredVoices
    | FinishWrites
    | NormalizeText
    | WatchEngines
    | EngineCommand
    | Cancel
    | Ping
    | Shutdown
)


@dataclass(frozen=True, slots=True)
class Ready:
    request_id: int
    description: EngineDescription


@dataclass(frozen=True, slots=True)
class Unloaded:
    request_id: int


@dataclass(frozen=True, slots=True)
class Progress:
    """``share`` (0..1) of ``stage`` is done, as measured."""

    request_id: int
    stage: str
    share: float


@dataclass(frozen=True, slots=True)
class PlaybackStartEstimate:
    """Playback that starts ``seconds_from_now`` will not have to wait for audio.

    ``seconds_after_start`` is the same moment counted from when the worker started the request.
    """

    request_id: int
    seconds_after_start: float
    seconds_from_now: float


@dataclass(frozen=True, slots=True)
class AudioReady:
    request_id: int
    chunk: AudioChunk


@dataclass(frozen=True, slots=True)
class VoiceReady:
    request_id: int
    summary: VoiceSummary


@dataclass(frozen=True, slots=True)
class StoredVoice:
    """A voice of a ``spk2info.pt``; ``features`` is a file that can serve as ``VoiceReference.clip``."""

    name: str
    features: Path
    transcript: str | None
    generation: str
    clip_seconds: float


@dataclass(frozen=True, slots=True)
class StoredVoicesWritten:
    """``refused``: one sentence for each voice that could not be extracted."""

    request_id: int
    voices: tuple[StoredVoice, ...]
    refused: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class WritesFinished:
    request_id: int


@dataclass(frozen=True, slots=True)
class NormalizedText:
    request_id: int
    text: str


@dataclass(frozen=True, slots=True)
class EngineStatusChanged:
    """Pushed to subscribers; never the end of a request, not even of ``WatchEngines``."""

    request_id: int
    overview: EngineStatus


@dataclass(frozen=True, slots=True)
class EnginesManaged:
    request_id: int
    freed_bytes: int


@dataclass(frozen=True, slots=True)
class Pong:
    request_id: int


@dataclass(frozen=True, slots=True)
class Finished:
    request_id: int
    report: SynthesisReport


@dataclass(frozen=True, slots=True)
class Failed:
    request_id: int
    error: ErrorRecord


@dataclass(frozen=True, slots=True)
class Cancelled:
    request_id: int


Event = (
    Ready
    | Unloaded
    | Progress
    | PlaybackStartEstimate
    | AudioReady
    | VoiceReady
    | StoredVoicesWritten
    | WritesFinished
    | NormalizedText
    | EngineStatusChanged
    | EnginesManaged
    | Pong
    | Finished
    | Failed
    | Cancelled
)
