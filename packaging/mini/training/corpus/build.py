"""``train.py corpus``: the speech of both languages that the bundled voice learns from.

With ``--readings``, only what the language model learns from: sounds and F0, in a sixth of the time.

It may be interrupted: the same command continues with the missing shards. Every prefix of the shards is a balanced
corpus, so training can begin with the first hour.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from training.corpus.bundled_voices import PROMPT_VOICES
from training.corpus.plan import SHARD_SECONDS, Job, planned_shards
from training.corpus.rendering import Sounds, Synthesizer, read, rendered
from training.corpus.store import PLAN_FILE, write_readings, write_shard
from training.corpus.texts import Source, english_sources, mandarin_sources
from training.corpus.utterance import CorpusFailed
from training.corpus.voices import VoiceRecipe, voice_recipes
from training.teacher.english import EnglishSounds
from training.teacher.mandarin import MandarinSounds, MandarinText
from training.teacher.network import Teacher

# Readings have other texts than the speech.
_SEED_OF_READINGS = 1000


@dataclass(frozen=True, slots=True)
class BuildOptions:
    corpus: Path
    teacher: Path
    hours: float
    seed: int = 0
    processes: int = 1
    readings: bool = False


def corpus_voices() -> tuple[VoiceRecipe, ...]:
    """Return all voices that read the corpus. The result is always the same."""
    return (*voice_recipes(), *(voice.recipe for voice in PROMPT_VOICES))


class TeacherSounds:
    """The pronunciation of both languages by the lexicons in the teacher's folder."""

    def __init__(self, folder: Path) -> None:
        self._english = {accent: EnglishSounds(folder, accent) for accent in ("us", "gb")}
        self._mandarin = {accent: MandarinSounds(folder, each.phonemes) for accent, each in self._english.items()}

    def english(self, text: str, accent: str) -> str:
        return self._english[accent].phonemes(text)

    def mandarin(self, text: str, accent: str) -> MandarinText:
        return self._mandarin[accent].phonemes(text)


def build(options: BuildOptions) -> None:
    """Create missing shards. Raise ``CorpusFailed`` if the folder was created with other texts or another seed."""
    sources = {"en": english_sources(options.teacher), "zh": mandarin_sources(options.teacher)}
    options.corpus.mkdir(parents=True, exist_ok=True)
    _check_plan(options, sources)
    num_shards = max(1, round(3600.0 * options.hours / SHARD_SECONDS))
    seed = options.seed + (_SEED_OF_READINGS if options.readings else 0)
    shards = dict(enumerate(islice(planned_shards(corpus_voices(), sources, seed=seed), num_shards)))
    missing = {number: jobs for number, jobs in shards.items() if not _is_complete(options.corpus, number)}
    print(f"{num_shards} shards, {len(missing)} to make", file=sys.stderr, flush=True)
    if options.processes == 1:
        _make(options, missing)
        return
    context = multiprocessing.get_context("spawn")
    # In turns, so that the first shards are complete first.
    parts = [dict(list(missing.items())[process :: options.processes]) for process in range(options.processes)]
    workers = [context.Process(target=_make, args=(options, part)) for part in parts]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise CorpusFailed("A process failed. See its message above, then run the same command to continue.")


def make_shard(
    corpus: Path, number: int, jobs: Sequence[Job], synthesizer: Synthesizer, sounds: Sounds, *, seed: int
) -> float:
    """Write the shard ``number`` and return its seconds."""
    voices = {voice.name: voice for voice in corpus_voices()}
    random = np.random.default_rng([seed, number])
    recordings = [
        recording
        for job in jobs
        if (recording := rendered(job, voices[job.voice], synthesizer, sounds, random)) is not None
    ]
    write_shard(corpus, shard_name(number), recordings, voices)
    return sum(len(recording.samples) for recording in recordings) / 24_000


def make_readings(folder: Path, number: int, jobs: Sequence[Job], synthesizer: Synthesizer, sounds: Sounds) -> float:
    """Write the shard ``number`` of readings and return its seconds."""
    voices = {voice.name: voice for voice in corpus_voices()}
    readings = [reading for job in jobs if (reading := read(job, voices[job.voice], synthesizer, sounds)) is not None]
    write_readings(folder, shard_name(number), readings, voices)
    return sum(len(reading.f0_hz) for reading in readings) / 50.0


def shard_name(number: int) -> str:
    return f"shard-{number:05d}"


def _make(options: BuildOptions, shards: dict[int, list[Job]]) -> None:
    teacher, sounds = Teacher(options.teacher), TeacherSounds(options.teacher)
    for number, jobs in shards.items():
        cpu, started = time.process_time(), time.monotonic()
        if options.readings:
            seconds = make_readings(options.corpus, number, jobs, teacher, sounds)
        else:
            seconds = make_shard(options.corpus, number, jobs, teacher, sounds, seed=options.seed)
        cost = (time.process_time() - cpu) / seconds
        print(
            f"shard {number}: {seconds:.0f} s of speech, {cost:.2f} CPU seconds a second, "
            f"{(time.monotonic() - started) / seconds:.2f} seconds a second",
            file=sys.stderr,
            flush=True,
        )


def _is_complete(corpus: Path, number: int) -> bool:
    return (corpus / f"{shard_name(number)}.json").exists()


def _check_plan(options: BuildOptions, sources: dict[str, tuple[Source, ...]]) -> None:
    digest = hashlib.sha256()
    digest.update(json.dumps([asdict(source) for each in sources.values() for source in each]).encode())
    digest.update(json.dumps([asdict(voice) for voice in corpus_voices()], default=str).encode())
    plan = {"seed": options.seed, "texts_and_voices": digest.hexdigest()}
    path = options.corpus / PLAN_FILE
    if not path.exists():
        path.write_text(json.dumps(plan) + "\n", "utf-8")
    elif (planned := json.loads(path.read_text("utf-8"))) != plan:
        raise CorpusFailed(
            f"{options.corpus} was begun with --seed {planned['seed']}, or with other texts or voices. "
            "Use the same, or another folder."
        )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py corpus", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpus", type=Path, required=True, help="folder of the speech")
    parser.add_argument("--teacher", type=Path, required=True, help="folder of the teacher: train.py teacher --to")
    parser.add_argument("--hours", type=float, default=18.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--readings", action="store_true", help="without sound, for the language model")
    try:
        build(BuildOptions(**vars(parser.parse_args(arguments))))
    except CorpusFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0
