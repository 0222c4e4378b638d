"""What the program and its worker say to each other: commands go in, events come out.

They cross a private pipe between two processes of ours (``process.py``), never a port. A
``request_id`` is chosen by the client and comes back in everything that concerns the request. Every
request ends with exactly one event: its own (``Ready``, ``Unloaded``, ``VoiceReady``,
``StoredVoicesWritten``, ``WritesFinished``, ``NormalizedText``, ``EnginesManaged``, ``Pong``, ``Finished``), or ``Failed``, or ``Cancelled``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from studio.engines.overview import EngineAction, EngineStatus
from studio.errors import ErrorRecord
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
from studio.wording import Message


@dataclass(frozen=True, slots=True)
class Load:
    """Loads a model, after giving up the one that is loaded."""

    request_id: int
    folder: Path
    options: EngineOptions


@dataclass(frozen=True, slots=True)
class Unload:
    """Gives the model's memory back; the process stays."""

    request_id: int


@dataclass(frozen=True, slots=True)
class PrepareVoice:
    request_id: int
    voice: VoiceReference


@dataclass(frozen=True, slots=True)
class Synthesize:
    """``text_arrives``: the request's text is empty, and comes in ``AppendText`` until ``EndText``.

    ``in_batch``: one of many that nobody waits to hear; may be worked on beside others, and lets others pass.
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
    """Writes each voice of an official ``spk2info.pt`` into ``destination`` as a file of prompt features."""

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
    """The words that a model of that folder will be told to say, numbers and signs spelled out; answered meanwhile."""

    request_id: int
    text: str
    model_folder: Path


@dataclass(frozen=True, slots=True)
class WatchEngines:
    """From now on, and until another model is loaded, ``EngineStatusChanged`` tells of every change; at once, if a model is loaded."""

    request_id: int


@dataclass(frozen=True, slots=True)
class EngineCommand:
    """``keys`` of candidates, or none for all of the loaded model. Answered at once, whatever is being worked on."""

    request_id: int
    action: EngineAction
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cancel:
    """Ends a request, running or waiting; unknown and finished ones are left alone."""

    request_id: int


@dataclass(frozen=True, slots=True)
class Ping:
    """Answered at once, whatever is being worked on."""

    request_id: int


@dataclass(frozen=True, slots=True)
class Shutdown:
    """Cancels everything, gives memory back and ends the process."""


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
    """``share`` of ``stage`` is done, 0..1, as measured."""

    request_id: int
    stage: str
    share: float


@dataclass(frozen=True, slots=True)
class PlaybackStartEstimate:
    """Play may begin now plus ``seconds_from_now`` and will not have to wait.

    ``seconds_after_start`` is the same moment counted from when the worker took up the request.
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
    """A voice found in a ``spk2info.pt``; ``features`` is a file that ``VoiceReference.clip`` may name."""

    name: str
    features: Path
    transcript: str | None
    generation: str
    clip_seconds: float


@dataclass(frozen=True, slots=True)
class StoredVoicesWritten:
    """``refused``: one sentence for each voice of the file that could not be taken over."""

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
    """What is known of the engines of the loaded model; ends no request, ``WatchEngines`` least of all."""

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
