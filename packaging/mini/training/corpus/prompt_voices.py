"""``train.py voices``: the bundled voices for trying out cloning, read by mixtures that are in no corpus."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from studio.paths import resources
from training.corpus.build import TeacherSounds
from training.corpus.plan import Job
from training.corpus.rendering import Sounds, Synthesizer, rendered
from training.corpus.texts import prompt_sentences
from training.corpus.utterance import SAMPLE_RATE, CorpusFailed
from training.corpus.voices import Mixture, Split, VoiceRecipe
from training.teacher.network import Teacher

_LICENCE = (
    "Made with Kokoro-82M (hexgrad, Apache License 2.0) from a mixture of its voices, which is the voice of no person. "
    "The sentence was written for this project. The recording may be used under the project's own licence."
)


@dataclass(frozen=True, slots=True)
class PromptVoice:
    """A bundled voice: its name and description for the user, its mixture, and its sentence."""

    name: str
    description: str
    language: str
    accent: str
    timbre: Mixture
    manner: Mixture
    sentence: int
    pitch: float = 1.0

    @property
    def recipe(self) -> VoiceRecipe:
        gender = next(iter(self.timbre))[1]
        return VoiceRecipe(
            self.name, gender, self.accent, Split.STRANGER, self.timbre, self.manner, self.manner, self.pitch, 1.0
        )


# The names of the earlier voices are kept, which projects refer to.
PROMPT_VOICES = (
    PromptVoice(
        "Ada", "A bright woman's voice, American.", "en", "us",
        {"af_heart": 0.5, "af_nova": 0.3, "bf_emma": 0.2}, {"af_heart": 0.6, "af_bella": 0.4}, 0,
    ),
    PromptVoice(
        "Angus", "A light man's voice, British.", "en", "gb",
        {"bm_fable": 0.5, "am_echo": 0.3, "bm_daniel": 0.2}, {"bm_fable": 0.6, "bm_george": 0.4}, 1, 1.06,
    ),
    PromptVoice(
        "Miles", "A deep man's voice, American.", "en", "us",
        {"am_onyx": 0.4, "am_fenrir": 0.35, "pm_alex": 0.25}, {"am_fenrir": 0.5, "am_michael": 0.5}, 2, 0.94,
    ),
    PromptVoice(
        "Linda", "A warm woman's voice, British.", "en", "gb",
        {"bf_isabella": 0.5, "af_sarah": 0.3, "ff_siwis": 0.2}, {"bf_emma": 0.7, "bf_isabella": 0.3}, 3, 0.95,
    ),
    PromptVoice(
        "Max", "A lively man's voice, American.", "en", "us",
        {"am_liam": 0.4, "am_michael": 0.35, "em_alex": 0.25}, {"am_michael": 0.7, "am_eric": 0.3}, 4,
    ),
    PromptVoice(
        "Lan", "A clear woman's voice, Mandarin.", "zh", "us",
        {"zf_xiaoxiao": 0.5, "zf_xiaobei": 0.3, "af_aoede": 0.2}, {"zf_xiaoxiao": 0.6, "zf_xiaobei": 0.4}, 0,
    ),
    PromptVoice(
        "Mei", "A soft woman's voice, Mandarin.", "zh", "us",
        {"zf_xiaoni": 0.5, "jf_alpha": 0.3, "zf_xiaoxiao": 0.2}, {"zf_xiaoni": 0.6, "zf_xiaoxiao": 0.4}, 1, 0.96,
    ),
    PromptVoice(
        "Bo", "A calm man's voice, Mandarin.", "zh", "us",
        {"zm_yunjian": 0.5, "am_fenrir": 0.3, "zm_yunxi": 0.2}, {"zm_yunjian": 0.6, "zm_yunxi": 0.4}, 2, 0.95,
    ),
    PromptVoice(
        "Jun", "A young man's voice, Mandarin.", "zh", "us",
        {"zm_yunxi": 0.5, "zm_yunxia": 0.3, "jm_kumo": 0.2}, {"zm_yunxi": 0.7, "zm_yunxia": 0.3}, 3, 1.05,
    ),
)  # fmt: skip


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
