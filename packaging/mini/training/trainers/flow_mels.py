"""``train.py flow_mels``: mels of the flow for lines of the corpus, with which the vocoder is fine-tuned.

Decision: the flow starts from a true mel with noise rather than from noise alone. Reason: the result has the faults of
the flow, but the pitch and the times of the recording, so that it can be compared with it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from studio.model.config import SolverConfig
from studio.model.flow.layers import Conditions, FullContext
from studio.model.flow.network import EncoderContext
from training.corpus.store import Corpus, IndexArray
from training.corpus.tokens import TABLE_FILE, TokenTable
from training.corpus.utterance import CorpusFailed, FloatArray
from training.trainers.flow import load_network
from training.trainers.flow_network import LearningFlow
from training.trainers.options import BUILD_FOLDER, TrainingFailed
from training.trainers.speaker_embeddings import SpeakerEmbeddings

FLOW_MELS_FOLDER = "flow_mels"  # in the work folder
_BEGIN_AT = 0.25  # time on the path from noise to speech
_NUM_STEPS = 6
_MAX_PROMPT_TOKENS = 75
_CHUNK_FRAMES = 50


class FlowMels:
    """Reads what ``make_mels`` wrote."""

    def __init__(self, corpus: Corpus, folder: Path) -> None:
        """Raise ``TrainingFailed`` if there are none."""
        self._folder = folder
        numbers = {int(path.stem) for path in folder.glob("*.npy")}
        self.indices: IndexArray = np.array(sorted(numbers & set(range(len(corpus)))), np.int64)
        if not len(self.indices):
            raise TrainingFailed(f"{folder} contains no mels of the flow. Make some: train.py flow_mels")

    def mel(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> FloatArray:
        end = None if num_tokens is None else 2 * (from_token + num_tokens)
        whole = np.load(self._folder / f"{index}.npy", mmap_mode="r")
        return np.array(whole[2 * from_token : end], np.float32)


def make_mels(corpus: Corpus, work: Path, *, seconds: float) -> int:
    """Write mels of training lines until they last ``seconds``, and return the number of lines.

    Lines that have one already are not made again.
    """
    network = load_network(work / "flow.pt").requires_grad_(False)
    embeddings = SpeakerEmbeddings.of(corpus, work / "speaker_encoder.onnx", work, most_of_each=24)
    folder = work / FLOW_MELS_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    total, number = 0.0, 0
    for index in random.permutation(corpus.indices(split="train", speaker_split="train")).tolist():
        name = corpus.entry(index).speaker.name
        if total >= seconds:
            break
        if name not in embeddings.indices:
            continue
        total += corpus.entry(index).num_tokens / 25.0
        number += 1
        path = folder / f"{index}.npy"
        if not path.exists():
            prompt = embeddings.draw_index(name, random)
            mel = flow_mel(network, corpus, index, prompt, embeddings.of_index[prompt])
            np.save(path.with_suffix(".part.npy"), mel.astype(np.float16))
            path.with_suffix(".part.npy").replace(path)
    return number


@torch.no_grad()
def flow_mel(network: LearningFlow, corpus: Corpus, index: int, prompt: int, embedding: FloatArray) -> FloatArray:
    """Return the mel (2 * tokens, 80) of a line after a prompt of the same voice."""
    before = corpus.heard_tokens(prompt, num_tokens=_MAX_PROMPT_TOKENS)
    tokens = torch.from_numpy(np.concatenate([before, corpus.tokens(index)]).astype(np.int64))[None]
    true = np.concatenate([corpus.mel(prompt, num_tokens=_MAX_PROMPT_TOKENS), corpus.mel(index)])
    mel = torch.from_numpy(true)[None]
    context = FullContext(_CHUNK_FRAMES)
    mean = network.mean(network.embed(tokens), 0, EncoderContext(context, context))
    prompt_mel = torch.zeros_like(mel)
    prompt_mel[:, : 2 * len(before)] = mel[:, : 2 * len(before)]
    told = Conditions(mean, prompt_mel, network.speaker(torch.from_numpy(embedding)[None]))
    conditions = Conditions(*(torch.cat([part, torch.zeros_like(part)]) for part in told))
    guidance = SolverConfig().guidance_scale
    times = torch.linspace(_BEGIN_AT, 1.0, _NUM_STEPS + 1)
    noise = torch.randn(mel.shape, generator=torch.Generator().manual_seed(index))
    x = (1.0 - times[0]) * noise + times[0] * mel
    for time, size in zip(times[:-1], times.diff(), strict=True):
        with_conditions, without = network.estimator(x.repeat(2, 1, 1), time.repeat(2), conditions, context).float()
        x = x + size * ((1.0 + guidance) * with_conditions - guidance * without)
    made: FloatArray = x[0, 2 * len(before) :].numpy()
    return made


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py flow_mels", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpus", type=Path, default=BUILD_FOLDER / "corpus", help="folder of the speech")
    parser.add_argument("--work", type=Path, default=BUILD_FOLDER / "work", help="folder of checkpoints and logs")
    parser.add_argument("--minutes", type=float, default=60.0, help="duration of the lines")
    parsed = parser.parse_args(arguments)
    torch.set_num_threads(1)
    try:
        corpus = Corpus.open(parsed.corpus, TokenTable.read(parsed.work / TABLE_FILE))
        number = make_mels(corpus, parsed.work, seconds=60.0 * parsed.minutes)
    except (CorpusFailed, TrainingFailed) as failure:
        print(failure, file=sys.stderr)
        return 1
    print(f"{number} lines")
    return 0
