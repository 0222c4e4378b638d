"""Evaluate a model folder, using the program's own code. Print a table, and write JSON.

    python3 packaging/mini/evaluate.py --model FOLDER --work WORK --teacher TEACHER [--quick] [--only NAME,...]

Sentences and voices were not used in training. Quality and likeness are judged by DNSMOS and Resemblyzer, English words by
pocketsphinx, and Mandarin by a recogniser that was trained with the teacher's speech only (``judge_recognizer``).
Measured speed is valid only if no other program runs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import soundfile

# The program of this checkout, which need not be installed.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from studio.errors import StudioError
from training.corpus.build import TeacherSounds
from training.corpus.bundled_voices import PROMPT_VOICES
from training.corpus.plan import Job
from training.corpus.prompt_voices import make_prompt_voices
from training.corpus.rendering import rendered
from training.corpus.texts import prompt_sentences
from training.corpus.utterance import SAMPLE_RATE, CorpusFailed, FloatArray
from training.corpus.voices import Split, VoiceRecipe, voice_recipes
from training.judging.measures import MEASURES, Examination
from training.judging.outcome import Outcome, table
from training.judging.program import Clip, Program
from training.shipping.ship import SHIPPED_FOLDER
from training.teacher.network import Teacher
from training.trainers.options import BUILD_FOLDER, TrainingFailed
from training.trainers.sound_recognizer import load_network

_SENTENCES, _QUICK_SENTENCES = 24, 4
_UNSEEN, _QUICK_UNSEEN = 20, 4
_PARAGRAPHS, _QUICK_PARAGRAPHS = 20, 2


class _Originals:
    """The teacher's readings: clips of the bundled voices and of unseen ones, and any text in a bundled voice."""

    def __init__(self, teacher: Path, folder: Path) -> None:
        self._teacher, self._sounds, self._folder = Teacher(teacher), TeacherSounds(teacher), folder
        self._recipes = {voice.name: voice.recipe for voice in PROMPT_VOICES}

    def bundled(self) -> list[Clip]:
        folder = self._folder / "bundled"
        made = make_prompt_voices(folder, self._teacher, self._sounds)
        return [
            Clip(voice.name, path, path.with_suffix(".txt").read_text("utf-8").strip(), voice.language)
            for voice, path in zip(PROMPT_VOICES, made, strict=True)
        ]

    def unseen(self, number: int) -> Iterator[tuple[Clip, Clip]]:
        """Yield two recordings of each voice, those of unknown timbres first, in both languages by turns."""
        recipes = [each for each in voice_recipes() if each.split is not Split.TRAIN]
        recipes.sort(key=lambda recipe: recipe.split is not Split.STRANGER)
        for place, recipe in enumerate(recipes[:number]):
            language = ("en", "zh")[place // 2 % 2]
            first, second = (self._clip(recipe, language, sentence) for sentence in (0, 1))
            yield first, second

    def read(self, text: str, clip: Clip) -> FloatArray:
        return self._read(text, self._recipes[clip.name], clip.language)

    def _clip(self, recipe: VoiceRecipe, language: str, sentence: int) -> Clip:
        text = prompt_sentences(language)[sentence]
        path = self._folder / f"{recipe.name}-{language}-{sentence}.wav"
        if not path.exists():
            soundfile.write(path, self._read(text, recipe, language), SAMPLE_RATE, subtype="PCM_16")
        return Clip(f"{recipe.name}-{sentence}", path, text, language)

    def _read(self, text: str, recipe: VoiceRecipe, language: str) -> FloatArray:
        job = Job(text, language, "test", recipe.name, "normal", "test")
        recording = rendered(job, recipe, self._teacher, self._sounds, np.random.default_rng(0))
        if recording is None:
            raise CorpusFailed(f"The teacher cannot pronounce: {text}")
        return recording.samples


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", type=Path, default=SHIPPED_FOLDER, help="the model folder to evaluate")
    parser.add_argument(
        "--work", type=Path, default=BUILD_FOLDER / "work", help="folder of the judge, prompts and audio"
    )
    parser.add_argument("--teacher", type=Path, required=True, help="folder of the teacher: train.py teacher --to")
    parser.add_argument("--quick", action="store_true", help="fewer sentences and voices, for a quick estimate")
    parser.add_argument("--only", default="", metavar="NAME,...", help=f"some of: {', '.join(MEASURES)}")
    parser.add_argument("--json", type=Path, help="file for the results in JSON")
    parser.add_argument("--threads", type=int, help="number of CPU threads (default: chosen for this machine)")
    parsed = parser.parse_args(arguments)
    names = [name for name in parsed.only.split(",") if name] or list(MEASURES)
    if unknown := [name for name in names if name not in MEASURES]:
        print(f"Unknown measure {unknown[0]}. Choose from: {', '.join(MEASURES)}", file=sys.stderr)
        return 2
    judging = parsed.work / "judging"
    # Voices of the evaluation must not fill the user's cache.
    os.environ["TIMBRE_CACHE"] = str(judging / "cache")
    outcomes: list[Outcome] = []
    try:
        judging.mkdir(parents=True, exist_ok=True)
        originals = _Originals(parsed.teacher, judging)
        examination = Examination(
            folder=parsed.model,
            program=Program(parsed.model, judging / "sounds", num_threads=parsed.threads),
            voices=originals.bundled(),
            unseen=list(originals.unseen(_QUICK_UNSEEN if parsed.quick else _UNSEEN)),
            teacher=originals.read,
            judge=load_network(parsed.work / "judge_recognizer.pt"),
            num_sentences=_QUICK_SENTENCES if parsed.quick else _SENTENCES,
            num_paragraphs=_QUICK_PARAGRAPHS if parsed.quick else _PARAGRAPHS,
        )
        for name in names:
            print(f"{name} ...", file=sys.stderr, flush=True)
            outcomes += MEASURES[name](examination)
    except (CorpusFailed, TrainingFailed, StudioError) as failure:
        print(failure, file=sys.stderr)
        return 1
    print(table(outcomes))
    if parsed.json:
        content = {
            "model": parsed.model.name,
            "measured": time.strftime("%Y-%m-%d"),
            "is_quick": parsed.quick,
            "measures": [outcome.as_json() for outcome in outcomes],
            "not_measured": {},
        }
        parsed.json.parent.mkdir(parents=True, exist_ok=True)
        parsed.json.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
