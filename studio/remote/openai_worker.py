"""A speech server with OpenAI's speech API as a worker. It uses its own voices."""

from __future__ import annotations

import httpx2

from studio.errors import NotOnServer
from studio.messages import message
from studio.pipeline.request import Mode, SynthesisRequest, VoiceReference, VoiceSummary
from studio.remote import openai_wire
from studio.remote.line_request import line_lost
from studio.remote.other_worker import OtherSpeech, OtherWorker


class OpenAiWorker(OtherWorker):
    """A worker on ``server``, with its ``model`` and ``voice``.

    A line is requested once, because requests may be paid.
    """

    async def _check_model(self) -> None:
        await self._ask("GET", openai_wire.MODELS_PATH)

    async def _speak(self, request: SynthesisRequest, speech: OtherSpeech) -> None:
        if request.preset is not None:
            raise self._impossible()
        connection = self._connect()
        body = openai_wire.speech_body(request, self._server)
        try:
            async with connection.stream(openai_wire.SPEECH_PATH, json=body) as answer:
                if not answer.headers.get("content-type", "").startswith(openai_wire.AUDIO_TYPES):
                    raise connection.unknown_answer()
                async for samples in openai_wire.read_samples(answer.aiter_bytes(), answer.headers):
                    speech.put(samples)
        except httpx2.TransportError as error:
            if speech.num_samples:
                raise line_lost(self._server.host, message("closed the connection")) from error
            raise connection.unreachable(error) from error
        except ValueError as error:
            raise NotOnServer(
                "{host} sends audio that is not 16-bit mono.",
                remedy="Choose another model of the server.",
                host=self._server.host,
            ) from error
        speech.spoken_text.append(request.text)

    async def _prepare_voice(self, voice: VoiceReference) -> VoiceSummary:
        return VoiceSummary(voice.name, 0.0, 0, 0)

    async def _spell_out(self, text: str, language: str) -> str:  # noqa: ARG002 - the server reads the text
        return text

    def _mode(self, request: SynthesisRequest) -> Mode:
        return Mode.INSTRUCT if request.instruct else Mode.SPEAKER

    def _impossible(self) -> NotOnServer:
        return NotOnServer(
            "{host} supports neither the styles of this program nor voice conversion.",
            remedy="Describe the style in your own words, or use a model of this computer.",
            host=self._server.host,
        )
