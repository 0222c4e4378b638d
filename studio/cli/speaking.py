"""Speech of `say` and `convert`: the request, its delivery, and its summary as text and as JSON."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from studio.audio.files import AudioWriter
from studio.audio.resampling import Samples
from studio.audio.waveform import Waveform
from studio.catalog.language_check import language_error, models_speaking, unlearned_language
from studio.cli.checks import check_warning, line_check_values
from studio.cli.command_context import CommandContext
from studio.cli.delivery import Destination, OutputResult, OutputSink, choose_destination
from studio.cli.options import engine_options
from studio.cli.pipe_writer import STANDARD_OUTPUT
from studio.cli.progress import ProgressLine
from studio.cli.signing import is_marked, open_signer
from studio.errors import StudioError
from studio.export.line_checks import LineCheck, LineRetries, UtteredLine
from studio.export.provenance import licence_of_model
from studio.model.options import Quality
from studio.pipeline.request import (
    AudioChunk,
    EngineDescription,
    FlowQuality,
    LengthFinding,
    LengthVerdict,
    NetworkFigures,
    SynthesisReport,
    SynthesisRequest,
)
from studio.provenance.signing import mark_code
from studio.provenance.statement import MARKED, Statement, hash_text
from studio.take_checks.policy import CheckMode, CheckPolicy
from studio.take_checks.sentences import reason, verdict_name
from studio.text.styles import Styles
from studio.text.tags import KNOWN_TAGS
from studio.worker.client import WorkerClient
from studio.worker.request_handle import Callbacks, RequestHandle

Begin = Callable[[WorkerClient, Callbacks], RequestHandle]
# Prefix of the warnings about implausible lengths in the JSON output.
IMPLAUSIBLE_LENGTH = "implausible-length"
_MAX_QUOTE_LENGTH = 60
# A preparation that takes longer is worth a shorter clip.
_SLOW_VOICE_SECONDS = 20.0
_MAX_NAMED_TEXTS = 8


def run_until_cancelled(work: Coroutine[Any, Any, None]) -> int:
    """Run ``work`` and return the exit status 0. `kill` and Ctrl+C cancel ``work``, so that it can clean up."""

    async def run() -> None:
        task = asyncio.current_task()
        assert task is not None
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        await work

    asyncio.run(run())
    return 0


async def speak(
    arguments: argparse.Namespace,
    folder: Path,
    command_context: CommandContext,
    begin: Begin,
    *,
    begin_again: Begin | None = None,
    needs_speech_lm: bool = True,
    text: str = "",
    checked: CheckedSpeech | None = None,
    statement: Callable[[], Statement],
) -> None:
    """Load the model of ``folder``, start the request and deliver its audio.

    If sentences have an implausible length and were not played, ``begin_again`` starts another request. Warn if the
    model has not learned the language of ``text``. ``statement`` is called at the end for the signed manifest of a file.
    Raise ``StudioError``.
    """
    destination = choose_destination(arguments, command_context)
    line = ProgressLine()
    is_file = destination.path not in (None, STANDARD_OUTPUT)
    signer = await asyncio.to_thread(open_signer, arguments) if is_file else None
    if is_file and is_marked(arguments):
        destination = replace(destination, mark_code=mark_code(signer, hash_text(text), f"{arguments.seed}"))
    warn_of_language(folder.name, {"text": text}, line)
    if sounds := unlearned_sounds(folder, text):
        line.say(f"The model has not learned the sound {', '.join(sounds)}.")
    # What is only played begins at once. A file is spoken by the engine that stays, so that its seed gives it again.
    options = replace(
        engine_options(arguments, folder),
        loads_speech_lm=needs_speech_lm,
        compares_later=destination.is_played and destination.path is None,
    )
    async with WorkerClient(folder, options, start_worker=command_context.start_worker) as client:
        try:
            line.stage("load", 0.0)
            load_started = time.monotonic()
            description = await client.load(on_progress=line.stage)
            load_seconds = time.monotonic() - load_started
            warn_of_noise(description, line)
            line_check: LineCheck | None = None
            if checked is not None:
                delivery = CheckedDelivery(
                    checked,
                    destination,
                    description=description,
                    command_context=command_context,
                    line=line,
                    folder=folder,
                )
                result, line_check = await delivery.deliver(client, begin)
            else:
                sink = OutputSink(destination, description, command_context, line)
                result = await sink.deliver(lambda hooks: begin(client, hooks))
            if checked is None and result.report.odd_lengths and begin_again is not None and not destination.is_final:
                line.say("The length of the speech is implausible for its text; trying again.")
                sink = OutputSink(destination, description, command_context, line)
                result = await sink.deliver(lambda hooks: begin_again(client, hooks))
        finally:
            line.clear()
        if signer is not None and destination.path is not None:
            said = _completed(statement(), result, description, line_check, folder)
            said = replace(said, edits=(MARKED,) if destination.mark_code else (), mark_code=destination.mark_code)
            await asyncio.to_thread(signer.sign, destination.path, said)
        for message in (*_summary(result), *_check_summary(line_check)):
            line.say(message)
        if is_file:
            reason = " (no sound device to play it on)" if destination.is_fallback else ""
            line.say(f"wrote {destination.path}{reason}")
        if arguments.json:
            seed = arguments.seed if line_check is None else line_check.seed
            values = _values(result, description, load_seconds=load_seconds, seed=seed, line_check=line_check)
            print(json.dumps(values, ensure_ascii=False), flush=True)
        if description.is_provisional:
            line.say("Choosing the fastest precision, once for this model. This takes less than a minute.")
        await save_voices(client, line)


def _completed(
    statement: Statement,
    result: OutputResult,
    description: EngineDescription,
    line_check: LineCheck | None,
    folder: Path,
) -> Statement:
    """Return ``statement`` about one line with what is known at the end."""
    (line,) = statement.lines
    if line_check is not None:
        line = replace(line, seed=line_check.seed, verdict=line_check.check.verdict.value)
    return replace(statement, lines=(line,)).completed(
        result.report, description, licence=licence_of_model(folder), audio_sha256=result.audio_sha256
    )


@dataclass(frozen=True, slots=True)
class CheckedSpeech:
    """A request whose takes are checked by ``policy``.

    If the text arrives during synthesis, ``arrived`` contains its pieces at the end.
    """

    request: SynthesisRequest
    policy: CheckPolicy
    arrived: Sequence[str] = ()


class CheckedDelivery:
    """Delivers the best of several takes. Audio that is played or piped is checked, too, but not spoken again."""

    def __init__(
        self,
        checked: CheckedSpeech,
        destination: Destination,
        *,
        description: EngineDescription,
        command_context: CommandContext,
        line: ProgressLine,
        folder: Path,
    ) -> None:
        self._request = checked.request
        self._arrived = checked.arrived
        self._policy = replace(checked.policy, mode=CheckMode.MARK) if destination.is_final else checked.policy
        self._destination = destination
        self._description = description
        self._context = command_context
        self._line = line
        self._folder = folder

    async def deliver(self, client: WorkerClient, begin: Begin) -> tuple[OutputResult, LineCheck]:
        """Use ``begin`` for the first take. The audio of the best one is in the file at the end."""
        results: dict[int, OutputResult] = {}

        async def speak(seed: int) -> UtteredLine:
            is_first, chunks = not results, list[Samples]()
            if not is_first:
                self._line.say("The check found problems; trying again.")

            def start(hooks: Callbacks) -> RequestHandle:
                hooks = _recorded(hooks, chunks)
                if is_first:
                    return begin(client, hooks)
                return client.synthesize(replace(self._spoken(seed), is_played=False), hooks=hooks)

            sink = OutputSink(self._destination, self._description, self._context, self._line)
            result = results[seed] = await sink.deliver(start)
            samples = np.concatenate([np.zeros(0, np.float32), *chunks])
            return UtteredLine(self._spoken(seed), Waveform(samples, result.report.sample_rate), result.report)

        queue = self._context.open_checks()
        try:
            self._line.stage("check", 0.0)
            best, check = await LineRetries(queue, self._policy, self._folder).speak(self._request.seed, speak)
        finally:
            queue.close()
        if check.seed != next(reversed(results)) and self._destination.path is not None:
            # the file contains the last take
            await asyncio.to_thread(_write, self._destination, best.waveform)
        return results[check.seed], check

    def _spoken(self, seed: int) -> SynthesisRequest:
        """Return the request of a take, with its whole text."""
        return replace(self._request, seed=seed, text="".join(self._arrived) or self._request.text)


def _recorded(hooks: Callbacks, chunks: list[Samples]) -> Callbacks:
    def on_audio(chunk: AudioChunk) -> None:
        chunks.append(np.array(chunk.samples, np.float32))
        if hooks.on_audio is not None:
            hooks.on_audio(chunk)

    return replace(hooks, on_audio=on_audio)


def _write(destination: Destination, waveform: Waveform) -> None:
    writer = destination.open_writer(waveform.sample_rate)
    assert isinstance(writer, AudioWriter)
    with writer:
        writer.write(waveform.samples)


async def save_voices(client: WorkerClient, line: ProgressLine) -> None:
    """Save prompts of new voices and compare precisions for the next command. Ctrl+C abandons both."""
    try:
        await client.finish_writes(on_progress=line.stage)
    finally:
        line.clear()


def warn_of_noise(description: EngineDescription, line: ProgressLine) -> None:
    if description.makes_noise:
        line.say(
            f"{description.model_name} produces noise instead of speech: its weights are random. "
            "For speech, give a folder of released weights with --model."
        )


def warn_of_language(model_name: str, texts: Mapping[str, str], line: ProgressLine) -> None:
    """Warn of texts in a language that the model has not learned.

    Keys are the names of the texts; a single text needs no name.
    """
    languages = {name: unlearned_language(model_name, text) for name, text in texts.items()}
    foreign = {name: language for name, language in languages.items() if language is not None}
    if not foreign:
        return
    names = list(foreign)[:_MAX_NAMED_TEXTS]
    if len(foreign) > len(names):
        names.append(f"{len(foreign) - len(names)} more")
    where = f": {', '.join(names)}" if len(texts) > 1 else ""
    line.say(f"{language_error(model_name).problem} Speech in another language is unintelligible{where}.")
    helpful = models_speaking(set(foreign.values()))
    if helpful:
        line.say(f"For this language: `timbre models install {helpful[0].name}`, then --model {helpful[0].name}.")


def unlearned_sounds(folder: Path, text: str) -> tuple[str, ...]:
    """Return the tags of sounds in ``text``, such as ``[laughter]``, that the model in ``folder`` has not learned."""
    if not (any(tag in text for tag in KNOWN_TAGS) and folder.is_dir()):  # else a server, whose sounds are unknown
        return ()
    styles = _read_styles(folder)
    return () if styles is None else styles.unlearned_sounds(text)


def followed_instruction(instruction: str | None, folder: Path) -> str | None:
    """Return ``instruction``, or None after a warning if the model in ``folder`` does not follow it."""
    styles = _read_styles(folder) if instruction and folder.is_dir() else None
    if instruction is None or styles is None or styles.understands(instruction):
        return instruction
    ProgressLine().say(
        f"{folder.name} does not follow instructions in your own words. The text is spoken without style. "
        "`timbre styles` lists the styles of the model."
    )
    return None


def _read_styles(folder: Path) -> Styles | None:
    """Return the styles of a model, or None if they cannot be read, which is reported when the model is loaded."""
    from studio.catalog.model_styles import styles_of_model  # noqa: PLC0415 - most texts do not need it
    from studio.model.generations import detect_generation  # noqa: PLC0415

    try:
        return styles_of_model(detect_generation(folder)[0].name, folder)
    except StudioError:
        return None


def _summary(result: OutputResult) -> list[str]:
    """Return the warnings, the measurements, and the number of dropouts, if any."""
    report = result.report
    lines = [f"voice: {warning}" for warning in report.warnings]
    lines += map(odd_length_text, report.odd_lengths)
    lines += [
        f"{report.audio_seconds:.2f} s of speech in {report.total_seconds:.2f} s "
        f"(real-time factor {report.real_time_factor:.2f}), first sound after {report.first_audio_seconds:.2f} s"
        + _network_text(report),
        *_network_summary(report.network),
        " · ".join(f"{name} {seconds:.2f} s" for name, seconds in report.stages.items()),
    ]
    lines += [] if (quality := quality_text(report.quality)) is None else [quality]
    if not report.voice_was_cached and report.stages.get("voice", 0.0) > _SLOW_VOICE_SECONDS:
        lines.append("`timbre voices shorten` adds a voice of the best 4 seconds of a clip, which is prepared faster.")
    if result.num_underruns:
        lines.append(f"dropouts during playback: {result.num_underruns}")
    return lines


def quality_text(quality: FlowQuality) -> str | None:
    """Return how a reduced quality differs from the exact one, as measured on this computer."""
    if quality.quality is Quality.EXACT:
        return None
    return (
        f"quality {quality.quality.value}: {quality.distortion_db:.2f} dB from exact; "
        f"the flow takes {quality.relative_seconds:.0%} of its time"
    )


def _network_text(report: SynthesisReport) -> str:
    if report.network_seconds is None:
        return ""
    return f" (network {report.network_seconds:.3f} s, queue {report.queue_seconds or 0.0:.3f} s)"


def _network_summary(network: NetworkFigures | None) -> list[str]:
    if network is None:
        return []
    return [
        f"remote real-time factor {network.real_time_factor:.2f}; the network delayed later audio by up to "
        f"{network.delay_seconds:.3f} s"
    ]


def odd_length_text(finding: LengthFinding) -> str:
    """Return a warning about a sentence whose speech is too short or too long for its text."""
    text = finding.spoken_text
    quote = text if len(text) <= _MAX_QUOTE_LENGTH else text[: _MAX_QUOTE_LENGTH - 1].rstrip() + "…"
    comparison = "longer" if finding.verdict is LengthVerdict.TOO_LONG else "shorter"
    return f"“{quote}” is {comparison} than plausible; listen to it, or choose another --seed."


def _check_summary(line: LineCheck | None) -> list[str]:
    """Return the verdict, with the number of retries if there were any."""
    if line is None:
        return []
    retries = f" after {line.num_retries} {'retry' if line.num_retries == 1 else 'retries'}" if line.num_retries else ""
    return [f"check: {verdict_name(line.check)}{retries}. {reason(line.check)}"]


def quality_values(quality: FlowQuality) -> dict[str, Any]:
    return {
        "name": quality.quality.value,
        "distance_db": quality.distortion_db,
        "relative_flow_seconds": quality.relative_seconds,
    }


def _values(
    result: OutputResult,
    description: EngineDescription,
    *,
    load_seconds: float,
    seed: int,
    line_check: LineCheck | None,
) -> dict[str, Any]:
    """Return the values of the JSON output. Keys are never removed or renamed."""
    report = result.report
    warning = None if line_check is None else check_warning(line_check.check)
    return {
        "first_audio_seconds": report.first_audio_seconds,
        "network_seconds": report.network_seconds,
        "queue_seconds": report.queue_seconds,
        "server_real_time_factor": report.network.real_time_factor if report.network else None,
        "network_delay_seconds": report.network.delay_seconds if report.network else None,
        "audio_seconds": report.audio_seconds,
        "total_seconds": report.total_seconds,
        "real_time_factor": report.real_time_factor,
        "sample_rate": report.sample_rate,
        "stages": report.stages,
        "engine": {"device": description.device, **report.engine},
        "notes": list(description.notes),
        "model": {
            "name": description.model_name,
            "generation": description.generation,
            "folder": description.folder,
            "makes_noise": description.makes_noise,
        },
        "load_seconds": load_seconds,
        "mode": report.mode.value,
        "quality": quality_values(report.quality),
        "seed": seed,
        "num_speech_tokens": report.num_speech_tokens,
        "speculation": None,  # of earlier versions
        "spoken_text": list(report.spoken_text),
        "warnings": [
            *report.warnings,
            *(f"{IMPLAUSIBLE_LENGTH}: {odd_length_text(odd)}" for odd in report.odd_lengths if line_check is None),
            *([] if warning is None else [": ".join(warning)]),
        ],
        "output": str(result.output) if result.output else None,
        "promised_start_seconds": result.promised_start_seconds,
        "play_start_seconds": result.play_start_seconds,
        "underruns": result.num_underruns,
        "check": None if line_check is None else line_check_values(line_check),
    }
