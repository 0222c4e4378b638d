"""What the doctor says of good and poor prompts, in sentences that say what to do."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_clip_check import CLIPS, RATE, babble, clip, silence

from studio.audio.files import read_audio
from studio.audio.resampling import resample_steeply
from studio.audio.waveform import Waveform
from studio.errors import ClipTooLong, LowSampleRate, SilentClip
from studio.voices.grades import Grade
from studio.voices.prompt_doctor import VERDICTS, Subject, examine, speech_above_noise

GOOD = clip(silence(0.1), babble(5.0), silence(0.2))


def about(subject: Subject, waveform: Waveform, recording: Waveform | None = None) -> tuple[Grade, str]:
    distance_db = speech_above_noise(recording) if recording else None
    findings = examine(waveform, speech_above_noise_db=distance_db).findings
    (finding,) = [each for each in findings if each.subject is subject]
    return finding.grade, f"{finding.sentence} {finding.advice}".strip()


def test_a_good_clip_is_called_good_in_every_respect() -> None:
    examination = examine(GOOD)
    assert [finding.subject for finding in examination.findings] == list(Subject)
    assert examination.quality is Grade.GOOD
    assert examination.refusal is None
    assert {finding.advice for finding in examination.findings} == {""}


@pytest.mark.parametrize("name", ["prompt_a.wav", "prompt_b.wav"])
def test_our_clips_are_not_poor(name: str) -> None:
    examination = examine(read_audio(CLIPS / name))
    assert examination.quality is not Grade.POOR, [finding.sentence for finding in examination.findings]


def test_length() -> None:
    assert about(Subject.LENGTH, clip(babble(5.0))) == (Grade.GOOD, "5.0 seconds of speech: a good length.")
    grade, words = about(Subject.LENGTH, clip(babble(1.5)))
    assert grade is Grade.FAIR
    assert words.startswith("It holds only 1.5 seconds of speech. Choose more if there is more")
    assert about(Subject.LENGTH, clip(babble(20.0)))[0] is Grade.FAIR
    grade, words = about(Subject.LENGTH, clip(babble(31.0)))
    assert (grade, words[:49]) == (Grade.POOR, "It lasts 31.0 seconds; the models hear no more th")
    assert isinstance(examine(clip(babble(31.0))).refusal, ClipTooLong)


def test_level() -> None:
    assert about(Subject.LEVEL, clip(babble(4.0, rms=0.1)))[0] is Grade.GOOD
    assert about(Subject.LEVEL, clip(babble(4.0, rms=0.012)))[0] is Grade.FAIR
    assert about(Subject.LEVEL, clip(babble(4.0, rms=0.004)))[0] is Grade.POOR


def test_clipping() -> None:
    some = babble(4.0)
    some[5_000:5_008] = 1.0
    assert about(Subject.CLIPPING, clip(some))[0] is Grade.FAIR
    assert about(Subject.CLIPPING, clip(np.clip(babble(4.0, rms=0.7), -1.0, 1.0)))[0] is Grade.POOR


@pytest.mark.parametrize(("noise", "grade"), [(1e-3, Grade.GOOD), (0.017, Grade.FAIR), (0.05, Grade.POOR)])
def test_noise_is_heard_in_the_pauses_of_the_recording(noise: float, grade: Grade) -> None:
    quiet = np.concatenate([silence(1.0), babble(4.0), silence(1.0)])
    recording = Waveform(quiet + silence(6.0, noise), RATE)
    chosen = Waveform(recording.samples[RATE : 5 * RATE], RATE)
    assert about(Subject.NOISE, chosen, recording)[0] is grade


def test_bandwidth() -> None:
    def without_highs(rate: int) -> Waveform:
        return Waveform(resample_steeply(resample_steeply(babble(4.0), RATE, rate), rate, RATE), RATE)

    assert about(Subject.BANDWIDTH, GOOD)[0] is Grade.GOOD
    grade, words = about(Subject.BANDWIDTH, without_highs(11_025))
    assert grade is Grade.FAIR
    assert words.startswith("It sounds dull: above 5.")
    assert about(Subject.BANDWIDTH, without_highs(8_000))[0] is Grade.POOR
    low = Waveform(babble(4.0), 8_000)
    assert about(Subject.BANDWIDTH, low)[1].startswith("It has 8000 samples a second, and at least 16000 are needed")
    assert isinstance(examine(low).refusal, LowSampleRate)
    assert about(Subject.BANDWIDTH, Waveform(babble(4.0), 16_000))[0] is Grade.GOOD


def test_silence_share() -> None:
    half = clip(*[part for number in range(4) for part in (babble(1.0, seed=number), silence(1.0))])
    grade, words = about(Subject.SILENCE, half)
    assert grade is Grade.FAIR
    assert re.match(r"(4[5-9]|5\d) % of it is silence\. Choose a part", words)
    assert about(Subject.SILENCE, clip(silence(6.0), babble(2.0), silence(2.0)))[0] is Grade.POOR


def test_nothing_is_refused_by_an_exception() -> None:
    silent = examine(clip(silence(3.0)))
    assert isinstance(silent.refusal, SilentClip)
    assert silent.quality is Grade.POOR
    broken = babble(3.0)
    broken[5] = np.nan
    for waveform in (clip(), clip(broken), clip(babble(0.005))):
        assert examine(waveform).quality is Grade.POOR


def test_what_is_not_good_says_what_to_do() -> None:
    for (subject, kind), verdict in VERDICTS.items():
        assert bool(verdict.advice) == (verdict.grade is not Grade.GOOD), (subject, kind)
        assert verdict.sentence.endswith("."), (subject, kind)


def test_the_worst_grade_counts() -> None:
    assert Grade.worst([]) is Grade.GOOD
    assert Grade.worst([Grade.FAIR, Grade.POOR, Grade.GOOD]) is Grade.POOR
