"""The judges find a perfect model perfect, a broken one broken, and say what they could not measure."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from judging_fakes import SENTENCES, FakeChain, examination

from training.judging import dialects, intelligibility, likeness, speed, stages, style_effects
from training.judging.examination import Examination
from training.judging.measures import MEASURES, examine
from training.judging.outcome import Outcome, at_least, at_most, below, table
from training.judging.recognizer import word_error_rate, words_of
from training.shipping.instructions import read_instructions
from training.trainers.speaker_network import SpeakerNetwork
from training.trainers.speaker_onnx import write_speaker_onnx

pytest.importorskip("parselmouth")


@pytest.fixture
def perfect(tmp_path: Path) -> Examination:
    made = examination(tmp_path)
    chain = cast("FakeChain", made.chain)
    chain.presets.update({each.family: style for style, each in read_instructions().items()})
    return made


def value_of(outcomes: list[Outcome], name: str) -> float:
    return next(each.value for each in outcomes if each.name == name)


def test_bars_hold_on_their_own_side() -> None:
    assert Outcome("a", "", 0.83, at_least(0.83)).is_met
    assert not Outcome("a", "", 0.46, at_most(0.45)).is_met
    assert not Outcome("a", "", 0.2, below(0.2)).is_met
    assert Outcome("a", "", 0.2).is_met is None


def test_what_could_not_be_measured_does_not_hold() -> None:
    broken = Outcome("a", "pitch", math.nan, at_least(0.5))
    assert broken.is_met is False
    assert json.loads(json.dumps(broken.as_json(), allow_nan=False))["value"] is None


def test_the_table_names_verdict_value_and_what_is_asked() -> None:
    line = table([Outcome("a", "sentences identified", 0.5, at_least(0.8), "4 of 8")])
    assert line.split() == ["FAILS", "0.5", ">=", "0.8", "sentences", "identified", "(4", "of", "8)"]


def test_word_errors_count_over_all_words() -> None:
    heard = [["a", "red", "house"], ["six", "rivers", "rivers", "rivers"]]
    assert word_error_rate(heard, SENTENCES[:2]) == pytest.approx(2 / 6)
    assert words_of("Don't go, Anna!") == ["don't", "go", "anna"]


def test_a_perfect_model_is_identified_and_recognised(perfect: Examination) -> None:
    found = intelligibility.identification(perfect)
    assert [each.value for each in found] == [1.0, 1.0, 1.0]
    assert [each.is_met for each in found] == [True, None, None]
    assert [each.value for each in intelligibility.words(perfect)] == [0.0, 0.0, 0.0]


def test_a_model_that_says_something_else_is_not_identified(perfect: Examination) -> None:
    perfect.spoken("flite-rms@1.00")
    mumbling = intelligibility.identification(_deafened(perfect))
    assert mumbling[0].is_met is False


def test_run_ons_are_counted(perfect: Examination) -> None:
    assert intelligibility.durations(perfect)[0].is_met
    cast("FakeChain", perfect.chain).stretch = 2.0
    assert intelligibility.durations(perfect)[0].value == 0.0


def test_speed_styles_are_measured_between_the_first_and_last_sound(perfect: Examination) -> None:
    found = style_effects.style_effects(perfect)
    assert value_of(found, "wish.speed.fast") > 1.3
    assert value_of(found, "wish.speed.slow") < 0.75
    assert value_of(found, "wish.pitch.high") == pytest.approx(1.0, abs=0.05)
    assert value_of(found, "wish.volume.loud") == pytest.approx(0.0, abs=0.1)


def test_silence_around_speech_is_not_speech() -> None:
    tone = 0.3 * np.sin(2 * np.pi * 150 * np.arange(24_000) / 24_000).astype(np.float32)
    silence = np.zeros(12_000, np.float32)
    padded = np.concatenate([silence, tone, silence])
    assert style_effects.active_seconds(padded) == pytest.approx(1.0, abs=0.05)
    assert style_effects.voiced_share(padded) > 0.9
    hiss = 0.1 * np.random.default_rng(0).standard_normal(24_000).astype(np.float32)
    assert style_effects.voiced_share(np.concatenate([silence, hiss])) < 0.1


def test_a_dialect_is_judged_by_its_sounds(perfect: Examination) -> None:
    found = dialects.dialects(perfect)
    assert found[0].name == "dialect.scotland"
    assert all(each.value == 1.0 for each in found)
    cast("FakeChain", perfect.chain).hears_accents = False
    assert not any(each.is_met for each in dialects.dialects(perfect)[:2])


def test_seams_are_found_where_pieces_differ(perfect: Examination) -> None:
    assert [each.value for each in speed.seams(perfect)] == [0.0, 0.0, 0.0]
    cast("FakeChain", perfect.chain).seam = 0.01
    assert [each.is_met for each in speed.seams(perfect)] == [True, False, False]
    assert [each.is_met for each in speed.speed(perfect)] == [True, True]


def test_a_silent_vocoder_is_no_copy(tmp_path: Path) -> None:
    class HearsLoudness:
        def sentence(self, samples: np.ndarray, sentences: tuple[str, ...]) -> int | None:
            return 0 if np.abs(samples).max() > 0.01 else None

        def words(self, samples: np.ndarray) -> list[str]:
            return words_of(SENTENCES[0]) if np.abs(samples).max() > 0.01 else []

    found = stages.copy_synthesis(examination(tmp_path, recognizer=HearsLoudness(), sentences=SENTENCES[:1]))
    assert [each.value for each in found] == [1.0, 1.0]
    assert not any(each.is_met for each in found)
    assert "own 0.00" in found[0].note


def test_tokens_heard_as_they_were_made_are_right(perfect: Examination) -> None:
    assert stages.tokenizer(perfect)[0].value == 1.0


def test_timbre_without_a_judge_is_said_to_be_missing(perfect: Examination) -> None:
    lines: list[str] = []
    results = examine(perfect, ["timbre", "pitch"], report=lines.append)
    assert "--judge" in results.left_out["timbre"]
    assert [each.name for each in results.outcomes] == ["pitch"]
    assert len(lines) == 1


def test_timbre_is_a_share_of_pairs(tmp_path: Path) -> None:
    write_speaker_onnx(SpeakerNetwork(16, 32), tmp_path / "judge.onnx")
    found = likeness.timbre(examination(tmp_path, judge=tmp_path / "judge.onnx"))[0]
    assert 0.0 <= found.value <= 1.0
    assert "pairs of 4 speakers" in found.note


def test_a_clone_is_as_high_as_its_prompt(perfect: Examination) -> None:
    assert likeness.pitch(perfect)[0].is_met


def test_every_row_of_the_table_has_a_measure() -> None:
    assert set(MEASURES) >= {
        "identification", "words", "copy", "timbre", "pitch", "durations", "wishes", "dialects", "speed", "seams",
    }  # fmt: skip


def _deafened(made: Examination) -> Examination:
    class Deaf:
        def sentence(self, samples: np.ndarray, sentences: tuple[str, ...]) -> int | None:
            return None

        def words(self, samples: np.ndarray) -> list[str]:
            return []

    return Examination(made.chain, made.originals, Deaf(), made.sentences)
