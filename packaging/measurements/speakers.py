"""Measure how well the speaker encoder of studio-mini tells people apart, for the limit of spoken consents.

    python3 packaging/measure.py speakers FOLDER... [--clips 20] [--json FILE]

Each FOLDER contains recordings of one person; folders whose names are equal before a hyphen belong to the same person.
Short recordings are joined to 4 seconds. Each clip is compared, as a spoken consent, with each other clip, as the clip
of a voice: the consent as it is, as on the telephone, with noise, and compressed. ``speakers.md`` lists the results.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from measurements.marks import RATE, changes, describe, joined
from studio import paths
from studio.audio.resampling import Samples
from studio.audio.waveform import Waveform
from studio.provenance.spoken_consents import MIN_SIMILARITY
from studio.take_checks.speaker import ENCODER_FILE, Embedding, LikenessMeter

_MIN_SECONDS, _MAX_SECONDS = 4, 8
_CHANGES = ("none", "8 kHz", "noise, 20 dB", "MP3, 64 kbit/s")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="recordings of one person")
    parser.add_argument("--clips", type=int, default=20, metavar="N", help="clips of each folder (default 20)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for the similarities in JSON")
    chosen = parser.parse_args(arguments)
    meter = LikenessMeter(paths.resources() / "models" / "studio-mini" / ENCODER_FILE)
    embedded: dict[str, dict[str, list[Embedding]]] = {name: {} for name in _CHANGES}
    for folder in chosen.folders:
        clips = list(itertools.islice(clips_in(folder), chosen.clips))
        for name in _CHANGES:
            embedded[name][folder.name] = [embed(meter, changes(clip)[name](clip)) for clip in clips]
    result: dict[str, dict[str, list[float]]] = {}
    for name, consents in embedded.items():
        same, other = compare(consents, embedded["none"])
        result[name] = {"same": same, "other": other}
        print(f"| {name} | {spread(same)} | {described(same)} | {spread(other)} | {described(other)} |")
    if chosen.json:
        chosen.json.write_text(json.dumps(result) + "\n", "utf-8")
    return 0


def clips_in(folder: Path) -> Iterator[Samples]:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    random.Random(0).shuffle(files)  # noqa: S311 - always the same files
    return (clip[: _MAX_SECONDS * RATE] for clip in joined(files, _MIN_SECONDS))


def embed(meter: LikenessMeter, clip: Samples) -> Embedding:
    (found,) = meter.embed(Waveform(clip, RATE), [(0.0, len(clip) / RATE)])
    assert found is not None, "clips have four seconds"
    return np.asarray(found, np.float32)


def compare(
    consents: dict[str, list[Embedding]], prompts: dict[str, list[Embedding]]
) -> tuple[list[float], list[float]]:
    """Return the similarities of different clips of one person, and of clips of two persons."""
    same: list[float] = []
    other: list[float] = []
    for first, second in itertools.product(consents, prompts):
        is_same = first.partition("-")[0] == second.partition("-")[0]
        for i, j in itertools.product(range(len(consents[first])), range(len(prompts[second]))):
            if first != second or i != j:
                (same if is_same else other).append(float(consents[first][i] @ prompts[second][j]))
    return same, other


def spread(values: Sequence[float]) -> str:
    low, middle, high = np.quantile(values, (0.01, 0.5, 0.99))
    return f"{low:.2f} / {middle:.2f} / {high:.2f}"


def described(values: Sequence[float]) -> str:
    return describe([value - MIN_SIMILARITY for value in values])
