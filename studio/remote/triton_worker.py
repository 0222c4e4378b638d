"""The Triton runtime of CosyVoice as a worker.

Such a server clones the voice of a recording with a transcript, which travel with each sentence. It has no styles, no
seeds or sampling options of this program, no conversion of recordings and no evidence for the checks of takes. It also
lacks the text processing of the official program: this computer normalises the text, splits it into sentences (the
server stops after 750 speech tokens, 30 s), inserts pauses, and applies the speed.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from studio.audio.files import read_audio
from studio.audio.resampling import Samples
from studio.audio.time_stretch import TimeStretch
from studio.errors import NoSpeechMade, NotOnServer
from studio.messages import wording
from studio.model.generations import COSYVOICE2, COSYVOICE3
from studio.pipeline.request import AudioChunk, Mode, SynthesisReport, SynthesisRequest, VoiceReference, VoiceSummary
from studio.remote.address import ServerAddress
from studio.remote.line_attempts import LineAttempts
from studio.remote.openai_worker import SAMPLE_RATE, describe
from studio.remote.remote_worker import RemoteWorker
from studio.text.prompt_form import PromptForm
from studio.text.segmentation import Pause, Sentence, prepare_text
from studio.text.spoken import shown, spoken_transcript
from studio.voices.clip_check import MAX_SECONDS, check_prompt_clip
from studio.worker import protocol
from studio.worker.normalization import ApproximateTokenizer
from studio.worker.protocol import Event

if TYPE_CHECKING:
    from studio.remote.triton_connection import TritonConnection

REFERENCE_RATE = 16_000
_FEATURES_SUFFIX = ".safetensors"
_KEPT_REFERENCES = 16


class TritonWorker(RemoteWorker):
    """The Triton server at ``server``, whose ``model`` speaks."""

    def __init__(self, server: ServerAddress) -> None:
        super().__init__(server)
        self._triton: TritonConnection | None = None

    async def _disconnect(self) -> None:
        connection, self._triton = self._triton, None
        if connection is not None:
            await connection.close()

    def _connect_triton(self) -> TritonConnection:
        if self._triton is None:
            from studio.remote.triton_connection import TritonConnection  # noqa: PLC0415 - slow to import

            self._triton = TritonConnection(self._server, self._server.token())
        return self._triton

    async def _answer(self, command: protocol.RequestCommand) -> Event:
        match command:
            case protocol.Load(request_id):
                await self._disconnect()  # the token may have changed
                if not await self._connect_triton().speaks(self._server.model):
                    raise NotOnServer(
                        "{host} has no model {model} that speaks.",
                        remedy="Test the connection again, and choose another model.",
                        host=self._server.host,
                        model=self._server.model,
                    )
                return protocol.Ready(request_id, describe(self._server))
            case protocol.Synthesize(request_id, request):
                return await self._speak(request_id, request)
            case protocol.PrepareVoice(request_id, voice):
                reference, _ = await asyncio.to_thread(self._prompt, voice)
                return protocol.VoiceReady(request_id, VoiceSummary(voice.name, reference.size / REFERENCE_RATE, 0, 0))
            case protocol.NormalizeText(request_id, text):
                items = await asyncio.to_thread(self._items, text, normalize=True)
                spoken = "".join(item.spoken if isinstance(item, Sentence) else item.written for item in items)
                return protocol.NormalizedText(request_id, spoken.strip())
        raise self._impossible()

    def _impossible(self) -> NotOnServer:
        return NotOnServer(
            "{host} runs Triton, which has neither styles nor conversion of recordings.",
            remedy="Choose the default style, or use a model of this computer.",
            host=self._server.host,
        )

    @property
    def _form(self) -> PromptForm:
        return (COSYVOICE3 if "3" in self._server.model else COSYVOICE2).text

    def _items(self, text: str, *, normalize: bool) -> list[Sentence | Pause]:
        return prepare_text(text, form=self._form, tokenizer=ApproximateTokenizer(), normalize=normalize)

    def _prompt(self, voice: VoiceReference) -> tuple[Samples, str]:
        """Return the recording at ``REFERENCE_RATE`` and the transcript as spoken.

        Raise ``NotOnServer`` and the errors of ``read_audio`` and ``check_prompt_clip``.
        """
        if voice.clip.suffix == _FEATURES_SUFFIX or not (voice.transcript or "").strip():
            raise NotOnServer(
                "{host} runs Triton, which needs a recording and its transcript; {voice} lacks one.",
                remedy="Add the transcript to the voice, or choose another voice.",
                host=self._server.host,
                voice=voice.name or voice.clip.name,
            )
        reference = _reference(voice.clip, self._hashes.of(voice.clip))
        return reference, shown(spoken_transcript(voice.transcript or "", self._form.tags))

    async def _speak(self, request_id: int, request: SynthesisRequest) -> Event:
        if request.preset is not None or request.instruct is not None:
            raise self._impossible()
        began = time.perf_counter()
        items = await asyncio.to_thread(self._items, request.text, normalize=not request.text_is_normalized)
        reference, transcript = await asyncio.to_thread(self._prompt, request.voice)
        connection = self._connect_triton()
        stretch = TimeStretch(request.speed, SAMPLE_RATE)
        first_audio: float | None = None
        num_samples = 0

        def put(samples: Samples, index: int) -> None:
            nonlocal first_audio, num_samples
            if samples.size:
                first_audio = time.perf_counter() - began if first_audio is None else first_audio
                num_samples += samples.size
                self._events.put(protocol.AudioReady(request_id, AudioChunk(samples, SAMPLE_RATE, index, len(items))))

        for index, item in enumerate(items):
            if isinstance(item, Pause):
                put(stretch.process(np.zeros(round(item.seconds * SAMPLE_RATE * request.speed), np.float32)), index)
                continue
            attempts = LineAttempts(
                self._server.host, request_id, self._events.put, if_different=wording("closed the connection")
            )

            async def attempt(
                text: str = item.spoken.strip(), index: int = index, own: LineAttempts = attempts
            ) -> None:
                async with contextlib.aclosing(connection.speak(reference, transcript, text)) as stream:
                    async for samples in stream:
                        if (rest := own.audio.unheard(AudioChunk(samples, SAMPLE_RATE))) is not None:
                            put(stretch.process(rest.samples), index)

            await attempts.run(attempt)
            if attempts.audio.is_empty:
                raise NoSpeechMade("{host} sent no audio.", remedy="Try again.", host=self._server.host)
        put(stretch.finish(), len(items) - 1)
        report = SynthesisReport(
            first_audio_seconds=first_audio or 0.0,
            audio_seconds=num_samples / SAMPLE_RATE,
            total_seconds=time.perf_counter() - began,
            sample_rate=SAMPLE_RATE,
            mode=Mode.ZERO_SHOT,
            num_speech_tokens=0,
            stages={},
            engine={},
            spoken_text=tuple(item.spoken.strip() for item in items if isinstance(item, Sentence)),
        )
        return protocol.Finished(request_id, report)


@lru_cache(maxsize=_KEPT_REFERENCES)
def _reference(clip: Path, sha256: str) -> Samples:  # noqa: ARG001 - the hash is part of the key
    waveform = read_audio(clip, longest_seconds=2 * MAX_SECONDS)
    check_prompt_clip(waveform)
    return waveform.resampled(REFERENCE_RATE).samples
