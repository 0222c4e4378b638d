"""``train.py pack``: a corpus small enough to travel to a computer with a GPU, and back to shards there.

Speech is compressed with Opus to a sixth, so that two hours fit into 50 MiB. This is enough for judges, speech tokenizer,
flow and language model; the vocoder is trained with the shards themselves.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile

from training.corpus.store import PLAN_FILE
from training.corpus.utterance import SAMPLE_RATE, CorpusFailed

_COMPRESSION = 0.8  # of libsndfile, 7 kB a second
_STEPS_PER_HERTZ = 20.0
_BLOCK_SAMPLES = 10 * SAMPLE_RATE


def pack(corpus: Path, folder: Path, *, mebibytes: float) -> int:
    """Write the first complete shards that fit into ``mebibytes`` to ``folder``, and return their number."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(corpus / PLAN_FILE, folder)
    room = mebibytes * 2**20
    number = 0
    for listed in sorted(corpus.glob("shard-*.json")):
        parts = [folder / f"{listed.stem}{ending}" for ending in (".ogg", ".f0_hz.npz", ".json")]
        samples = np.load(listed.with_suffix(".samples.npy"))
        with soundfile.SoundFile(
            parts[0], "w", SAMPLE_RATE, 1, "OPUS", format="OGG", compression_level=_COMPRESSION
        ) as file:
            for start in range(0, len(samples), _BLOCK_SAMPLES):
                file.write(samples[start : start + _BLOCK_SAMPLES])
        f0_hz = np.load(listed.with_suffix(".f0_hz.npy"))
        np.savez_compressed(parts[1], steps=np.round(f0_hz * _STEPS_PER_HERTZ).astype(np.uint16))
        shutil.copy(listed, parts[2])
        room -= sum(part.stat().st_size for part in parts)
        if room < 0:
            for part in parts:
                part.unlink()
            break
        number += 1
    return number


def unpack(folder: Path, corpus: Path) -> int:
    """Write the shards of a packed corpus to ``corpus``, and return their number. Raise ``CorpusFailed`` for none."""
    corpus.mkdir(parents=True, exist_ok=True)
    listed = sorted(folder.glob("shard-*.json"))
    if not listed:
        raise CorpusFailed(f"{folder} contains no packed corpus. Make one: train.py pack")
    for path in listed:
        f0_hz = np.load(path.with_suffix(".f0_hz.npz"))["steps"].astype(np.float32) / np.float32(_STEPS_PER_HERTZ)
        samples, _ = soundfile.read(path.with_suffix(".ogg"), dtype="int16")
        assert len(samples) == 480 * len(f0_hz)
        np.save(corpus / f"{path.stem}.samples.npy", samples)
        np.save(corpus / f"{path.stem}.f0_hz.npy", f0_hz)
        shutil.copy(path, corpus)
    shutil.copy(folder / PLAN_FILE, corpus)
    return len(listed)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py pack", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--from", type=Path, dest="source", required=True, help="folder of the corpus")
    parser.add_argument("--to", type=Path, required=True, help="folder to write")
    parser.add_argument("--mebibytes", type=float, default=50.0, help="size of a packed corpus")
    parser.add_argument("--unpack", action="store_true", help="write shards from a packed corpus")
    parsed = parser.parse_args(arguments)
    try:
        number = (
            unpack(parsed.source, parsed.to)
            if parsed.unpack
            else pack(parsed.source, parsed.to, mebibytes=parsed.mebibytes)
        )
    except CorpusFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    print(f"{number} shards")
    return 0
