"""Takes of the bundled model as a corpus: its phones are those of the tokens that were decoded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fakes import fake_corpus

from studio.paths import resources
from training.corpus import takes
from training.corpus.store import Corpus
from training.corpus.takes import make_takes
from training.corpus.utterance import SAMPLES_PER_TOKEN

MODEL = resources() / "models" / "studio-mini"


@pytest.mark.slow
def test_takes_are_a_corpus_with_phones_and_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(takes, "_SHARD_SECONDS", 3.0)
    fake_corpus(tmp_path / "corpus", utterances_per_speaker=4, seconds=4.0)
    make_takes(tmp_path / "corpus", tmp_path / "takes", MODEL, hours=6.0 / 3600, seed=0)
    made = Corpus.open(tmp_path / "takes")
    assert {made.entry(index).shard for index in range(len(made))} == {0, 1}
    for index in range(len(made)):
        num_tokens = made.entry(index).num_tokens
        assert len(made.samples(index)) == SAMPLES_PER_TOKEN * num_tokens
        assert len(made.labels(index)) == 2 * num_tokens
        assert np.abs(made.samples(index)).max() > 0.01
        assert made.entry(index).speaker.split == "train"
    monkeypatch.setattr(takes, "_Maker", None)  # nothing is left to make
    make_takes(tmp_path / "corpus", tmp_path / "takes", MODEL, hours=6.0 / 3600, seed=0)


def test_without_a_corpus_there_are_no_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert takes.main(["--corpus", str(tmp_path / "none"), "--to", str(tmp_path / "takes"), "--hours", "0.1"]) == 1
    assert "contains no speech yet" in capsys.readouterr().err
