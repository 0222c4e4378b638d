"""SenseVoice on a miniature of its published files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_recognizers import RATE, SENSE_VOICE_HZ, spoken, write_sense_voice

from studio.errors import DamagedModelFile
from studio.take_checks.recognizers.choice import AvailableRecognizer
from studio.take_checks.recognizers.opening import open_recognizer
from studio.take_checks.recognizers.sense_voice import SenseVoice


@pytest.fixture(scope="module")
def sense_voice(tmp_path_factory: pytest.TempPathFactory) -> SenseVoice:
    return SenseVoice("SenseVoiceSmall", write_sense_voice(tmp_path_factory.mktemp("sense-voice")))


def test_sense_voice_hears_words_and_characters_with_their_times(sense_voice: SenseVoice) -> None:
    heard = sense_voice.transcribe(spoken([3, 7, 8, 5, 6], SENSE_VOICE_HZ), "zh")
    assert [unit.text for unit in heard] == ["yes", "maybe", "你", "好"]
    starts = [unit.from_seconds for unit in heard]
    assert starts == pytest.approx([0.32, 0.96, 2.24, 2.88], abs=0.13)
    assert all(0.5 < unit.confidence <= 1.0 for unit in heard)


def test_sense_voice_aligns_the_expected_text_and_scores_what_was_not_said(sense_voice: SenseVoice) -> None:
    recognition = sense_voice.recognize(spoken([5, 6, 3], SENSE_VOICE_HZ), ["你", "好", "yes"], "zh")
    assert [unit.score > 0.9 for unit in recognition.aligned if unit] == [True, True, True]
    missing = sense_voice.recognize(spoken([5, 3], SENSE_VOICE_HZ), ["你", "好", "yes"], "zh")
    assert [round(unit.score) for unit in missing.aligned if unit] == [1, 0, 1]


def test_sense_voice_says_nothing_about_characters_and_tokens_that_it_lacks(sense_voice: SenseVoice) -> None:
    recognition = sense_voice.recognize(spoken([5, 6], SENSE_VOICE_HZ), ["你", "龘", "[zh][ǎng]", "好"], "zh")
    assert [unit and unit.score for unit in recognition.aligned[1:3]] == [1.0, 1.0]


def test_sense_voice_joins_the_parts_of_a_long_recording(sense_voice: SenseVoice) -> None:
    speech = spoken([3, 4] * 30, SENSE_VOICE_HZ)
    assert len(speech) > 35 * RATE
    heard = sense_voice.transcribe(speech, "en")
    assert [unit.text for unit in heard] == ["yes", "no"] * 30
    assert heard[-1].from_seconds == pytest.approx(0.32 + 59 * 0.64, abs=0.13)


@pytest.mark.parametrize("num_samples", [0, 1, 399, 700])
def test_very_short_recordings_contain_nothing(sense_voice: SenseVoice, num_samples: int) -> None:
    assert sense_voice.transcribe(np.zeros(num_samples, np.float32), "zh") == ()


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["truncated", "not onnx", "vocabulary"])
def test_a_damaged_recogniser_is_reported_each_time(tmp_path: Path, damage: str) -> None:
    folder = write_sense_voice(tmp_path / "model")
    network = folder / "model.int8.onnx"
    if damage == "truncated":
        network.write_bytes(network.read_bytes()[: network.stat().st_size // 2])
    if damage == "not onnx":
        network.write_bytes(b"\x00" * 100)
    if damage == "vocabulary":
        (folder / "tokens.txt").write_text("a b c\n")
    for _ in range(2):
        with pytest.raises(DamagedModelFile):
            open_recognizer(AvailableRecognizer("it", frozenset(), folder))


def test_a_sense_voice_network_without_its_metadata_is_reported(tmp_path: Path) -> None:
    import onnx

    folder = write_sense_voice(tmp_path)
    model = onnx.load(str(folder / "model.int8.onnx"))
    del model.metadata_props[:]
    onnx.save(model, str(folder / "model.int8.onnx"))
    with pytest.raises(DamagedModelFile, match="not a SenseVoice network"):
        SenseVoice("it", folder)
