"""The judge of both languages learns the sounds and tones of 20 ms, and counts errors as edits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from teacher_fakes import fake_teacher_corpus

from training.corpus.phones import NUMBER_OF_LABEL
from training.corpus.store import Corpus
from training.trainers import sound_recognizer, speaker_encoder
from training.trainers.options import TrainingFailed, TrainingOptions
from training.trainers.sound_batches import UNKNOWN, SoundPieces
from training.trainers.sound_recognizer import error_rate, heard_of, recognize, some_voices

SMALL = {"width": "32", "num_blocks": "2", "front_width": "24", "batch": "4", "piece_tokens": "30", "num_clips": "2"}


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    return fake_teacher_corpus(tmp_path / "corpus", monkeypatch)


def heard(runs: str) -> sound_recognizer.Heard:
    """Return what is heard of runs such as "a1*4": a label, its tone, and its number of 20 ms."""
    labels: list[int] = []
    tones: list[int] = []
    for run in runs.split():
        sound, _, count = run.partition("*")
        label, tone = (sound[:-1], int(sound[-1])) if sound[-1].isdigit() else (sound, 0)
        labels += [NUMBER_OF_LABEL[label]] * int(count)
        tones += [tone] * int(count)
    return heard_of(np.array(labels), np.array(tones))


def test_sounds_are_runs_and_tones_are_those_of_vowel_groups() -> None:
    found = heard("sil*5 m*3 a1*4 a2*2 sil*1 n*3 i3*3 u3*2 ŋ3*3 sil*4")
    assert found.sounds == ("m", "a", "n", "i", "u", "ŋ")
    assert found.tones == (1, 3)


def test_flickering_is_no_sound() -> None:
    assert heard("s*4 z*1 s*4 a*3").sounds == ("s", "a")


def test_english_has_no_tones() -> None:
    assert heard("k*3 æ*5 t*3").tones == ()


@pytest.mark.parametrize(
    ("found", "wanted", "edits"),
    [("abc", "abc", 0), ("axc", "abc", 1), ("ac", "abc", 1), ("aabc", "abc", 1), ("", "abc", 3)],
)
def test_errors_are_edits(found: str, wanted: str, edits: int) -> None:
    assert error_rate(list(found), list(wanted)) == pytest.approx(edits / 3)


def test_pieces_have_a_sound_and_a_tone_for_each_20_ms(corpus: Corpus) -> None:
    pieces = SoundPieces(corpus, corpus.indices(speaker_split="train"), 40)
    for seed in range(6):
        batch = pieces.draw(np.random.default_rng(seed), 3)
        assert batch.log_mel.shape == (3, 128, 160)
        assert torch.isfinite(batch.log_mel).all()
        for row, length in enumerate(batch.lengths.tolist()):
            for target in (batch.sounds, batch.tones):
                assert (target[row, : length // 2] >= 0).all()
                assert (target[row, length // 2 :] == UNKNOWN).all()
    assert set(np.unique(corpus.labels(1)[1])) == {0, 1, 3}


def test_spliced_pieces_are_as_long_as_others(corpus: Corpus) -> None:
    pieces = SoundPieces(corpus, corpus.indices(speaker_split="train"), 40, spliced_share=1.0)
    batch = pieces.draw(np.random.default_rng(0), 4)
    assert (batch.lengths >= 4 * 38).all()


def test_every_second_voice_is_left_for_others(corpus: Corpus) -> None:
    train = corpus.indices(speaker_split="train")
    parts = [{corpus.lines[index].voice for index in some_voices(corpus, train, half)} for half in ("odd", "even")]
    assert parts == [{"train-001"}, {"train-000"}]
    with pytest.raises(TrainingFailed, match="no training lines"):
        some_voices(corpus, train[:0], "all")


@pytest.mark.slow
def test_a_short_run_learns_and_can_be_continued(tmp_path: Path, corpus: Corpus) -> None:
    options = TrainingOptions(tmp_path / "corpus", tmp_path / "work", minutes=0.15, settings=SMALL)
    values = sound_recognizer.train(options)
    assert set(values) == {"en_accuracy", "en_sound_errors", "zh_accuracy", "zh_sound_errors", "zh_tone_errors"}
    assert values["zh_accuracy"] > 0.4  # the fakes speak four sounds of Mandarin; a guess is right in a quarter
    log = tmp_path / "work" / "sound_recognizer.jsonl"
    lines = len(log.read_text("utf-8").splitlines())
    sound_recognizer.train(TrainingOptions(tmp_path / "corpus", tmp_path / "work", minutes=0.17, settings=SMALL))
    assert len(log.read_text("utf-8").splitlines()) > lines
    network = sound_recognizer.load_network(tmp_path / "work" / "sound_recognizer.pt")
    assert recognize(network, corpus.samples(1)).sounds


@pytest.mark.slow
def test_the_speaker_encoder_learns_from_the_same_corpus(tmp_path: Path, corpus: Corpus) -> None:
    settings = {"channels": "16", "pooled_channels": "24", "rows": "4"}
    values = speaker_encoder.train(
        TrainingOptions(tmp_path / "corpus", tmp_path / "work", minutes=0.02, settings=settings)
    )
    assert "pitch_error" in values
