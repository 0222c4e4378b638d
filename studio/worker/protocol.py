"""Messages between the program and its worker: commands go in, events come out.

They are sent through a private pipe between the two processes (``process.py``), not through a port. The client
chooses the ``request_id``, and every event of the request carries it. Each request ends with exactly one event: any
of them except ``Progress``, ``PlaybackStartEstimate``, ``AudioReady`` and ``EngineStatusChanged``.
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
from studio.text.arriving import Fragment


@dataclass(frozen=True, slots=True)
class _RequestMessage:
    request_id: int


@dataclass(frozen=True, slots=True)
class Load(_RequestMessage):
    """Load a model, after closing the loaded one."""

    folder: Path
    options: EngineOptions


@dataclass(frozen=True, slots=True)
class PrepareVoice(_RequestMessage):
    voice: VoiceReference


@dataclass(frozen=True, slots=True)
class Synthesize(_RequestMessage):
    request: SynthesisRequest
    # A background request, which may run concurrently with others. Interactive requests start before it.
    in_batch: bool = False
    # The text of the request is empty, and ``AddText`` sends the fragments of one sentence.
    text_arrives: bool = False


@dataclass(frozen=True, slots=True)
class AddText(_RequestMessage):
    """Continue the sentence of a request whose text arrives. Ignored after the end of the request."""

    fragment: Fragment


@dataclass(frozen=True, slots=True)
class Convert(_RequestMessage):
    request: ConversionRequest


@dataclass(frozen=True, slots=True)
class ImportStoredVoices(_RequestMessage):
    """Write each voice of an official ``spk2info.pt`` into ``destination`` as a file of prompt features."""

    path: Path
    model_folder: Path
    destination: Path


@dataclass(frozen=True, slots=True)
class ReadRecording(_RequestMessage):
    """Read the speech tokens of ``source``, a recording of the text of ``request``."""

    request: SynthesisRequest
    source: Path


class FinishWrites(_RequestMessage):
    """Wait until the prompt states of new voices are on disk or writing stalls, and make comparisons that were postponed.

    The stages of progress are "save", "precision" and "quality".
    """


@dataclass(frozen=True, slots=True)
class NormalizeText(_RequestMessage):
    """Normalise ``text`` for the model in ``model_folder``. Answered even while requests run."""

    text: str
    model_folder: Path
    language: str = ""  # as in ``SynthesisRequest``


class WatchEngines(_RequestMessage):
    """Request an ``EngineStatusChanged`` now and after every change, for this model and those loaded later."""


@dataclass(frozen=True, slots=True)
class EngineCommand(_RequestMessage):
    """Start ``action``. Answered even while requests run."""

    action: EngineAction
    # Keys of the candidates; empty for all candidates of the loaded model.
    keys: tuple[str, ...] = ()


class Cancel(_RequestMessage):
    """End a running or waiting request. Unknown and finished requests are ignored."""


class StopEarly(_RequestMessage):
    """End a running synthesis after its current sentence. Its report has the number of sentences."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """Cancel everything, release memory and end the process."""


# Commands that run in the order of their arrival.
QueuedCommand = Load | PrepareVoice | Synthesize | Convert | ReadRecording | ImportStoredVoices | FinishWrites
RequestCommand = QueuedCommand | AddText | NormalizeText | WatchEngines | EngineCommand | Cancel | StopEarly
Command = RequestCommand | Shutdown


@dataclass(frozen=True, slots=True)
class Ready(_RequestMessage):
    description: EngineDescription


@dataclass(frozen=True, slots=True)
class Progress(_RequestMessage):
    """A share of ``stage``, from 0 to 1, is done."""

    stage: str
    share: float


@dataclass(frozen=True, slots=True)
class PlaybackStartEstimate(_RequestMessage):
    """The earliest start of playback without gaps."""

    seconds_after_start: float  # after the worker started the request
    seconds_from_now: float


@dataclass(frozen=True, slots=True)
class AudioReady(_RequestMessage):
    chunk: AudioChunk


@dataclass(frozen=True, slots=True)
class VoiceReady(_RequestMessage):
    summary: VoiceSummary


@dataclass(frozen=True, slots=True)
class StoredVoice:
    """A voice of a ``spk2info.pt``."""

    name: str
    features: Path  # a file that can be used as ``VoiceReference.clip``
    transcript: str | None
    generation: str
    clip_seconds: float


@dataclass(frozen=True, slots=True)
class StoredVoicesWritten(_RequestMessage):
    voices: tuple[StoredVoice, ...]
    refused: tuple[Message, ...] = ()  # a sentence for each voice that could not be extracted


class WritesFinished(_RequestMessage):
    """Answer to ``FinishWrites``."""


@dataclass(frozen=True, slots=True)
class NormalizedText(_RequestMessage):
    text: str


@dataclass(frozen=True, slots=True)
class EngineStatusChanged(_RequestMessage):
    """Sent after ``WatchEngines``. Does not end a request."""

    overview: EngineStatus


@dataclass(frozen=True, slots=True)
class EnginesManaged(_RequestMessage):
    freed_bytes: int


@dataclass(frozen=True, slots=True)
class Finished(_RequestMessage):
    report: SynthesisReport


@dataclass(frozen=True, slots=True)
class Failed(_RequestMessage):
    error: ErrorRecord


class Cancelled(_RequestMessage):
    """The request was cancelled before its end."""


Event = (
    Ready
    | Progress
    | PlaybackStartEstimate
    | AudioReady
    | VoiceReady
    | StoredVoicesWritten
    | WritesFinished
    | NormalizedText
    | EngineStatusChanged
    | EnginesManaged
    | Finished
    | Failed
    | Cancelled
)
