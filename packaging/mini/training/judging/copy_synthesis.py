"""Copy synthesis: true mels through the program's vocoder, compared with the original audio.

    python -m training.judging.copy_synthesis --corpus CORPUS --work WORK --out FOLDER

writes the copies, the originals and an image of both (copy above, original below), and prints the measures.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import soundfile
import torch

from studio.model.vocoder.network import CausalHiFT
from studio.model.vocoder.vocoder import CausalVocoder, HiFTVocoder
from training.corpus.acoustics import f0_of, mel_of
from training.corpus.store import Corpus
from training.corpus.utterance import SAMPLE_RATE, FloatArray
from training.judging.listeners import quality
from training.judging.spectrogram_picture import write_picture
from training.trainers.f0 import errors_between
from training.trainers.vocoder import load_trained

_MIN_LOG_MEL = -7.0  # quieter differences are hardly audible


@dataclass(frozen=True, slots=True)
class CopyMeasures:
    """Mean difference of log mels in nats, and F0 errors as in ``training.trainers.f0``, measured by praat."""

    log_mel_distance: float
    f0_gross: float
    f0_voicing: float
    f0_cents: float


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    samples: FloatArray
    measures: CopyMeasures


def as_shipped(network: CausalHiFT) -> CausalVocoder:
    """Return the program's vocoder with this network, as if loaded from a model folder."""
    network.requires_grad_(False).eval().f0_predictor.double()
    network.merge_taps()
    return CausalVocoder(network)


def copy_synthesis(vocoder: HiFTVocoder, corpus: Corpus, indices: Sequence[int]) -> list[Copy]:
    copies = []
    for index in indices:
        mel = torch.from_numpy(np.ascontiguousarray(corpus.mel(index).T))
        samples = vocoder.synthesize_whole(mel, vocoder.noise(seed=0)).numpy()
        copies.append(Copy(samples, compare(samples, corpus, index)))
    return copies


def compare(samples: FloatArray, corpus: Corpus, index: int) -> CopyMeasures:
    """Compare ``samples`` with a line of the corpus, which has the same length."""
    copied, true = (np.maximum(mel, _MIN_LOG_MEL) for mel in (mel_of(samples), corpus.mel(index)))
    pitch = errors_between(torch.from_numpy(f0_of(samples)), torch.from_numpy(corpus.f0_hz(index)))
    return CopyMeasures(
        log_mel_distance=float(np.abs(copied - true).mean()),
        f0_gross=pitch["gross"],
        f0_voicing=pitch["voicing"],
        f0_cents=pitch["cents"],
    )


def mean_measures(copies: Sequence[Copy]) -> dict[str, float]:
    rows = [asdict(each.measures) for each in copies]
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder of the checkpoint")
    parser.add_argument("--name", default="vocoder", help="name of the checkpoint")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=8)
    parsed = parser.parse_args(arguments)
    torch.set_num_threads(1)
    corpus = Corpus.open(parsed.corpus)
    unseen = np.concatenate([corpus.indices(speaker_split=split) for split in ("validation", "stranger")])
    indices = np.random.default_rng(0).permutation(unseen)[: parsed.count].tolist()
    copies = copy_synthesis(as_shipped(load_trained(parsed.work, parsed.name)), corpus, indices)
    parsed.out.mkdir(parents=True, exist_ok=True)
    for number, (index, copied) in enumerate(zip(indices, copies, strict=True)):
        stem, true, entry = parsed.out / f"line-{number}", corpus.samples(index), corpus.entry(index)
        soundfile.write(f"{stem}-copy.wav", copied.samples, SAMPLE_RATE, subtype="PCM_16")
        soundfile.write(f"{stem}-true.wav", true, SAMPLE_RATE, subtype="PCM_16")
        write_picture(Path(f"{stem}.png"), [copied.samples, true])
        print(f"{stem.name} {entry.speaker.name} {entry.style}: {entry.text}")
    measures = mean_measures(copies)
    measures["quality"] = float(np.mean([quality(copied.samples) for copied in copies]))
    measures["quality_of_originals"] = float(np.mean([quality(corpus.samples(index)) for index in indices]))
    print(json.dumps(measures, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
