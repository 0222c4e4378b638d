"""Creation of the corpus: measures every speaker, then synthesizes the shards in one or more processes.

It may be interrupted: the same command continues with the missing shards.
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
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.corpus.phones import LABELS
from training.corpus.plan import Job, planned_shards, planned_word_shards
from training.corpus.rendering import Voice, labels_only, listened_to, rendered
from training.corpus.speakers import SpeakerRecipe, speaker_recipes
from training.corpus.store import write_shard
from training.corpus.texts import read_texts, read_word_sentences
from training.corpus.tokens import PAIRS_FILE, PairTable, shipped_pairs
from training.corpus.utterance import TOKENS_PER_SECOND, CorpusFailed, LabelArray

_PLAN_FILE = "plan.json"
_VOICES_FILE = "voices.json"
# Texts for measuring the usual F0 and level of the speakers.
_CALIBRATION_TEXTS = (
    "We walked along the beach for an hour, and then went home.",
    "Did anyone remember to water the flowers this morning?",
    "Put the yellow boxes on the lower shelf, please.",
)
_PROGRESS_EVERY_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Options of the corpus: ``hours`` of speech, and ``word_hours`` of word lists in separate shards.

    ``first_shards`` limits the number of shards that are created now. None creates all of them.
    """

    corpus: Path
    hours: float = 12.0
    word_hours: float = 0.0
    seed: int = 0
    processes: int = 1
    first_shards: int | None = None


def build(options: BuildOptions) -> None:
    """Create missing shards. Raise ``CorpusFailed`` if the folder was created with other hours or another seed."""
    recipes, texts = speaker_recipes(), read_texts()
    shards = planned_shards(recipes, texts, hours=options.hours, seed=options.seed)
    options.corpus.mkdir(parents=True, exist_ok=True)
    _check_plan(options, shards)
    voices = _voices(options.corpus, recipes)
    if options.word_hours:
        shards += planned_word_shards(recipes, read_word_sentences(), hours=options.word_hours, seed=options.seed)
    missing = [number for number in range(len(shards)) if not (options.corpus / f"{shard_name(number)}.json").exists()]
    missing = [number for number in missing if options.first_shards is None or number < options.first_shards]
    _report(f"{len(shards)} shards, {len(missing)} to make, {len(voices)} speakers")
    if options.processes == 1:
        _make(options, voices, {number: shards[number] for number in missing})
        return
    context = multiprocessing.get_context("spawn")
    workers = []
    for process in range(options.processes):
        part = {number: shards[number] for number in missing[process :: options.processes]}
        workers.append(context.Process(target=_make, args=(options, voices, part)))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise CorpusFailed(
            "A process of the synthesis failed. See its message above, then run the same command to continue."
        )


def choose_pairs(path: Path = PAIRS_FILE, *, num_jobs: int = 2500, hours: float = 12.0, seed: int = 0) -> float:
    """Write the table of the most frequent pairs of the corpus, and return their share of all pairs (0..1).

    Do this only before training: networks trained with one table do not work with another.
    """
    recipes = {recipe.name: recipe for recipe in speaker_recipes()}
    shards = planned_shards(list(recipes.values()), read_texts(), hours=hours, seed=seed)
    jobs = [job for shard in shards for job in shard if recipes[job.speaker].split == "train"][:num_jobs]
    counts = np.zeros((len(LABELS), len(LABELS)), np.int64)
    for job in jobs:
        _count_pairs(counts, labels_only(job.text, recipes[job.speaker], job.style))
    table = PairTable.of_counts(counts)
    table.write(path)
    shipped_pairs.cache_clear()
    return float(counts[table.pairs[:, 0], table.pairs[:, 1]].sum() / counts.sum())


def shard_name(number: int) -> str:
    return f"shard-{number:04d}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py corpus", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpus", type=Path, required=True, help="folder of the synthetic speech")
    parser.add_argument("--hours", type=float, default=12.0)
    parser.add_argument("--word-hours", type=float, default=0.0, help="additional hours of word lists")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--first-shards", type=int, help="number of planned shards to create now")
    parser.add_argument("--choose-pairs", action="store_true", help="only create the table of token pairs again")
    parsed = parser.parse_args(arguments)
    try:
        if parsed.choose_pairs:
            share = choose_pairs(hours=parsed.hours, seed=parsed.seed)
            print(f"The chosen pairs cover {share:.2%}.")
        else:
            build(
                BuildOptions(
                    corpus=parsed.corpus,
                    hours=parsed.hours,
                    word_hours=parsed.word_hours,
                    seed=parsed.seed,
                    processes=parsed.processes,
                    first_shards=parsed.first_shards,
                )
            )
    except CorpusFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


def _check_plan(options: BuildOptions, shards: list[list[Job]]) -> None:
    digest = hashlib.sha256(repr(shards).encode()).hexdigest()
    plan = {"hours": options.hours, "seed": options.seed, "jobs": digest}
    path = options.corpus / _PLAN_FILE
    if not path.exists():
        path.write_text(json.dumps(plan), encoding="utf-8")
    elif (made := json.loads(path.read_text(encoding="utf-8"))) != plan:
        raise CorpusFailed(
            f"{options.corpus} was started with --hours {made['hours']} --seed {made['seed']}, or with other texts or speakers. "
            "Use the same options, or choose another folder."
        )


def _voices(folder: Path, recipes: list[SpeakerRecipe]) -> dict[str, Voice]:
    """Return all speakers by name. Their measurements are stored in the corpus."""
    path = folder / _VOICES_FILE
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    voices: dict[str, Voice] = {}
    for recipe in recipes:
        described = json.loads(json.dumps(asdict(recipe)))
        heard = known.get(recipe.name)
        if heard is None or heard["recipe"] != described:
            voice = listened_to(recipe, _CALIBRATION_TEXTS)
            heard = {"recipe": described, "median_f0_hz": voice.median_f0_hz, "level_dbfs": voice.level_dbfs}
            known[recipe.name] = heard
        voices[recipe.name] = Voice(recipe, heard["median_f0_hz"], heard["level_dbfs"])
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(known, indent=0), encoding="utf-8")
    unfinished.replace(path)
    return voices


def _make(options: BuildOptions, voices: dict[str, Voice], shards: dict[int, list[Job]]) -> None:
    table = PairTable.read()
    began, said_at, num_tokens = time.monotonic(), time.monotonic(), 0
    for done, (number, jobs) in enumerate(sorted(shards.items())):
        made = []
        for place, job in enumerate(jobs):
            generator = np.random.default_rng([options.seed, number, place])
            utterance, labels = rendered(
                job.text, voices[job.speaker], style=job.style, split=job.split, table=table, generator=generator
            )
            made.append((utterance, labels))
            num_tokens += utterance.num_tokens
            if time.monotonic() - said_at > _PROGRESS_EVERY_SECONDS:
                said_at = time.monotonic()
                speed = num_tokens / TOKENS_PER_SECOND / (said_at - began)
                _report(f"shard {number}, {done} of {len(shards)} done, {speed:.0f} times as fast as speech")
        write_shard(options.corpus, shard_name(number), [each for each, _ in made], [labels for _, labels in made])


def _count_pairs(counts: npt.NDArray[np.int64], labels: LabelArray) -> None:
    # A token may start at any half-frame, so both ways of pairing the half-frames are counted.
    np.add.at(counts, (labels[:-1], labels[1:]), 1)


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
