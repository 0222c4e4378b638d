"""What the workers on servers of other programs have in common.

Such a server has its own model. It has no seeds, no styles of this program, no prompt states, no conversion of
recordings and no evidence for the checks of takes; requests that need them fail with ``NotOnServer``.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

from studio.audio.resampling import Samples
from studio.errors import NoSpeechMade, NotOnServer
from studio.pipeline.request import (
    AudioChunk,
    EngineDescription,
    Mode,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.remote.address import ServerAddress, descriptions_folder
from studio.remote.server_worker import ServerWorker
from studio.worker import protocol
from studio.worker.protocol import Event

SAMPLE_RATE = 24_000
_GENERATION = "other"


@dataclass
class OtherSpeech:
    """The audio of one request, and its report."""

    request_id: int
    put_event: Callable[[Event], None]
    num_samples: int = 0
    spoken_text: list[str] = field(default_factory=list)
    _began: float = field(default_factory=time.perf_counter)
    _first_audio_seconds: float = 0.0

    def put(self, samples: Samples, sentence_index: int = 0, num_sentences: int = 1) -> None:
        """Pass on ``samples``, at ``SAMPLE_RATE``."""
        if samples.size:
            self._first_audio_seconds = self._first_audio_seconds or time.perf_counter() - self._began
            self.num_samples += samples.size
            chunk = AudioChunk(samples, SAMPLE_RATE, sentence_index, num_sentences)
            self.put_event(protocol.AudioReady(self.request_id, chunk))

    def report(self, mode: Mode) -> SynthesisReport:
        return SynthesisReport(
            first_audio_seconds=self._first_audio_seconds,
            audio_seconds=self.num_samples / SAMPLE_RATE,
            total_seconds=time.perf_counter() - self._began,
            sample_rate=SAMPLE_RATE,
            mode=mode,
            num_speech_tokens=0,
            stages={},
            engine={},
            spoken_text=tuple(self.spoken_text),
        )


class OtherWorker(ServerWorker):
    """``server`` names the model."""

    async def _answer(self, command: protocol.RequestCommand) -> Event:
        match command:
            case protocol.Load(request_id):
                await self._disconnect()  # the token may have changed
                await self._check_model()
                return protocol.Ready(request_id, describe(self._server))
            case protocol.Synthesize(request_id, request):
                speech = OtherSpeech(request_id, self._events.put)
                await self._speak(request, speech)
                if not speech.num_samples:
                    raise NoSpeechMade("{host} sent no audio.", remedy="Try again.", host=self._server.host)
                return protocol.Finished(request_id, speech.report(self._mode(request)))
            case protocol.PrepareVoice(request_id, voice):
                return protocol.VoiceReady(request_id, await self._prepare_voice(voice))
            case protocol.NormalizeText(request_id, written, _, language):
                return protocol.NormalizedText(request_id, await self._spell_out(written, language))
        raise self._impossible()

    @abstractmethod
    async def _check_model(self) -> None:
        """Raise ``StudioError`` unless the server answers and has the model."""

    @abstractmethod
    async def _speak(self, request: SynthesisRequest, speech: OtherSpeech) -> None:
        """Speak the text of ``request``. Raise ``StudioError``."""

    @abstractmethod
    async def _prepare_voice(self, voice: VoiceReference) -> VoiceSummary: ...

    @abstractmethod
    async def _spell_out(self, text: str, language: str) -> str: ...

    @abstractmethod
    def _mode(self, request: SynthesisRequest) -> Mode: ...

    @abstractmethod
    def _impossible(self) -> NotOnServer:
        """Return the error for a request that such a server cannot answer."""


def describe(server: ServerAddress) -> EngineDescription:
    """Return the description of the server's model. Its folder does not exist."""
    folder = descriptions_folder(server.url) / "".join(c if c.isalnum() or c in "-_." else "_" for c in server.model)
    return EngineDescription(
        model_name=server.model,
        generation=_GENERATION,
        folder=str(folder),
        sample_rate=SAMPLE_RATE,
        device="",
        stages={},
    )
