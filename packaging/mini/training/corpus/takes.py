"""``train.py takes``: speech of the bundled model itself, with its sounds, for the training of the recogniser.

Half of the takes are tokens of corpus lines, decoded in other voices by flow and vocoder; for the others, the speech
language model generates the tokens. The tokens determine the sound of each 20 ms. The folder is a corpus. The command
may be interrupted; run again, it continues with the missing shards.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import soundfile
import torch

from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.stages import FlowPrompt, FlowPromptState, SpeechTokenRequest
from studio.paths import resources
from studio.pipeline.enrolment import build_prompt
from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import EngineOptions, VoiceReference
from studio.text.segmentation import Sentence, prepare_text
from training.corpus.build import corpus_voices
from training.corpus.lines import Recording
from training.corpus.store import Corpus, IndexArray, write_shard
from training.corpus.tokens import TABLE_FILE, TokenTable
from training.corpus.utterance import SAMPLE_RATE, TOKENS_PER_SECOND, CorpusFailed, LabelArray
from training.trainers.options import BUILD_FOLDER, TAKES_FOLDER

_SHARD_SECONDS = 300.0
_PROMPT_TOKENS = range(75, 150)
_GENERATED_SHARE = 0.5
_TAKES_PER_VOICE = 3  # the preparation of a voice takes as long as a short take


class _Maker:
    """Makes takes of the texts of a corpus in the voices of its training speakers."""

    def __init__(self, corpus: Corpus, folder: Path, model: Path) -> None:
        self._corpus, self._folder = corpus, folder
        self._synthesizer = load_synthesizer(model, EngineOptions(engines="plain", num_threads=1))
        self._form = self._synthesizer.checkpoint.generation.text
        normal = corpus.indices(speaker_split="train", style="normal")
        lengths = corpus.num_tokens[normal]
        fitting = normal[(lengths >= _PROMPT_TOKENS.start) & (lengths < _PROMPT_TOKENS.stop)]
        self._prompts: list[IndexArray] = list(corpus.by_speaker(fitting).values())
        self._texts = corpus.indices(speaker_split="train")
        self._states: dict[int, tuple[FlowPrompt, FlowPromptState]] = {}
        if not self._prompts:
            raise CorpusFailed("The corpus contains no prompts yet. Extend it first.")

    def takes(self, random: np.random.Generator) -> Iterator[tuple[Recording, LabelArray]]:
        while True:
            prompts = self._prompts[int(random.integers(len(self._prompts)))]
            prompt = int(prompts[int(random.integers(len(prompts)))])
            for _ in range(_TAKES_PER_VOICE):
                index = int(self._texts[int(random.integers(len(self._texts)))])
                if take := self._take(index, prompt, random):
                    yield take

    def _take(self, index: int, prompt: int, random: np.random.Generator) -> tuple[Recording, LabelArray] | None:
        line = self._corpus.entry(index).line
        flow_prompt, state = self._state(prompt)
        if random.random() < _GENERATED_SHARE:
            tokens = self._generated(line.text, flow_prompt, prompt, int(random.integers(1 << 30)))
            labels = self._corpus.table.sounds_of(np.array(tokens, np.int32))
        else:
            tokens = self._corpus.tokens(index).tolist()
            labels = self._corpus.labels(index)[0]
        if not tokens:
            return None
        flow, vocoder = self._synthesizer.stages.flow, self._synthesizer.stages.vocoder
        stream = flow.open_stream(state)
        mel = stream.decode(tokens, ())
        stream.close()
        samples = vocoder.synthesize_whole(mel, vocoder.noise(int(random.integers(1 << 30)))).numpy(force=True)
        take = replace(
            line, voice=self._corpus.entry(prompt).speaker.name, style="normal", symbols="", frames=(), syllables=()
        )
        return Recording(take, samples, np.zeros(2 * len(tokens), np.float32)), labels

    def _generated(self, text: str, flow_prompt: FlowPrompt, prompt: int, seed: int) -> list[int]:
        """Return the tokens of ``text``, or none if the program would divide it."""
        stages = self._synthesizer.stages
        sentences = list(prepare_text(text, form=self._form, tokenizer=stages.text_tokenizer))
        if len(sentences) != 1 or not isinstance(sentences[0], Sentence):
            return []
        request = SpeechTokenRequest(
            text_tokens=sentences[0].text_tokens,
            prompt_text_tokens=self._form.zero_shot(self._corpus.entry(prompt).text, stages.text_tokenizer),
            prompt_speech_tokens=tuple(flow_prompt.speech_tokens),
        )
        return list(stages.speech_lm.generate(request, RepetitionAwareSampler(stages.speech_lm.sampling, seed)))

    def _state(self, prompt: int) -> tuple[FlowPrompt, FlowPromptState]:
        if prompt not in self._states:
            self._states.clear()
            path = self._folder / f"prompt-{prompt}.wav"
            path.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(path, self._corpus.samples(prompt), SAMPLE_RATE, subtype="PCM_16")
            voice = VoiceReference(path, transcript=self._corpus.entry(prompt).text)
            built = build_prompt(voice, self._synthesizer.stages.frontend(), "")
            path.unlink()
            flow_prompt = FlowPrompt(built.speech_tokens, built.mel, built.embedding)
            self._states[prompt] = flow_prompt, self._synthesizer.stages.flow.prepare_prompt(flow_prompt)
        return self._states[prompt]


def make_takes(corpus: Corpus, folder: Path, model: Path, *, hours: float, seed: int) -> None:
    """Make the missing shards of a corpus of takes."""
    maker: _Maker | None = None
    voices = {voice.name: voice for voice in corpus_voices()}
    for number in range(max(1, round(3600.0 * hours / _SHARD_SECONDS))):
        name = f"shard-{number:05d}"
        if (folder / f"{name}.json").exists():
            continue
        maker = maker or _Maker(corpus, folder, model)
        made: list[tuple[Recording, LabelArray]] = []
        num_tokens = 0
        takes = maker.takes(np.random.default_rng([seed, number]))
        while num_tokens < _SHARD_SECONDS * TOKENS_PER_SECOND:
            made.append(next(takes))
            num_tokens += len(made[-1][1]) // 2
        sounds = np.concatenate([labels for _, labels in made])
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / f"{name}.labels.npy", np.stack([sounds, np.zeros_like(sounds)]))
        write_shard(folder, name, [take for take, _ in made], voices)
        print(f"takes: shard {number}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py takes", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpus", type=Path, default=BUILD_FOLDER / "corpus", help="folder of the speech")
    parser.add_argument("--work", type=Path, default=BUILD_FOLDER / "work", help="folder of checkpoints and logs")
    parser.add_argument("--to", type=Path, default=BUILD_FOLDER / TAKES_FOLDER, help="folder of the takes")
    parser.add_argument("--model", type=Path, default=resources() / "models" / "studio-mini", help="the model folder")
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    parsed = parser.parse_args(arguments)
    torch.set_num_threads(1)
    try:
        corpus = Corpus.open(parsed.corpus, TokenTable.read(parsed.work / TABLE_FILE))
        make_takes(corpus, parsed.to, parsed.model, hours=parsed.hours, seed=parsed.seed)
    except CorpusFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0
