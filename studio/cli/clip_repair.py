"""`timbre voices passages` and `timbre voices repair`: find the best part of a recording, and clean it if that helps."""

from __future__ import annotations

import argparse
import contextlib
import json
from pathlib import Path
from typing import Any

import soundfile

from studio.audio.files import read_audio
from studio.cli.command_context import CommandContext
from studio.cli.numbers import positive
from studio.cli.options import Actions, add_engine_options, add_model_option, engine_options, model_folder
from studio.cli.progress import ProgressLine, print_message
from studio.cli.speaking import run_until_cancelled
from studio.messages import printable
from studio.take_checks.clip_repair import (
    Candidate,
    Origin,
    Repair,
    Survey,
    Trial,
    add_repaired_voice,
    list_candidates,
    require_recording,
    survey,
    try_candidates,
)
from studio.take_checks.service import TakeCheckService
from studio.text.language import detect_language
from studio.voices.best_segment import cut_prompt
from studio.voices.library import Voice
from studio.voices.permission import require_permission
from studio.worker.client import WorkerClient

# A higher rate does not improve a voice, and an hour of it would take gigabytes of memory.
_MAX_RATE = 48_000
_ORIGINS = {Origin.AS_IS: "as it is", Origin.CLEANED: "cleaned", Origin.PASSAGE: "another passage"}


def add_actions(actions: Actions) -> None:
    passages = actions.add("passages", _passages, "list the best passages of one speaker in a long recording")
    passages.add_argument("recording", type=Path, metavar="RECORDING", help="a recording of any length")
    passages.add_argument("--count", type=positive, default=5, metavar="N", help="number of passages (default 5)")
    passages.add_argument(
        "--write", type=Path, metavar="FOLDER", help="write each passage as a WAV file, for `timbre voices add`"
    )
    repair = actions.add("repair", _repair, "add a voice of the repaired clip, if its speech is better", "NAME")
    repair.add_argument("--write", type=Path, metavar="FOLDER", help="write the spoken sentences as WAV files")
    add_engine_options(repair)
    for parser in (passages, repair):
        parser.add_argument(
            "--speaker",
            type=positive,
            default=1,
            metavar="N",
            help="number of the speaker, in order of speaking time (default 1)",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        add_model_option(parser)


def _passages(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    recording = read_audio(arguments.recording, highest_rate=_MAX_RATE)
    with contextlib.closing(command_context.open_checks()) as checks:
        folder = model_folder(arguments.model)
        found = survey(recording, checks, folder, speaker=arguments.speaker, count=arguments.count)
    if arguments.write:
        arguments.write.mkdir(parents=True, exist_ok=True)
        for number, passage in enumerate(found.passages, 1):
            clip = cut_prompt(recording, passage.window)
            soundfile.write(
                arguments.write / f"{arguments.recording.stem} {number}.wav", clip.samples, clip.sample_rate
            )
    if arguments.json:
        print(json.dumps(_survey_json(found), ensure_ascii=False))
        return 0
    _print_speakers(found)
    for number, passage in enumerate(found.passages, 1):
        window = passage.window
        print(
            f"{number:>3}  {_clock(window.start_seconds)} to {_clock(window.end_seconds)}  "
            f"{window.seconds:4.1f} s  {passage.grade.value}"
        )
    return 0


def _repair(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    library = command_context.open_library()
    voice = library.get(arguments.name)
    require_recording(voice)
    require_permission(voice)
    recording = read_audio(voice.clip)
    folder = model_folder(arguments.model)
    added: Voice | None = None
    with contextlib.closing(command_context.open_checks()) as checks:
        found = survey(recording, checks, folder, speaker=arguments.speaker)
        comparison = _SpeechComparison(checks, folder, voice, arguments, command_context)
        run_until_cancelled(comparison.run(list_candidates(recording, found)))
        repair = comparison.repair
        if repair.offered is not None:
            name = f"{voice.name} repaired"
            added = add_repaired_voice(library, voice, repair.offered.candidate, checks, name)
    if arguments.write:
        _write_speech(repair, arguments.write)
    if arguments.json:
        print(json.dumps(_repair_json(voice, found, repair, added), ensure_ascii=False))
    else:
        _print_repair(voice, found, repair, added)
    return 0


class _SpeechComparison:
    """Comparison of the speech of candidates. ``run`` sets ``repair``."""

    repair: Repair

    def __init__(
        self,
        checks: TakeCheckService,
        folder: Path,
        voice: Voice,
        arguments: argparse.Namespace,
        command_context: CommandContext,
    ) -> None:
        self._checks = checks
        self._folder = folder
        self._voice = voice
        self._arguments = arguments
        self._context = command_context

    async def run(self, candidates: list[Candidate]) -> None:
        progress = ProgressLine()
        client = WorkerClient(
            self._folder, engine_options(self._arguments, self._folder), start_worker=self._context.start_worker
        )
        async with client:
            try:
                self.repair = await try_candidates(
                    candidates,
                    self._checks,
                    self._folder,
                    client.synthesize,
                    transcript=self._voice.transcript,
                    language=self._voice.language or detect_language(self._voice.transcript or "").value,
                    on_progress=lambda done, total: progress.show(f"sentence {done} of {total}"),
                )
            finally:
                progress.clear()


def _write_speech(repair: Repair, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, trial in enumerate(repair.trials, 1):
        for sentence, spoken in enumerate(trial.spoken, 1):
            path = folder / f"{number} {trial.candidate.origin.value} {sentence}.wav"
            soundfile.write(path, spoken.waveform.samples, spoken.waveform.sample_rate)


def _print_speakers(found: Survey) -> None:
    if len(found.speakers) > 1:
        heard = ", ".join(f"{number}: {each.seconds:.0f} s" for number, each in enumerate(found.speakers, 1))
        print_message(f"speakers in the best parts: {heard}. Choose one with --speaker.")


def _print_repair(voice: Voice, found: Survey, repair: Repair, added: Voice | None) -> None:
    _print_speakers(found)
    if len(repair.trials) == 1:
        print_message(f"The recording of {voice.name} has no fault that can be repaired.")
        return
    for trial in repair.trials:
        print(_in_words(trial, is_offered=trial is repair.offered))
    if added is None:
        print_message(f"No candidate gives better speech. {voice.name} is unchanged.")
        return
    print_message(f"added {printable(added.name)}: {added.clip_seconds:.1f} s. {voice.name} is unchanged.")
    if added.transcript and added.transcript != voice.transcript:
        print_message("The transcript was recognised. Correct it with `timbre voices edit`:")
        print(printable(added.transcript))


def _in_words(trial: Trial, *, is_offered: bool) -> str:
    candidate = trial.candidate
    steps = f" ({', '.join(step.value for step in candidate.steps)})" if candidate.steps else ""
    similarity = "unknown" if trial.similarity is None else f"{trial.similarity:.3f}"
    faulty = f", {trial.num_faulty} of {len(trial.verdicts)} sentences with problems" if trial.num_faulty else ""
    mark = "  <- added" if is_offered else ""
    return f"similarity {similarity}  {_ORIGINS[candidate.origin]}{steps}{faulty}{mark}"


def _survey_json(found: Survey) -> dict[str, Any]:
    return {
        "speakers": [{"seconds": round(each.seconds, 2)} for each in found.speakers],
        "passages": [
            {
                "from_seconds": round(each.window.start_seconds, 3),
                "to_seconds": round(each.window.end_seconds, 3),
                "quality": each.grade.value,
            }
            for each in found.passages
        ],
    }


def _repair_json(voice: Voice, found: Survey, repair: Repair, added: Voice | None) -> dict[str, Any]:
    return {
        "voice": voice.name,
        **_survey_json(found),
        "candidates": [
            {
                "origin": trial.candidate.origin.value,
                "from_seconds": round(trial.candidate.window.start_seconds, 3),
                "to_seconds": round(trial.candidate.window.end_seconds, 3),
                "steps": [step.value for step in trial.candidate.steps],
                "similarity": None if trial.similarity is None else round(trial.similarity, 4),
                "verdicts": [verdict.value for verdict in trial.verdicts],
                "is_offered": trial is repair.offered,
            }
            for trial in repair.trials
        ],
        "added": None if added is None else added.name,
    }


def _clock(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60.0)
    return f"{int(minutes):>3}:{rest:04.1f}"
