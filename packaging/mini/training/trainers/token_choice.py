"""``train.py tokens``: the choice of the speech tokens, by what token readers read from each scheme."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from training.corpus.store import Corpus
from training.corpus.tokens import TABLE_FILE, TokenScheme, TokenTable, relative_semitones
from training.corpus.utterance import CorpusFailed, FloatArray, LabelArray
from training.trainers.options import BUILD_FOLDER

DEFAULT_SCHEME = TokenScheme(328, 9, 1)
_MAX_LINES = 4000


def choose(work: Path) -> TokenScheme:
    """Return the scheme of the best token reader in ``work``, or the default one if there are none."""
    found: dict[TokenScheme, float] = {}
    for path in sorted(work.glob("reader-*.jsonl")):
        scheme = TokenScheme(*(int(number) for number in path.stem.split("-")[1:]))
        values = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        validated = [each for each in values if "validation_en_sound_errors" in each]
        if validated:
            found[scheme] = _cost(validated[-1])
            print(f"{scheme}: {found[scheme]:.4f}", file=sys.stderr)
    return min(found, key=lambda scheme: found[scheme]) if found else DEFAULT_SCHEME


def _cost(values: Mapping[str, float]) -> float:
    """Return the mean error of sounds, plus that of tones, plus what is missing of the melody."""
    sounds = (values["validation_en_sound_errors"] + values.get("validation_zh_sound_errors", 0.0)) / 2
    return sounds + values.get("validation_zh_tone_errors", 0.0) + 1.0 - values["validation_f0_correlation"]


def make_table(corpus: Corpus, scheme: TokenScheme) -> TokenTable:
    """Return the table for the training lines of ``corpus``."""
    indices = corpus.indices(split="train", speaker_split="train").tolist()[:_MAX_LINES]
    return TokenTable.of_lines(scheme, _lines(corpus, indices))


def _lines(corpus: Corpus, indices: Sequence[int]) -> Iterator[tuple[LabelArray, FloatArray]]:
    for index in indices:
        entry = corpus.entry(index)
        if entry.style != "whisper":
            yield corpus.labels(index)[0], relative_semitones(corpus.f0_hz(index), entry.speaker.median_f0_hz)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py tokens", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpus", type=Path, default=BUILD_FOLDER / "corpus", help="folder of the speech")
    parser.add_argument("--work", type=Path, default=BUILD_FOLDER / "work", help="folder of checkpoints and logs")
    parser.add_argument("--scheme", metavar="SOUNDS:LEVELS:SLOPES", help="a scheme instead of the best one")
    parsed = parser.parse_args(arguments)
    try:
        given = parsed.scheme and TokenScheme(*(int(number) for number in parsed.scheme.split(":")))
        scheme = given or choose(parsed.work)
        table = make_table(Corpus.open(parsed.corpus), scheme)
    except CorpusFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    table.write(parsed.work / TABLE_FILE)
    print(f"{scheme}, {np.prod([scheme.sounds, scheme.pitches])} tokens")
    return 0
