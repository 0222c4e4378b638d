"""``packaging/measure.py`` starts each measurement. Qualities compare text that arrives with whole sentences."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import measure
import numpy as np
import pytest
import soundfile
from fake_model import CHUNK_SAMPLES, Chunks, FakeModel

from measurements import marks, qualities
from studio.pipeline import loading
from studio.pipeline.request import EngineOptions, RequestControl, SynthesisRequest
from studio.text.arriving import ArrivingText
from training.corpus import texts
from training.judging import english_words

SENTENCE = "The harbour was quiet when we came"


class MumblingModel(FakeModel):
    """Says only half of a sentence that arrives."""

    def stream(
        self,
        request: SynthesisRequest,
        *,
        control: RequestControl,
        in_batch: bool = False,
        text: ArrivingText | None = None,
    ) -> Chunks:
        chunks = super().stream(request, control=control, in_batch=in_batch, text=text)
        for number, chunk in enumerate(chunks):
            if text is None or number < 3:
                yield chunk
        return self._report(request.mode, SENTENCE)


class Recognizer:
    """Knows the words of the fake model by their positions."""

    def sentence(self, _samples: np.ndarray, _sentences: tuple[str, ...]) -> int:
        return 0

    def words(self, samples: np.ndarray) -> list[str]:
        words = SENTENCE.lower().split()
        return [words[round(10 * float(level)) - 1] for level in samples[::CHUNK_SAMPLES]]


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "test_sentences", lambda _language: (SENTENCE,))
    monkeypatch.setattr(english_words, "Pocketsphinx", Recognizer)
    monkeypatch.setattr(qualities, "_similarity", lambda _synthesizer, _spoken: 1.0)


def measured(
    model: type[FakeModel], folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, dict[str, float]]:
    """Return the exit status, and the word error rate over that of whole sentences by quality."""
    monkeypatch.setattr(loading, "load_synthesizer", lambda _folder, _options: model(Path(folder), EngineOptions()))
    monkeypatch.setenv("TIMBRE_CACHE", "")
    table = tmp_path / "table.json"
    options = ["--work", str(tmp_path), "--model", folder, "--precisions", "none", "--takes", "2", "--json", str(table)]
    status = measure.main(["qualities", *options])
    rows = json.loads(table.read_text())["qualities"]
    return status, {row["quality"]: row["word_error_rate_over_exact"] for row in rows}


@pytest.mark.parametrize("name", measure.MEASUREMENTS)
def test_each_measurement_describes_its_options(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "cluster" and importlib.util.find_spec("ray") is None:
        pytest.skip("needs Ray")
    with pytest.raises(SystemExit) as ended:
        measure.main([name, "--help"])
    assert ended.value.code == 0
    assert "--json" in capsys.readouterr().out


def test_an_unknown_name_prints_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert measure.main(["nonsense"]) == 2
    assert "take-checks" in capsys.readouterr().err


@pytest.mark.usefixtures("judged")
def test_sentences_that_arrive_word_by_word_are_compared_with_whole_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, over_whole = measured(FakeModel, "interleaves", tmp_path, monkeypatch)
    assert over_whole == {"exact": 0, "fast": 0, "draft": 0, "arriving": 0}
    assert status == 0


@pytest.mark.usefixtures("judged")
def test_a_model_that_loses_words_of_arriving_text_exceeds_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, over_whole = measured(MumblingModel, "interleaves", tmp_path, monkeypatch)
    assert over_whole["arriving"] == pytest.approx(4 / 7, abs=0.001)
    assert status == 1


@pytest.mark.usefixtures("judged")
def test_a_model_without_the_mode_has_no_such_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert measured(FakeModel, "whole-sentences", tmp_path, monkeypatch)[1].keys() == {"exact", "fast", "draft"}


def test_marks_continue_after_the_clips_that_are_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks.os, "nice", lambda _by: 0)
    monkeypatch.setattr(marks, "is_for_fit", lambda _path: False)
    monkeypatch.setattr(marks, "changes", lambda _before: {"none": lambda sound: sound})
    noise = np.random.default_rng(1)
    for number in range(3):
        soundfile.write(tmp_path / f"{number}.wav", noise.standard_normal(48_000) / 9, marks.RATE)
    results = tmp_path / "results.json"
    for num_clips in (1, 3, 3):
        marks.main([str(tmp_path), "--clips", str(num_clips), "--json", str(results)])
        stored = json.loads(results.read_text("utf-8"))
        assert stored["num_clips"] == num_clips
        assert [len(margins) for margins in stored["margins"]["none"]] == 3 * [num_clips]
