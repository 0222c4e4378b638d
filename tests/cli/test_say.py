"""`timbre say`: options reach the model, and audio reaches its destination."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import noise_models
import numpy as np
import pytest
import soundfile
from fake_model import CHUNK_SAMPLES, SAMPLE_RATE, FakeModel
from sound_card import SoundCard
from terminal import Terminal

from studio.audio.files import AudioWriter
from studio.audio.resampling import Samples
from studio.cli import pipe_writer
from studio.errors import DiskFull
from studio.model.options import Quality, SamplingOptions
from studio.pipeline.request import SynthesisRequest
from studio.settings import (
    DEVICE,
    FLOW_PRECISION,
    KEEPS_LEADING_SILENCE,
    NUM_THREADS,
    PREFERS_RL,
    SPEECH_LM_PRECISION,
    STREAMS_APPROXIMATELY,
)
from studio.settings_store import Settings

pytestmark = pytest.mark.timeout(60)
EXPECTED_KEYS = {
    "first_audio_seconds", "audio_seconds", "total_seconds", "real_time_factor", "sample_rate", "stages", "engine",
    "notes", "model", "load_seconds", "mode", "seed", "num_speech_tokens", "spoken_text", "warnings", "output",
    "promised_start_seconds", "play_start_seconds", "underruns", "check", "network_seconds", "queue_seconds",
    "server_real_time_factor", "network_delay_seconds",
    "quality", "speculation",
}  # fmt: skip


def asked(timbre: Terminal) -> SynthesisRequest:
    (request,) = timbre.opened[-1].requests
    assert isinstance(request, SynthesisRequest)
    return request


def spoken_to_pipe(timbre: Terminal, monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> tuple[int, bytes]:
    pipe = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe, write_through=True))
    return timbre("say", *words).status, pipe.getvalue()


def test_a_pipe_receives_wav_and_nothing_else(timbre: Terminal, clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, written = spoken_to_pipe(timbre, monkeypatch, "one two", "--voice", clip, "-o", "-")
    assert status == 0
    samples, rate = soundfile.read(io.BytesIO(written))
    assert (len(samples), rate) == (2 * CHUNK_SAMPLES, SAMPLE_RATE)
    assert not (timbre.folder / "-").exists()


def test_a_pipe_receives_bare_samples_on_request(timbre: Terminal, clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, written = spoken_to_pipe(timbre, monkeypatch, "one two", "--voice", clip, "-o", "-", "--raw")
    assert status == 0
    assert np.frombuffer(written, "<i2")[[0, -1]] / 32768 == pytest.approx([0.1, 0.2], abs=1e-3)
    assert len(written) == 2 * 2 * CHUNK_SAMPLES


def test_piped_audio_is_not_spoken_again(timbre: Terminal, clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, written = spoken_to_pipe(timbre, monkeypatch, "mumble two", "--voice", clip, "-o", "-")
    assert status == 0
    assert len(timbre.opened[-1].requests) == 1
    assert written.count(b"RIFF") == 1


class ClosedPipe(io.RawIOBase):
    def writable(self) -> bool:
        return True

    def write(self, _data: object) -> int:
        raise BrokenPipeError


def test_a_reader_that_ends_stops_the_speech_quietly(
    timbre: Terminal, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "dup2", lambda *_: None)  # the command replaces its standard output, which is the test's
    monkeypatch.setattr(sys.stdout, "fileno", lambda: 1, raising=False)
    monkeypatch.setattr(pipe_writer, "sys", SimpleNamespace(stdout=SimpleNamespace(buffer=ClosedPipe())))
    ran = timbre("say", "one two " * 50, "--voice", clip, "-o", "-")
    assert (ran.status, ran.err.count("internal-error")) == (0, 0)


@pytest.mark.parametrize(
    ("words", "reason"),
    [(["-o", "-", "--json"], "both audio and JSON"), (["-o", "out.wav", "--raw"], "--raw needs -o -")],
)
def test_impossible_destinations_are_refused(timbre: Terminal, clip: Path, words: list[str], reason: str) -> None:
    ran = timbre("say", "one", "--voice", clip, *words)
    assert (ran.status, timbre.opened) == (2, [])
    assert reason in ran.err


def test_audio_is_not_written_to_a_terminal(timbre: Terminal, clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    ran = timbre("say", "one", "--voice", clip, "-o", "-")
    assert ran.status == 2
    assert "Standard output is a terminal" in ran.err


def test_quiet_prints_only_results_and_errors(timbre: Terminal, clip: Path) -> None:
    assert timbre("say", "one", "--voice", clip, "-o", "a.wav").err
    quiet = timbre("say", "one", "--voice", clip, "-o", "b.wav", "--quiet", "--json")
    assert (quiet.status, quiet.err) == (0, "")
    assert quiet.json["audio_seconds"]
    failed = timbre("say", "bug", "--voice", clip, "-o", "c.wav", "--quiet")
    assert failed.err.startswith("timbre: ")


def test_a_dry_run_shows_words_and_speaks_nothing(timbre: Terminal, clip: Path) -> None:
    model = str(noise_models.V3)
    ran = timbre(
        "say", "It costs $12.50. On 3/4/2024 we met", "--model", model, "--language", "en-GB", "--dry-run", "--json"
    )
    assert ran.status == 0
    assert not timbre.opened
    (sentence,) = json.loads(ran.out)["sentences"]
    assert sentence == {
        "written": "It costs $12.50. On 3/4/2024 we met",
        "spoken": "It costs twelve dollars fifty. On the third of April twenty twenty four we met.",
        "language": "en",
        "changes": [
            {"from": "$12.50", "to": "twelve dollars fifty", "rule": "money"},
            {"from": "3/4/2024", "to": "the third of April twenty twenty four", "rule": "date"},
        ],
    }
    shown = timbre("say", "Nr. 5", "--model", model, "--language", "xx", "--dry-run")
    assert shown.status == 2
    shown = timbre("say", "The 5 ships", "--model", model, "--dry-run")
    assert "  5 → five  [number]" in shown.out
    shown = timbre("say", 'Wait. <break time="500ms"/> Go on.', "--model", model, "--dry-run")
    assert "spoken: Wait.\npause: 0.5 s\n" in shown.out


def test_speech_is_written_to_one_file(timbre: Terminal, clip: Path) -> None:
    ran = timbre("say", "one two three", "--voice", clip, "-o", "out.wav", "--model", "quiet", "--unmarked")
    assert ran.status == 0
    samples, rate = soundfile.read("out.wav")
    assert rate == SAMPLE_RATE
    assert len(samples) == 3 * CHUNK_SAMPLES
    np.testing.assert_allclose(samples[::CHUNK_SAMPLES], [0.1, 0.2, 0.3], atol=1e-4)
    assert timbre.files() == {"out.wav"}
    assert ran.out == ""
    assert "real-time factor" in ran.err
    assert "first sound after 0.20 s" in ran.err
    assert "speech_lm 0.10 s · flow 0.20 s · vocoder 0.10 s" in ran.err
    assert "wrote out.wav" in ran.err
    assert timbre.opened[0].is_closed
    assert timbre.opened[0].num_finished_writes == 1


def test_a_language_that_the_model_has_not_learned_is_spoken_after_a_warning(timbre: Terminal, clip: Path) -> None:
    ran = timbre("say", "大家好。", "--voice", clip, "-o", "out.wav")
    assert ran.status == 0
    assert timbre.files() == {"out.wav"}
    warning, helpful = ran.err.splitlines()[:2]
    assert warning == "studio-mini speaks English only. Speech in another language is unintelligible."
    assert "`timbre models install Fun-CosyVoice3-0.5B-2512`" in helpful
    assert "only" not in timbre("say", "Hello.", "--voice", clip, "-o", "two.wav").err
    assert "only" not in timbre("say", "大家好。", "--voice", clip, "-o", "three.wav", "--model", "quiet").err


def test_json_is_one_object_with_every_key(timbre: Terminal, clip: Path) -> None:
    ran = timbre("say", "你好 two", "--voice", clip, "-o", "out.wav", "--json", "--seed", "7")
    assert ran.out.count("\n") == 1
    assert set(ran.json) == EXPECTED_KEYS
    assert ran.json["spoken_text"] == ["你好 two"]
    assert ran.json["audio_seconds"] == pytest.approx(0.2)
    assert ran.json["real_time_factor"] == pytest.approx(2.0)
    assert ran.json["stages"] == {"speech_lm": 0.1, "flow": 0.2, "vocoder": 0.1}
    assert ran.json["engine"] == {"device": "cpu", "speech_lm": "fake"}
    assert ran.json["model"]["name"] == "studio-mini"
    assert (ran.json["output"], ran.json["seed"], ran.json["mode"]) == ("out.wav", 7, "cross-lingual")
    assert ran.json["promised_start_seconds"] == 0.25
    assert ran.json["play_start_seconds"] is None


def test_leading_silence_is_kept_only_with_the_option(timbre: Terminal, clip: Path) -> None:
    assert timbre("say", "one", "--voice", clip, "-o", "o.wav").status == 0
    assert asked(timbre).trims_leading_silence
    assert timbre("say", "one", "--voice", clip, "-o", "p.wav", "--keep-leading-silence").status == 0
    assert not asked(timbre).trims_leading_silence


def test_an_instruction_that_the_model_does_not_follow_is_left_out_after_a_warning(
    timbre: Terminal, clip: Path
) -> None:
    warning = "studio-mini does not follow instructions in your own words."
    ran = timbre("say", "Hello.", "--voice", clip, "--instruct", "like a pirate", "-o", "one.wav")
    assert (ran.status, warning in ran.err, asked(timbre).instruct) == (0, True, None)
    ran = timbre("say", "Hello.", "--voice", clip, "--instruct", "Please whisper.", "-o", "two.wav")
    assert (warning in ran.err, asked(timbre).instruct) == (False, "Please whisper.")


def test_every_option_reaches_the_model(timbre: Terminal, clip: Path) -> None:
    ran = timbre(
        "say", "text", "--voice", clip, "--transcript", "What is said.", "--instruct", "softly", "--speed", "1.5",
        "--seed", "3", "--quality", "fast", "--whole", "--as-written", "--top-p", "0.5", "--top-k", "9", "--first-hop", "25", "-o", "o.wav",
        "--device", "cuda", "--precision", "int8", "--flow-precision", "bfloat16", "--threads", "2", "--variant", "rl",
        "--flow-steps", "5", "--flow-left-context", "100", "--repetition-window", "8", "--repetition-ratio", "0.2",
        "--model", "quiet",
    )  # fmt: skip
    assert ran.status == 0, ran.err
    request = asked(timbre)
    assert (request.voice.clip, request.voice.transcript, request.voice.name) == (clip, "What is said.", "prompt_a")
    assert (request.instruct, request.preset, request.speed, request.seed) == ("softly", None, 1.5, 3)
    assert (request.is_streaming, request.text_is_normalized, request.first_hop_tokens) == (False, True, 25)
    assert request.quality is Quality.FAST
    assert request.sampling == SamplingOptions(top_p=0.5, top_k=9, window_tokens=8, repetition_ratio=0.2)
    options = timbre.opened[0].options
    assert (options.device, options.speech_lm_precision, options.flow_precision) == ("cuda", "int8", "bfloat16")
    assert (options.num_threads, options.variant, options.flow_steps) == (2, "rl", 5)


def test_options_that_are_not_given_are_those_of_the_settings(timbre: Terminal, clip: Path) -> None:
    (timbre.folder / "data" / "models" / "quiet" / "llm.rl.pt").touch()
    Settings().change(
        {
            DEVICE: "cpu", SPEECH_LM_PRECISION: "float32", FLOW_PRECISION: "float32", NUM_THREADS: 3, PREFERS_RL: True,
            STREAMS_APPROXIMATELY: True, KEEPS_LEADING_SILENCE: True,
        }
    )  # fmt: skip
    assert timbre("say", "one", "--voice", clip, "-o", "o.wav", "--model", "quiet").status == 0
    options = timbre.opened[0].options
    assert (options.device, options.speech_lm_precision, options.flow_precision) == ("cpu", "float32", "float32")
    assert (options.num_threads, options.variant, options.streams_approximately) == (3, "rl", True)
    assert not asked(timbre).trims_leading_silence
    assert timbre("say", "one", "--voice", clip, "-o", "o.wav", "--device", "cuda", "--precision", "auto").status == 0
    options = timbre.opened[1].options
    assert (options.device, options.speech_lm_precision, options.variant) == ("cuda", "auto", None)


def test_a_reduced_quality_is_reported_in_words_and_numbers(timbre: Terminal, clip: Path) -> None:
    ran = timbre("say", "text", "--voice", clip, "-o", "o.wav", "--json", "--quality", "draft")
    assert "quality draft: 0.25 dB from exact; the flow takes 50% of its time" in ran.err
    assert ran.json["quality"] == {"name": "draft", "distance_db": 0.25, "relative_flow_seconds": 0.5}
    exact = timbre("say", "text", "--voice", clip, "-o", "o.wav", "--json")
    assert "quality" not in exact.err
    assert exact.json["quality"] == {"name": "exact", "distance_db": 0.0, "relative_flow_seconds": 1.0}
    assert timbre("say", "text", "--voice", clip, "-o", "o.wav", "--quality", "best").status == 2


def test_a_take_that_is_kept_is_spoken_by_the_engine_that_stays(timbre: Terminal, clip: Path) -> None:
    timbre.with_sound_card()
    spoken = ("say", "one", "--voice", str(clip))
    kept = timbre(*spoken, "-o", "a.wav")
    played = timbre(*spoken, "--play")
    timbre(*spoken, "--play", "-o", "b.wav")
    assert "Choosing the fastest precision" in played.err
    assert "Choosing the fastest precision" not in kept.err
    assert [opened.options.compares_later for opened in timbre.opened] == [False, True, False]


def test_the_default_request_has_no_options(timbre: Terminal, clip: Path) -> None:
    timbre("say", "text", "--voice", clip, "-o", "o.wav")
    request = asked(timbre)
    assert request == SynthesisRequest("text", request.voice, trims_leading_silence=True)
    assert timbre.opened[0].options.loads_speech_lm
    assert request.voice.transcript is None


def test_an_implausible_length_is_retried_once(timbre: Terminal, clip: Path) -> None:
    ran = timbre("say", "mumble two", "--voice", clip, "-o", "o.wav", "--json", "--seed", "4")
    assert ran.status == 0, ran.err
    first, second = timbre.opened[-1].requests
    assert (first.is_played, second.is_played) == (True, False)
    assert replace(second, is_played=True) == first
    assert "trying again" in ran.err
    assert ran.json["warnings"] == []
    assert timbre.files() == {"o.wav"}


def test_an_implausible_length_after_the_retry_is_a_warning(timbre: Terminal, clip: Path) -> None:
    ran = timbre("say", "babble two", "--voice", clip, "-o", "o.wav", "--json")
    assert len(timbre.opened[-1].requests) == 2
    words = "“babble two” is longer than plausible; listen to it, or choose another --seed."
    assert words in ran.err
    assert ran.json["warnings"] == [f"implausible-length: {words}"]


def test_played_speech_is_not_retried(timbre: Terminal, clip: Path) -> None:
    timbre.with_sound_card()
    ran = timbre("say", "mumble two", "--voice", clip, "--play", "-o", "o.wav", "--json")
    assert len(timbre.opened[-1].requests) == 1
    assert len(ran.json["warnings"]) == 1


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_a_text_file_is_read(timbre: Terminal, clip: Path, encoding: str) -> None:
    """Text files may have any encoding that scripts may have."""
    Path("text.txt").write_bytes("Zeile eins\nZeile zwei ü\n".encode(encoding))
    assert timbre("say", "--file", "text.txt", "--voice", clip, "-o", "o.wav").status == 0
    assert asked(timbre).text == "Zeile eins\nZeile zwei ü\n"


@pytest.mark.slow
def test_text_on_standard_input_is_spoken_as_it_arrives(timbre: Terminal, clip: Path) -> None:
    """The second half is written only after the first has been played."""
    card = timbre.with_sound_card()
    reading, writing = os.pipe()
    timbre.change(text_input=reading)

    def type_text() -> None:
        os.write(writing, "ünd\n".encode()[:1])
        os.write(writing, "ünd\n".encode()[1:])
        deadline = time.monotonic() + 20
        while card.first_sound is None and time.monotonic() < deadline:
            time.sleep(0.01)
        os.write(writing, b"two" if card.first_sound is not None else b"silence")
        os.close(writing)

    typing = threading.Thread(target=type_text)
    typing.start()
    ran = timbre("say", "-", "--voice", clip, "--play", "--json")
    typing.join()
    os.close(reading)
    assert ran.status == 0
    assert ran.json["spoken_text"] == ["ünd\n", "two"]
    assert [request.first_index for request in timbre.opened[-1].requests] == [0, 1]


@pytest.mark.slow
def test_speech_is_played_from_the_predicted_start(timbre: Terminal, clip: Path) -> None:
    card = timbre.with_sound_card()
    begun = time.monotonic()
    ran = timbre("say", "one " + "breathe " * 7, "--voice", clip, "--play", "-o", "out.wav", "--json", "--unmarked")
    assert ran.status == 0
    assert len(card.heard) == 8 * CHUNK_SAMPLES
    np.testing.assert_allclose(card.heard, soundfile.read("out.wav")[0], atol=1e-4)
    assert ran.json["underruns"] == 0
    assert 0.0 < ran.json["play_start_seconds"] < time.monotonic() - begun


@pytest.mark.slow
def test_a_long_wait_is_announced(timbre: Terminal, clip: Path) -> None:
    card = timbre.with_sound_card()
    FakeModel.estimated_seconds = 2.0
    try:
        ran = timbre("say", "one " + "rest " * 24, "--voice", clip, "--play", "--json")
    finally:
        FakeModel.estimated_seconds = 0.25
    assert "about 2 s until playback can start without gaps" in ran.err
    assert ran.json["promised_start_seconds"] == 2.0
    assert ran.json["play_start_seconds"] == pytest.approx(2.0, rel=0.15)
    assert card.first_sound is not None


def test_without_a_destination_speech_is_played(timbre: Terminal, clip: Path) -> None:
    card = timbre.with_sound_card()
    assert timbre("say", "one", "--voice", clip).status == 0
    assert len(card.heard) == CHUNK_SAMPLES
    assert timbre.files() == set()


def test_without_a_destination_and_a_sound_card_a_new_file_is_written(timbre: Terminal, clip: Path) -> None:
    for name in ("timbre.wav", "timbre-2.wav"):
        ran = timbre("say", "one", "--voice", clip, "--json")
        assert ran.json["output"] == name
        assert f"wrote {name} (no sound device to play it on)" in ran.err
    assert timbre.files() == {"timbre.wav", "timbre-2.wav"}


def test_a_model_with_random_weights_is_reported(timbre: Terminal, clip: Path) -> None:
    ran = timbre("say", "one", "--voice", clip, "-o", "o.wav", "--model", "noise-cosyvoice3")
    assert "noise-cosyvoice3 produces noise instead of speech" in ran.err
    assert "makes noise" not in timbre("say", "one", "--voice", clip, "-o", "o.wav", "--model", "quiet").err


def test_a_voice_of_the_library_is_found_by_name(timbre: Terminal, clip: Path) -> None:
    timbre.library.add(clip, "Anna", "What she said.")
    timbre("say", "one", "--voice", "anna", "-o", "o.wav")
    assert asked(timbre).voice.transcript == "What she said."
    assert asked(timbre).voice.name == "Anna"
    timbre("say", "one", "--voice", "anna", "--transcript", "Other.", "-o", "o.wav")
    assert asked(timbre).voice.transcript == "Other."


def test_the_default_voice_is_the_only_one_or_a_bundled_one(timbre: Terminal, clip: Path) -> None:
    timbre.library.add(clip, "Anna")
    timbre("say", "one", "-o", "o.wav")
    assert asked(timbre).voice.name == "Anna"
    timbre.library.add(clip, "Ben")
    ran = timbre("say", "one", "-o", "o.wav")
    assert ran.status == 7
    assert "Your voices: Anna, Ben." in ran.err
    (timbre.folder / "built-in").mkdir()
    (timbre.folder / "built-in" / "Harbour.wav").write_bytes(clip.read_bytes())
    timbre("say", "one", "-o", "o.wav")
    assert asked(timbre).voice.name == "Harbour"


def test_a_chinese_text_is_read_by_a_bundled_chinese_voice(timbre: Terminal, clip: Path) -> None:
    folder = timbre.folder / "built-in"
    folder.mkdir()
    for name, language in (("Anna", "en"), ("Lan", "zh")):
        (folder / f"{name}.wav").write_bytes(clip.read_bytes())
        (folder / f"{name}.json").write_text(json.dumps({"language": language}))
    for text, name in (("今天天气很好。", "Lan"), ("Good morning.", "Anna"), ("Привет.", "Anna")):
        timbre("say", text, "-o", "o.wav")
        assert asked(timbre).voice.name == name


def test_warnings_about_the_voice_are_printed(timbre: Terminal, clip: Path) -> None:
    FakeModel.warnings = ("The clip is quiet.",)
    try:
        ran = timbre("say", "one", "--voice", clip, "-o", "o.wav", "--json")
    finally:
        FakeModel.warnings = ()
    assert "voice: The clip is quiet." in ran.err
    assert ran.json["warnings"] == ["The clip is quiet."]


@pytest.mark.slow
def test_a_disconnected_output_device_is_reported(timbre: Terminal, clip: Path) -> None:
    timbre.with_sound_card(SoundCard(vanishes_after=0.3))
    ran = timbre("say", "one " + "breathe " * 60, "--voice", clip, "--play", "-o", "o.wav")
    assert ran.status == 5
    assert "(no-audio-device)" in ran.err
    assert timbre.files() == set()


def test_a_full_disk_leaves_no_partial_file(timbre: Terminal, clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = AudioWriter.write

    def fill_up(writer: AudioWriter, samples: Samples) -> None:
        write(writer, samples)
        raise DiskFull("The disk is full: o.wav could not be written.", remedy="Free some space and try again.")

    monkeypatch.setattr(AudioWriter, "write", fill_up)
    ran = timbre("say", "one wait", "--voice", clip, "-o", "o.wav")
    assert ran.status == 10
    assert ran.err.endswith("Free some space and try again. (disk-full)\n")
    assert timbre.files() == set()


def test_an_existing_file_is_kept_until_the_new_one_is_complete(timbre: Terminal, clip: Path) -> None:
    Path("o.wav").write_bytes(b"precious")
    assert timbre("say", "one bug", "--voice", clip, "-o", "o.wav").status == 70
    assert Path("o.wav").read_bytes() == b"precious"
    assert timbre("say", "one", "--voice", clip, "-o", "o.wav").status == 0
    assert soundfile.info("o.wav").frames == CHUNK_SAMPLES


@pytest.mark.skipif(sys.platform == "win32", reason="such names are not possible there")
def test_control_characters_in_names_are_escaped(timbre: Terminal, clip: Path) -> None:
    ran = timbre("say", "one", "--voice", clip, "-o", "a\nb \u202e\x1b[2J.wav")
    assert ran.status == 0
    assert "wrote a\\nb \\u202e\\x1b[2J.wav\n" in ran.err
    ran = timbre("say", "one", "--voice", "no\x1b]0;evil\x07body")
    assert ran.status != 0
    assert "\x1b" not in ran.err
    assert "no\\x1b]0;evil\\x07body" in ran.err
