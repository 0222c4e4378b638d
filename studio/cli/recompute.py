"""Speaks the lines of manifests again, for `timbre inspect --recompute`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from studio.audio.resampling import Samples
from studio.audio.waveform import Waveform
from studio.cli.command_context import CommandContext
from studio.cli.old_options import PRECISIONS
from studio.cli.options import engine_options, model_folder, voice_reference
from studio.cli.progress import ProgressLine
from studio.errors import StudioError
from studio.pipeline.request import AudioChunk, EngineOptions, SynthesisReport, SynthesisRequest, VoiceReference
from studio.project.importing.text_file import read_text
from studio.provenance.inspection import Inspection, ManifestState
from studio.provenance.recorded_speech import (
    Match,
    compare,
    contains_take,
    read_speech,
    repeated_edits,
    repeated_request,
    texts_by_hash,
)
from studio.provenance.statement import SpokenLine, Statement, hash_file, hash_text
from studio.worker.client import WorkerClient
from studio.worker.request_handle import Callbacks

_MAX_PATH = 1_000


@dataclass(frozen=True, slots=True)
class Comparison:
    """A line of a manifest that was spoken again. ``reason`` says why it was not, or which engines differ."""

    number: int
    match: Match
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Recomputed:
    """The lines of one file. ``contains_take`` is whether its audio is exactly the take of its only line, if known."""

    lines: tuple[Comparison, ...]
    contains_take: bool | None = None
    edits: tuple[str, ...] = ()

    @property
    def is_different(self) -> bool:
        return self.contains_take is False or any(line.match is Match.DIFFERENT for line in self.lines)

    def as_json(self) -> dict[str, Any]:
        """Return the values of the JSON output. Keys are never removed or renamed."""
        return {
            "lines": [
                {"line": line.number, "state": line.match.value, "reason": line.reason or None} for line in self.lines
            ],
            "contains_take": self.contains_take,
        }


class _NotComparable(Exception):
    """The reason why a line cannot be compared, as a sentence."""


async def recompute(
    found: Sequence[Inspection], arguments: argparse.Namespace, command_context: CommandContext
) -> list[Recomputed]:
    """Speak the lines of each file again. Raise ``UnreadableScript`` if ``--text`` cannot be read."""
    given = [] if arguments.text is None else [_given_text(arguments.text)]
    async with AsyncExitStack() as stack:
        speaker = _Speaker(arguments, command_context, stack)
        return [await _recompute_file(each, given, speaker) for each in found]


def _given_text(text: str) -> str:
    return read_text(Path(text), allows_pipe=True) if len(text) < _MAX_PATH and Path(text).exists() else text


async def _recompute_file(found: Inspection, given: Sequence[str], speaker: _Speaker) -> Recomputed:
    speech = None if found.speech is None else read_speech(found.speech)
    if found.state is not ManifestState.VALID or speech is None:
        reason = "Only a valid manifest of this program can be recomputed."
        return Recomputed((Comparison(0, Match.NOT_COMPARED, reason),))
    texts = texts_by_hash([*given, found.tags.get("title", "")])
    lines, exact = [], None
    for number, line in enumerate(speech.lines, 1):
        try:
            compared, take = await speaker.compare(number, line, speech, texts)
        except (_NotComparable, StudioError) as error:
            compared, take = Comparison(number, Match.NOT_COMPARED, str(error)), None
        lines.append(compared)
        if take is not None and len(speech.lines) == 1 and compared.match is Match.IDENTICAL:
            exact = contains_take(found.path, take, speech.edits, speech.mark_code)
    return Recomputed(tuple(lines), exact, speech.edits)


class _Speaker:
    """Speaks lines again. Models stay loaded until ``stack`` ends."""

    def __init__(self, arguments: argparse.Namespace, command_context: CommandContext, stack: AsyncExitStack) -> None:
        self._arguments = arguments
        self._context = command_context
        self._stack = stack
        self._clients: dict[tuple[Path, EngineOptions], WorkerClient] = {}
        self._line = ProgressLine()

    async def compare(
        self, number: int, line: SpokenLine, speech: Statement, texts: Mapping[str, str]
    ) -> tuple[Comparison, Waveform]:
        """Return the result, and the new take. Raise ``_NotComparable`` and ``StudioError``."""
        if not line.audio_sha256:
            raise _NotComparable("The manifest contains no hash of the speech.")
        if line.text_sha256 == hash_text(""):
            raise _NotComparable("It is a converted recording, which the manifest does not contain.")
        text = texts.get(line.text_sha256)
        if text is None:
            raise _NotComparable("The manifest contains only a hash of the text; give the text with --text.")
        edits = repeated_edits(line)
        folder = model_folder(self._arguments.model or speech.model)
        request = repeated_request(line, text, self._voice(line, folder))
        if request is None or edits is None:
            raise _NotComparable("This version cannot repeat the settings or edits in the manifest.")
        client = await self._client(folder, speech)
        self._line.show(f"line {number} of {len(speech.lines)}")
        try:
            waveform, report = await _spoken(client, request)
        finally:
            self._line.clear()
        take = Waveform(edits.apply(waveform.samples, waveform.sample_rate), waveform.sample_rate)
        match = compare(line, take, report.evidence)
        reason = "" if match is Match.IDENTICAL else _differences(speech.engine, report.engine)
        return Comparison(number, match, reason), take

    def _voice(self, line: SpokenLine, folder: Path) -> VoiceReference:
        """Return the voice with the same recording as that of ``line``."""
        library = self._context.open_library()
        if self._arguments.voice is not None:
            voice = voice_reference(self._arguments.voice, self._arguments.transcript, library, folder)
        else:
            own = next((each for each in library.voices() if hash_file(each.clip) == line.voice_sha256), None)
            if own is None:
                raise _NotComparable(f"The recording of the voice {line.voice} is not here; give it with --voice.")
            voice = VoiceReference(own.clip, own.transcript, own.name)
        if line.voice_sha256 not in ("", hash_file(voice.clip)):
            raise _NotComparable(f"The voice {line.voice} had another recording.")
        if line.transcript_sha256 not in ("", hash_text(voice.transcript or "")):
            raise _NotComparable(f"The voice {line.voice} had another transcript; give it with --transcript.")
        return voice

    async def _client(self, folder: Path, speech: Statement) -> WorkerClient:
        """Return the loaded model, in the precisions of the manifest unless others are chosen."""
        options = engine_options(self._arguments, folder)
        if self._arguments.precision is None:
            options = replace(options, speech_lm_precision=_precision(speech, "speech_lm", options.speech_lm_precision))
        if self._arguments.flow_precision is None:
            options = replace(options, flow_precision=_precision(speech, "flow", options.flow_precision))
        client = self._clients.get((folder, options))
        if client is None:
            client = await self._stack.enter_async_context(
                WorkerClient(folder, options, start_worker=self._context.start_worker)
            )
            self._clients[folder, options] = client
        try:
            await client.load(on_progress=self._line.stage)
        finally:
            self._line.clear()
        return client


def _precision(speech: Statement, stage: str, otherwise: str) -> str:
    """Return the precision in which a stage ran, by its description."""
    description = speech.engine.get(stage, "")
    return next((each for each in PRECISIONS if each in description.split()), otherwise)


def _differences(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the stages that ran with other engines than here."""
    different = [name for name in now if before.get(name, now[name]) != now[name]]
    return "; ".join(f"{name} ran with {before[name]}, here with {now[name]}" for name in different)


async def _spoken(client: WorkerClient, request: SynthesisRequest) -> tuple[Waveform, SynthesisReport]:
    chunks = [np.zeros(0, np.float32)]

    def append(chunk: AudioChunk) -> None:
        chunks.append(chunk.samples)

    async with client.synthesize(request, hooks=Callbacks(on_audio=append)) as running:
        report = await running.finished()
    assert report is not None  # nothing cancels it
    samples: Samples = np.concatenate(chunks)
    return Waveform(samples, report.sample_rate), report
