"""What is written to a corpus is what trainers read, and a half-made shard is not there yet."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from fakes import fake_corpus

from training.corpus.store import Corpus, crop, sample
from training.corpus.tokens import NUM_TOKENS
from training.corpus.utterance import SAMPLES_PER_TOKEN, CorpusFailed


class Written(NamedTuple):
    """A small corpus in a folder, and its content."""

    folder: Path
    content: Any


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Write a corpus for the tests that only read it."""
    folder = tmp_path_factory.mktemp("corpus")
    return Written(folder, fake_corpus(folder))


@pytest.mark.slow
def test_every_utterance_keeps_the_promise_of_lengths(written: Written) -> None:
    corpus = written.content
    assert len(corpus) == 7 * 6
    for index in range(len(corpus)):
        utterance = corpus[index]
        assert len(utterance.samples) == SAMPLES_PER_TOKEN * utterance.num_tokens
        assert utterance.mel.shape == (2 * utterance.num_tokens, 80)
        assert len(utterance.f0_hz) == len(corpus.labels(index)) == 2 * utterance.num_tokens
        assert utterance.samples.dtype == utterance.mel.dtype == utterance.f0_hz.dtype == np.float32
        assert 0 <= utterance.tokens.min() <= utterance.tokens.max() < NUM_TOKENS


def test_a_corpus_opens_as_it_was_written(written: Written) -> None:
    first = written.content
    again = Corpus.open(written.folder)
    assert [again.entry(index) for index in range(len(again))] == [first.entry(index) for index in range(len(first))]
    np.testing.assert_array_equal(again[17].samples, first[17].samples)
    assert [speaker.split for speaker in again.speakers].count("stranger") == 1


def test_a_piece_is_that_piece_of_the_whole(written: Written) -> None:
    corpus = written.content
    whole = corpus[30]
    np.testing.assert_array_equal(corpus.tokens(30, from_token=3, num_tokens=5), whole.tokens[3:8])
    np.testing.assert_array_equal(corpus.mel(30, from_token=3, num_tokens=5), whole.mel[6:16])
    np.testing.assert_array_equal(corpus.f0_hz(30, from_token=3, num_tokens=5), whole.f0_hz[6:16])
    np.testing.assert_array_equal(corpus.samples(30, from_token=3, num_tokens=5), whole.samples[2880:7680])


@pytest.mark.slow
def test_a_shard_without_its_list_is_not_there(tmp_path: Path) -> None:
    fake_corpus(tmp_path)
    (tmp_path / "shard-0001.json").unlink()
    assert len(Corpus.open(tmp_path)) == 21


def test_an_empty_folder_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(CorpusFailed, match="contains no speech yet"):
        Corpus.open(tmp_path)


def test_indices_are_those_that_were_asked_for(written: Written) -> None:
    corpus = written.content
    stranger = corpus.indices(speaker_split="stranger")
    assert {corpus.entry(int(index)).speaker.name for index in stranger} == {"flite-rms@1.00"}
    assert len(corpus.indices(speaker_split="train", engine="espeak", split="test")) == 2
    assert len(corpus.indices(style="no such style")) == 0
    assert {name: len(numbers) for name, numbers in corpus.by_speaker(stranger).items()} == {"flite-rms@1.00": 6}


def test_samples_are_drawn_from_the_given_ones_only(written: Written) -> None:
    corpus = written.content
    generator = np.random.default_rng(0)
    wanted = corpus.indices(speaker="flite-awb@1.00")
    drawn = {sample(corpus, wanted, generator).text for _ in range(60)}
    assert drawn == {corpus.entry(int(index)).text for index in wanted}


def test_crops_begin_anywhere_and_end_within(written: Written) -> None:
    corpus = written.content
    wanted = corpus.indices(speaker="flite-awb@1.00")
    shortest = int(corpus.num_tokens[wanted].min())
    generator = np.random.default_rng(0)
    places = {crop(corpus, wanted, generator, num_tokens=shortest) for _ in range(2000)}
    assert places == {
        (int(index), start) for index in wanted for start in range(int(corpus.num_tokens[index]) - shortest + 1)
    }


def test_a_crop_longer_than_everything_is_refused(written: Written) -> None:
    corpus = written.content
    with pytest.raises(CorpusFailed, match="No utterance lasts 500 tokens"):
        crop(corpus, np.arange(len(corpus)), np.random.default_rng(0), num_tokens=500)
