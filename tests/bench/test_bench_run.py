"""The benchmark is complete and leaves no files. No test asserts speed."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch

from studio.bench.__main__ import main
from studio.bench.inputs import PARTS, BenchSize, ForcedTokens, random_mel, random_prompt, random_tokens, write_clip
from studio.bench.measurements import BenchReport, Decision, Measurement, describe_machine, peak_memory_bytes
from studio.bench.request_measures import RequestTiming
from studio.bench.run import BenchRequest, run_bench
from studio.bench.stage_measures import good_prompt_tokens
from studio.errors import UnusableSetting
from studio.model.options import SamplingOptions
from studio.pipeline.pacing import ChunkSchedule
from studio.pipeline.request import EngineOptions, Mode, SynthesisReport

_SMALL = BenchSize(
    prompt_seconds=(2.0, 3.0),
    speech_seconds=1.6,
    cost_seconds=(1.0, 2.0),
    num_speech_tokens=8,
    num_repeats=1,
    parts=frozenset(PARTS),
)


@pytest.fixture(scope="module", params=["cosyvoice2", "cosyvoice3"])
def measured(
    request: pytest.FixtureRequest, reference: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[BenchReport, list[str]]:
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIMBRE_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(psutil, "cpu_count", lambda logical=True: 1)
        report = run_bench(
            BenchRequest(
                folder=reference / str(request.param) / "checkpoint",
                options=EngineOptions(num_threads=1, speech_lm_precision="float32"),
                extent=_SMALL,
                progress=said.append,
            )
        )
    return report, said


@pytest.mark.slow
def test_every_documented_measurement_is_present(measured: tuple[BenchReport, list[str]]) -> None:
    report, _ = measured
    assert {figure.name for figure in report.figures} >= {
        "loading.time",
        "loading.first_time",
        "loading.weight_files",
        "loading.peak_memory",
        "speech_lm.prefill_new_voice",
        "speech_lm.prefill_known_voice",
        "speech_lm.tokens_per_second",
        "speech_lm.real_time_factor",
        "flow.prepare_2_s_prompt",
        "flow.state_of_3_s_prompt",
        "flow.first_chunk_3_s_prompt",
        "flow.per_audio_second",
        "vocoder.per_audio_second",
        "vocoder.late_over_early",
        "request.first_sound_new_voice_2_s_prompt",
        "request.first_sound_known_voice_3_s_prompt",
        "request.last_over_first_3_s_prompt",
        "request.real_time_factor_streaming",
        "request.real_time_factor_whole",
        "request.needed_start",
        "request.announced_start",
        "request.in_speech_lm",
        "request.in_flow",
        "request.in_vocoder",
        "length.1_s",
        "length.2_s",
        "memory.peak",
    }


def test_numbers_are_positive_and_each_is_defined_once(measured: tuple[BenchReport, list[str]]) -> None:
    report, _ = measured
    names = [figure.name for figure in report.figures]
    assert len(set(names)) == len(names)
    for figure in report.figures:
        assert math.isfinite(figure.value), figure.name
        assert figure.value > 0, figure.name
        assert figure.definition.endswith("."), figure.name


def test_numbers_agree_with_each_other(measured: tuple[BenchReport, list[str]]) -> None:
    report, _ = measured
    assert report["speech_lm.real_time_factor"] == pytest.approx(25 / report["speech_lm.tokens_per_second"])
    assert report["flow.state_of_3_s_prompt"] > report["flow.state_of_2_s_prompt"]
    assert report["memory.peak"] >= report["loading.peak_memory"] >= report["loading.memory_before"]
    in_stages = sum(report[f"request.in_{stage}"] for stage in ("speech_lm", "flow", "vocoder"))
    assert in_stages <= report["request.real_time_factor_streaming"] * _SMALL.speech_seconds
    # The first chunk cannot be played before it is there.
    assert report["request.needed_start"] <= report["request.real_time_factor_streaming"] * _SMALL.speech_seconds


def test_choices_are_explained(measured: tuple[BenchReport, list[str]]) -> None:
    (speech_lm,) = measured[0].choices
    assert "float32" in speech_lm.chosen
    assert "as requested" in speech_lm.because


def test_progress_is_described_in_words(measured: tuple[BenchReport, list[str]]) -> None:
    _, said = measured
    assert said[0] == "loading the model"
    assert said[-1] == "measured a line of 2 s"


def test_table_and_json_contain_every_measurement(measured: tuple[BenchReport, list[str]]) -> None:
    report, _ = measured
    read = json.loads(report.to_json())
    assert [figure["name"] for figure in read["figures"]] == [figure.name for figure in report.figures]
    assert read["machine"]["torch"] == str(torch.__version__)
    table = report.to_table()
    for figure in report.figures:
        assert figure.definition in table
        assert figure.name.partition(".")[2].replace("_", " ") in table


def test_table_reads_well() -> None:
    report = BenchReport(
        model={"model": "tiny"},
        figures=[
            Measurement("flow.first_chunk", 0.01234, "s", "The first."),
            Measurement("flow.all", 1234.5, "s", "All."),
        ],
        choices=[Decision("threads", "2", "there are two", (Measurement("threads.flow_with_1", 0.5, "s", "One."),))],
    )
    assert report.to_table() == (
        "model: tiny\n\n"
        "flow\n"
        "  first chunk                                      0.0123 s\n"
        "  all                                                1234 s\n\n"
        "threads: 2\n"
        "  because there are two\n"
        "  flow with 1                                         0.5 s\n\n"
        "Definitions\n"
        "  flow, first chunk: The first.\n"
        "  flow, all: All.\n"
    )


@pytest.mark.slow
def test_only_the_chosen_parts_are_measured(
    reference: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    model = str(reference / "cosyvoice3" / "checkpoint")
    arguments = ["--model", model, "--json", "--threads", "1", "--flow-steps", "3", "--prompt-seconds", "2"]
    assert main([*arguments, "--only", "vocoder,requests", "--speech-seconds", "1.2", "--quick"]) == 0
    names = {figure["name"] for figure in json.loads(capsys.readouterr().out)["figures"]}
    assert {name.partition(".")[0] for name in names} == {"vocoder", "request", "memory"}
    assert "request.first_sound_known_voice_2_s_prompt" in names


@pytest.mark.slow
def test_comparisons_of_precisions_are_listed(
    reference: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    model = str(reference / "cosyvoice3" / "checkpoint")
    assert main(["--model", model, "--json", "--threads", "1", "--only", "vocoder,precisions", "--quick"]) == 0
    out, err = capsys.readouterr()
    compared = [choice for choice in json.loads(out)["choices"] if choice["subject"] == "speech-lm compared"]
    assert {figure["name"].rpartition("_")[2] for choice in compared for figure in choice["measured"]} == {
        "error",
        "divergence",
    }
    assert "precisions: no longer measured" in err


def test_an_unknown_part_is_an_error_that_names_the_others(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["--model", str(tmp_path), "--only", "flow,sound"]) == 2
    err = capsys.readouterr().err
    assert "no part sound" in err
    assert "speech_lm, flow" in err


def test_unmeasured_figure_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="flow speed"):
        BenchReport()["flow speed"]


def test_gapless_start_waits_for_the_latest_chunk() -> None:
    report = SynthesisReport(1.0, 3.0, 4.0, 24_000, Mode.ZERO_SHOT, 75, {}, {})
    # Half a second of sound at 1.0, a second at 1.4 (in time), the rest at 4.0, due 1.5 s after the start.
    timing = RequestTiming(report, ((1.0, 0.5), (1.4, 1.0), (4.0, 1.5)), announced_start_seconds=None)
    assert timing.earliest_gapless_start == pytest.approx(2.5)


@pytest.mark.parametrize("seconds", [2.0, 3.0, 9.7, 10.0])
def test_measured_prompts_have_the_best_first_hop(seconds: float) -> None:
    num_tokens = good_prompt_tokens(int(25 * seconds), 25)
    assert ChunkSchedule(num_tokens, 25).end_tokens == 10
    assert seconds - 1.5 < num_tokens / 25 <= seconds


def test_inputs_are_the_same_in_every_run() -> None:
    first, again = (random_prompt(30, 100, num_frames=60) for _ in range(2))
    assert first.speech_tokens == again.speech_tokens
    assert np.array_equal(first.mel, again.mel)
    assert first.mel.shape == (60, 80)
    assert random_mel(10).shape == (80, 10)
    assert set(random_tokens(500, 7)) == set(range(7))


def test_forced_tokens_ignore_the_scores() -> None:
    sampler = ForcedTokens((5, 3), SamplingOptions())
    scores = torch.zeros(8)
    scores[7] = 50.0
    assert [sampler(scores, history, forbid=None) for history in ([], [5])] == [5, 3]


def test_the_written_clip_has_the_requested_length(tmp_path: Path) -> None:
    import soundfile

    write_clip(tmp_path / "clip.wav", 2.5)
    samples, rate = soundfile.read(tmp_path / "clip.wav")
    assert len(samples) / rate == 2.5
    assert 0.05 < np.abs(samples).max() < 1.0


def test_every_field_of_the_machine_has_a_value() -> None:
    described = describe_machine()
    assert {"processor", "cores", "memory", "torch", "threads", "date"} <= described.keys()
    assert all(described.values())
    assert peak_memory_bytes() > 50 * 2**20


def test_a_missing_model_is_reported_on_standard_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status = main(["--model", str(tmp_path / "nowhere"), "--quick", "--json"])
    out, err = capsys.readouterr()
    assert status == 3
    assert out == ""
    assert "There is no model folder" in err
    assert err.endswith("(model-not-found)\n")


def test_ctrl_c_ends_it_without_a_traceback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(_request: BenchRequest) -> BenchReport:
        raise KeyboardInterrupt

    monkeypatch.setattr("studio.bench.__main__.run_bench", interrupted)
    assert main(["--model", str(tmp_path)]) == 130


@pytest.mark.slow
def test_json_goes_alone_to_standard_output_and_the_cache_stays_untouched(
    reference: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    monkeypatch.setattr("studio.bench.__main__.QUICK", _SMALL)
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: 1)
    model = reference / "cosyvoice3" / "checkpoint"
    status = main(["--model", str(model), "--quick", "--json", "--threads", "1", "--speech-lm-precision", "int8"])
    out, err = capsys.readouterr()
    assert status == 0
    assert json.loads(out)["model"]["generation"] == "cosyvoice3"
    assert "the vocoder" in err
    assert os.environ["TIMBRE_CACHE"] == str(tmp_path)
    assert not list(tmp_path.iterdir())


def test_random_model_is_written_into_the_cache_and_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    measured: list[Path] = []

    def write(folder: Path, generation: str, seed: int, *, progress: object) -> None:
        folder.mkdir(parents=True)
        (folder / f"{generation} {seed}").touch()

    def bench(request: BenchRequest) -> BenchReport:
        measured.append(request.folder)
        return BenchReport(model={"model": "tiny"})

    monkeypatch.setattr("measurements.random_models.checkpoint.write_random_checkpoint", write)
    monkeypatch.setattr("studio.bench.__main__.run_bench", bench)
    assert main(["--random", "cosyvoice2", "--seed", "4"]) == 0
    assert measured == [tmp_path / "random-models" / "cosyvoice2-4"]
    assert (measured[0] / "cosyvoice2 4").exists()
    assert "model: tiny" in capsys.readouterr().out


@pytest.mark.parametrize("options", [("--device", "cuda:99"), ("--only", "nothing")])
def test_no_random_model_is_written_for_what_cannot_be_measured(
    options: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    assert main(["--random", "cosyvoice1", *options]) == UnusableSetting.exit_status
    assert options[1] in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_random_models_outside_a_clone_are_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("studio.bench.__main__.__file__", str(tmp_path / "site" / "studio" / "bench" / "__main__.py"))
    assert main(["--random", "cosyvoice2"]) == 2
    assert "from a clone of the source" in capsys.readouterr().err
