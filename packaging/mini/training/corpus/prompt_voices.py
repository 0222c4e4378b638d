"""``train.py voices``: the recordings of the bundled voices."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile

from studio.paths import resources
from training.corpus.build import TeacherSounds
from training.corpus.bundled_voices import PROMPT_VOICES
from training.corpus.plan import Job
from training.corpus.rendering import Sounds, Synthesizer, rendered
from training.corpus.texts import prompt_sentences
from training.corpus.utterance import SAMPLE_RATE, CorpusFailed
from training.teacher.network import Teacher

_LICENCE = (
    "Made with Kokoro-82M (hexgrad, Apache License 2.0) from a mixture of its voices, which is the voice of no person. "
    "The sentence was written for this project. The recording may be used under the project's own licence."
)


def make_prompt_voices(folder: Path, synthesizer: Synthesizer, sounds: Sounds) -> list[Path]:
    """Write ``NAME.wav`` (24 kHz, 16 bit), its transcript ``NAME.txt`` and its origin ``NAME.json`` for each voice.

    The program lists the voices by name, and uses the first one by default. Return the audio files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for number, prompt in enumerate(PROMPT_VOICES):
        sentence = prompt_sentences(prompt.language)[prompt.sentence]
        job = Job(sentence, prompt.language, "prompt", prompt.name, "normal", "test")
        recording = rendered(job, prompt.recipe, synthesizer, sounds, np.random.default_rng(number))
        if recording is None:
            raise CorpusFailed(f"The teacher cannot pronounce the sentence of {prompt.name}.")
        path = folder / f"{prompt.name}.wav"
        soundfile.write(path, recording.samples, SAMPLE_RATE, subtype="PCM_16")
        content = {
            "name": prompt.name,
            "description": prompt.description,
            "transcript": sentence,
            "language": prompt.language,
            "speaker": prompt.name.lower(),
            "made_with": "Kokoro-82M, " + ", ".join(f"{share:g} {name}" for name, share in prompt.timbre.items()),
            "licence": _LICENCE,
        }
        path.with_suffix(".txt").write_text(sentence + "\n", encoding="utf-8")
        text = json.dumps(content, indent=2, ensure_ascii=False)
        path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
        made.append(path)
    return made


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py voices", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--teacher", type=Path, required=True, help="folder of the teacher: train.py teacher --to")
    parser.add_argument("--folder", type=Path, default=resources() / "voices", help="where the recordings go")
    parsed = parser.parse_args(arguments)
    try:
        for path in make_prompt_voices(parsed.folder, Teacher(parsed.teacher), TeacherSounds(parsed.teacher)):
            print(path)
    except CorpusFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0
