"""Clip reports of good and poor prompts."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_clip_check import CLIPS, RATE, babble, clip, silence

from studio import paths
from studio.audio.files import read_audio
from studio.audio.resampling import resample_steeply
from studio.audio.waveform import Waveform
from studio.errors import ClipTooLong, LowSampleRate, SilentClip
from studio.voices.clip_report import VERDICTS, Aspect, assess_clip, modulation_depth, speech_above_noise
from studio.voices.voice import Grade

GOOD = clip(silence(0.1), babble(5.0), silence(0.2))


def about(aspect: Aspect, waveform: Waveform, recording: Waveform | None = None) -> tuple[Grade, str]:
    distance_db = speech_above_noise(recording) if recording else None
    findings = assess_clip(waveform, speech_above_noise_db=distance_db).findings
    (finding,) = [each for each in findings if each.aspect is aspect]
    return finding.grade, f"{finding.sentence} {finding.advice}".strip()


def test_a_good_clip_is_good_in_every_aspect() -> None:
    clip_report = assess_clip(GOOD)
    assert [finding.aspect for finding in clip_report.findings] == list(Aspect)
    assert clip_report.quality is Grade.GOOD
    assert clip_report.refusal is None
    assert {finding.advice for finding in clip_report.findings} == {""}


@pytest.mark.parametrize("name", ["prompt_a.wav", "prompt_b.wav"])
def test_the_reference_clips_are_not_poor(name: str) -> None:
    clip_report = assess_clip(read_audio(CLIPS / name))
    assert clip_report.quality is not Grade.POOR, [finding.sentence for finding in clip_report.findings]


@pytest.mark.slow
def test_length() -> None:
    assert about(Aspect.LENGTH, clip(babble(5.0))) == (Grade.GOOD, "5.0 s of speech.")
    grade, words = about(Aspect.LENGTH, clip(babble(1.5)))
    assert grade is Grade.FAIR
    assert words.startswith("It contains only 1.5 seconds of speech. Select a longer part")
    assert about(Aspect.LENGTH, clip(babble(20.0)))[0] is Grade.FAIR
    grade, words = about(Aspect.LENGTH, clip(babble(31.0)))
    assert (grade, words[:49]) == (Grade.POOR, "It lasts 31.0 seconds; the models accept at most ")
    assert isinstance(assess_clip(clip(babble(31.0))).refusal, ClipTooLong)


def test_level() -> None:
    assert about(Aspect.LEVEL, clip(babble(4.0, rms=0.1)))[0] is Grade.GOOD
    assert about(Aspect.LEVEL, clip(babble(4.0, rms=0.012)))[0] is Grade.FAIR
    assert about(Aspect.LEVEL, clip(babble(4.0, rms=0.004)))[0] is Grade.POOR


def test_clipping() -> None:
    some = babble(4.0)
    some[5_000:5_008] = 1.0
    assert about(Aspect.CLIPPING, clip(some))[0] is Grade.FAIR
    assert about(Aspect.CLIPPING, clip(np.clip(babble(4.0, rms=0.7), -1.0, 1.0)))[0] is Grade.POOR


@pytest.mark.parametrize(("noise", "grade"), [(1e-3, Grade.GOOD), (0.017, Grade.FAIR), (0.05, Grade.POOR)])
def test_noise_is_measured_in_the_pauses_of_the_recording(noise: float, grade: Grade) -> None:
    quiet = np.concatenate([silence(1.0), babble(4.0), silence(1.0)])
    recording = Waveform(quiet + silence(6.0, noise), RATE)
    chosen = Waveform(recording.samples[RATE : 5 * RATE], RATE)
    assert about(Aspect.NOISE, chosen, recording)[0] is grade


def test_bandwidth() -> None:
    def without_highs(rate: int) -> Waveform:
        return Waveform(resample_steeply(resample_steeply(babble(4.0), RATE, rate), rate, RATE), RATE)

    assert about(Aspect.BANDWIDTH, GOOD)[0] is Grade.GOOD
    grade, words = about(Aspect.BANDWIDTH, without_highs(11_025))
    assert grade is Grade.FAIR
    assert words.startswith("It sounds dull: there is almost nothing above 5.")
    assert about(Aspect.BANDWIDTH, without_highs(8_000))[0] is Grade.POOR
    low = Waveform(babble(4.0), 8_000)
    assert about(Aspect.BANDWIDTH, low)[1].startswith("The sample rate is 8000 Hz; at least 16000 Hz is needed")
    assert isinstance(assess_clip(low).refusal, LowSampleRate)
    assert about(Aspect.BANDWIDTH, Waveform(babble(4.0), 16_000))[0] is Grade.GOOD


def test_silence_share() -> None:
    half = clip(*[part for number in range(4) for part in (babble(1.0, seed=number), silence(1.0))])
    grade, words = about(Aspect.SILENCE, half)
    assert grade is Grade.FAIR
    assert re.match(r"(4[5-9]|5\d)% is silence\. Select a part", words)
    assert about(Aspect.SILENCE, clip(silence(6.0), babble(2.0), silence(2.0)))[0] is Grade.POOR


def test_the_errors_of_unusable_clips_are_not_raised() -> None:
    silent = assess_clip(clip(silence(3.0)))
    assert isinstance(silent.refusal, SilentClip)
    assert silent.quality is Grade.POOR
    broken = babble(3.0)
    broken[5] = np.nan
    for waveform in (clip(), clip(broken), clip(babble(0.005))):
        assert assess_clip(waveform).quality is Grade.POOR


def test_every_verdict_below_good_has_advice() -> None:
    for (aspect, kind), verdict in VERDICTS.items():
        assert bool(verdict.advice) == (verdict.grade is not Grade.GOOD), (aspect, kind)
        assert verdict.sentence.endswith("."), (aspect, kind)


def test_the_quality_is_the_worst_grade() -> None:
    assert Grade.worst([]) is Grade.GOOD
    assert Grade.worst([Grade.FAIR, Grade.POOR, Grade.GOOD]) is Grade.POOR


@pytest.mark.parametrize("background", ["noise", "music", "room", "voice"])
def test_whatever_fills_the_gaps_between_sounds_lowers_the_modulation_depth(background: str) -> None:
    random = np.random.default_rng(0)
    clip, other = (read_audio(paths.resources() / "voices" / f"{name}.wav") for name in ("Max", "Linda"))
    times = np.arange(len(clip.samples)) / clip.sample_rate
    if background == "room":
        response = 0.1 * random.standard_normal(clip.sample_rate // 2) * np.exp(-14.0 * times[: clip.sample_rate // 2])
        added = np.convolve(clip.samples, response)[: len(clip.samples)]
    elif background == "voice":
        added = np.resize(other.samples, len(clip.samples))
    else:
        chord = sum(np.sin(2 * np.pi * 110 * number * times) for number in range(1, 33))
        added = 0.02 * (chord if background == "music" else random.standard_normal(len(times)))
    mixed = Waveform((clip.samples + added).astype(np.float32), clip.sample_rate)
    assert modulation_depth(clip) - modulation_depth(mixed) > 3.0


def test_the_modulation_depth_of_a_sound_too_short_to_measure_is_zero() -> None:
    assert modulation_depth(Waveform(np.ones(100, np.float32), 24_000)) == 0.0
