"""The corpus: mixed voices, texts that are kept apart, a plan without end, and shards that can be continued."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import train
from teacher_fakes import FakeSounds, FakeTeacher, measured_without_praat, write

from training.corpus.build import BuildOptions, build, corpus_voices
from training.corpus.bundled_voices import PROMPT_VOICES
from training.corpus.packing import pack, unpack
from training.corpus.phones import SILENCE, VOICED
from training.corpus.plan import Job, planned_shards
from training.corpus.store import PLAN_FILE, Corpus
from training.corpus.styles import DELIVERY_OF_STYLE
from training.corpus.templates import fill_in, fill_in_mandarin
from training.corpus.texts import Source, _english_sentences, _mandarin_sentences, split_of
from training.corpus.utterance import CorpusFailed
from training.corpus.voices import Split, voice_recipes
from training.teacher.network import SAMPLES_PER_FRAME

VOICES = {voice.name: voice for voice in corpus_voices()}


@pytest.fixture(autouse=True)
def _no_praat(monkeypatch: pytest.MonkeyPatch) -> None:
    measured_without_praat(monkeypatch)


def sources() -> dict[str, list[Source]]:
    """Return sentences and single words of two languages."""
    english = tuple(f"This is the sentence number {number}, and it is a plain one." for number in range(900))
    mandarin = tuple(f"这是第{number}个句子，它没有什么特别的地方。" for number in range(900))
    return {
        "en": [Source("sentence", 9, english), Source("words", 1, tuple(f"Word {number}." for number in range(300)))],
        "zh": [Source("sentence", 1, mandarin)],
    }


def planned(num_shards: int, *, seed: int = 0) -> list[list[Job]]:
    return list(islice(planned_shards(corpus_voices(), sources(), seed=seed), num_shards))


def test_bundled_voices_read_both_languages_and_a_fifth_of_what_is_trained() -> None:
    bundled = {voice.name for voice in PROMPT_VOICES}
    jobs = [job for shard in planned(60) for job in shard if VOICES[job.voice].split is Split.TRAIN]
    read = [job for job in jobs if job.voice in bundled]
    assert 0.15 < len(read) / len(jobs) < 0.3
    assert {(job.voice, job.language) for job in read} == {(name, each) for name in bundled for each in ("en", "zh")}


def test_voices_are_mixtures_of_several_and_the_same_every_time() -> None:
    voices = voice_recipes()
    assert voices == voice_recipes()
    assert sum(voice.split is Split.TRAIN for voice in voices) >= 150
    assert sum(voice.split is not Split.TRAIN for voice in voices) >= 24
    for voice in voices:
        for mixture in (voice.timbre, voice.english, voice.mandarin):
            assert sum(mixture.values()) == pytest.approx(1.0)
            assert len(mixture) >= 2
            assert min(mixture.values()) > 0.1
            assert {name[1] for name in mixture} == {voice.gender}
        assert {name[0] for name in voice.english} == {{"us": "a", "gb": "b"}[voice.accent]}
        assert {name[0] for name in voice.mandarin} == {"z"}


def test_nothing_of_a_strangers_timbre_is_in_other_voices() -> None:
    strange = {name for voice in VOICES.values() if voice.split is Split.STRANGER for name in voice.timbre}
    known = {
        name
        for voice in VOICES.values()
        if voice.split is not Split.STRANGER
        for mixture in (voice.timbre, voice.english, voice.mandarin)
        for name in mixture
    }
    assert strange
    assert strange & known == set()


def test_more_shards_continue_the_plan() -> None:
    assert planned(12)[:5] == planned(5)
    assert planned(5, seed=1) != planned(5)


def test_every_prefix_has_both_languages_in_the_same_shares() -> None:
    seconds = {"en": 0.0, "zh": 0.0}
    for shard in planned(20):
        for job in shard:
            seconds[job.language] += job.expected_seconds
        assert seconds["zh"] / sum(seconds.values()) == pytest.approx(0.44, abs=0.08)


def test_the_first_hours_have_all_voices_and_styles() -> None:
    jobs = [job for shard in planned(120) for job in shard]
    assert {job.voice for job in jobs} == set(VOICES)
    assert {job.style for job in jobs} == set(DELIVERY_OF_STYLE)


def test_unseen_voices_read_texts_that_are_in_no_training_line() -> None:
    jobs = [job for shard in planned(60) for job in shard]
    for job in jobs:
        split = VOICES[job.voice].split
        assert job.split in (("train", "validation") if split is Split.TRAIN else ("validation", "test"))
    trained = {job.text for job in jobs if job.split == "train"}
    assert trained & {job.text for job in jobs if job.split != "train"} == set()


def test_texts_stay_in_their_split_when_others_are_added() -> None:
    texts = [f"Sentence {number}." for number in range(4000)]
    splits = [split_of(text) for text in texts]
    assert splits == [split_of(text) for text in texts]
    assert splits.count("validation") / len(splits) == pytest.approx(0.03, abs=0.01)
    assert splits.count("test") / len(splits) == pytest.approx(0.02, abs=0.01)


def test_only_plain_sentences_are_taken() -> None:
    english = "<p>Open the <gui>Settings</gui>. It isn't hard; is it?  See http://x.org.</p> lower case."
    assert list(_english_sentences(english)) == ["Open the Settings.", "It isn't hard; is it?"]
    mandarin = (
        "\x1b[32m《静夜思》\x1b[m\n作者：李白\n床前明月光，\n疑是地上霜。\n執行檔案的時候。ls -l /tmp/abc是命令。"
    )
    assert list(_mandarin_sentences(mandarin)) == ["床前明月光，疑是地上霜。"]


@pytest.mark.parametrize("fill", [fill_in, fill_in_mandarin])
def test_templates_leave_no_gap(fill: object) -> None:
    assert callable(fill)
    drawn = fill(700, np.random.default_rng(0))
    assert len(set(drawn)) == 700
    assert not [text for text in drawn if set(text) & set("{}|_")]
    assert drawn == fill(700, np.random.default_rng(0))


def test_a_shard_keeps_what_was_read_and_when(tmp_path: Path) -> None:
    jobs = [
        Job("There are 3 of us.", "en", "sentence", "train-001", "normal", "train"),
        Job("我有2本书。", "zh", "sentence", "train-002", "whisper", "train"),
        Job("Xyzzy is no word.", "en", "sentence", "train-003", "normal", "train"),
    ]
    seconds = write(tmp_path, jobs)
    corpus = Corpus.open(tmp_path)
    assert [line.spoken for line in corpus.lines] == ["There are three of us.", "我有两本书。"]
    assert corpus.num_tokens.sum() / 25 == pytest.approx(seconds)
    first, second = corpus.lines
    assert first.symbols == "there are three of us."
    assert second.syllables == ("ma1", "ni3") * 3
    assert sum(first.frames) * SAMPLES_PER_FRAME <= len(corpus.samples(0)) < (sum(first.frames) + 2) * SAMPLES_PER_FRAME
    assert len(first.frames) == len(first.symbols) + 2
    assert (corpus.f0_hz(0) == 120.0).all()
    assert (corpus.f0_hz(1) == 0.0).all()  # whispered
    np.testing.assert_array_equal(corpus.samples(0, from_token=3, num_tokens=4), corpus.samples(0)[2880:6720])
    assert corpus.indices(split="train", speaker_split="train").tolist() == [0, 1]
    assert [speaker.median_f0_hz for speaker in corpus.speakers] == [120.0, 0.0]
    np.testing.assert_allclose(corpus.mel(0, from_token=3, num_tokens=4), corpus.mel(0)[6:14], atol=1e-4)
    np.testing.assert_allclose(corpus.mel(0, from_token=3), corpus.mel(0)[6:], atol=1e-4)


def test_styles_change_duration_and_level(tmp_path: Path) -> None:
    styles = ("normal", "fast", "slow", "loud", "soft")
    jobs = [Job("The same words.", "en", "sentence", "train-001", style, "train") for style in styles]
    write(tmp_path, jobs)
    corpus = Corpus.open(tmp_path)
    length = dict(zip(styles, corpus.num_tokens.tolist(), strict=True))
    assert length["fast"] < 0.8 * length["normal"]
    assert length["slow"] > 1.3 * length["normal"]
    loudness = {style: float(np.abs(corpus.samples(number)).max()) for number, style in enumerate(styles)}
    assert loudness["loud"] > loudness["normal"] > loudness["soft"]


def test_the_same_shard_is_made_again(tmp_path: Path) -> None:
    shard = planned(1)[0]
    for folder in ("one", "other"):
        write(tmp_path / folder, shard)
    for path in sorted((tmp_path / "one").iterdir()):
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes()


@pytest.fixture
def fake_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``build`` use fakes instead of the teacher's folder."""
    monkeypatch.setattr("training.corpus.build.english_sources", lambda folder: tuple(sources()["en"]))
    monkeypatch.setattr("training.corpus.build.mandarin_sources", lambda folder: tuple(sources()["zh"]))
    monkeypatch.setattr("training.corpus.build.Teacher", lambda folder: FakeTeacher())
    monkeypatch.setattr("training.corpus.build.TeacherSounds", lambda folder: FakeSounds())


@pytest.mark.usefixtures("fake_parts")
def test_an_interrupted_build_makes_only_what_is_missing(tmp_path: Path) -> None:
    options = BuildOptions(tmp_path, teacher=tmp_path, hours=0.1)
    build(options)
    made = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("shard-*")}
    assert len(made) == 9
    (tmp_path / "shard-00001.json").unlink()
    assert {line.voice for line in Corpus.open(tmp_path).lines} == {
        job.voice for number, shard in enumerate(planned(3)) if number != 1 for job in shard
    }
    build(options)
    again = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("shard-*")}
    assert {name for name in made if again[name] != made[name]} == {
        f"shard-00001.{part}" for part in ("json", "samples.npy", "f0_hz.npy")
    }


@pytest.mark.usefixtures("fake_parts")
def test_readings_have_sounds_and_pitch_of_other_lines_and_no_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sounds_of_letters = str.maketrans(dict.fromkeys("bcghqrxyz", "s"))
    monkeypatch.setattr(FakeSounds, "english", lambda _, text, accent: text.lower().translate(sounds_of_letters))
    build(BuildOptions(tmp_path / "speech", teacher=tmp_path, hours=0.1))
    build(BuildOptions(tmp_path / "readings", teacher=tmp_path, hours=0.1, readings=True))
    assert not list((tmp_path / "readings").glob("*.samples.npy"))
    speech, readings = (Corpus.open(tmp_path / name) for name in ("speech", "readings"))
    assert {(line.text, line.voice) for line in readings.lines}.isdisjoint(
        (line.text, line.voice) for line in speech.lines
    )
    is_silent = np.array([bool((readings.labels(number)[0] == SILENCE).all()) for number in range(len(readings))])
    assert not is_silent.any()
    for number, line in enumerate(readings.lines):
        labels, _ = readings.labels(number)
        f0_hz = readings.f0_hz(number)
        assert len(labels) == len(f0_hz) == 2 * readings.num_tokens[number]
        is_voiced = np.isin(labels, list(VOICED)) & (line.style != "whisper")
        np.testing.assert_array_equal(f0_hz > 0, is_voiced)


@pytest.mark.usefixtures("fake_parts")
def test_a_folder_of_another_plan_is_left_alone(tmp_path: Path) -> None:
    build(BuildOptions(tmp_path, teacher=tmp_path, hours=0.03))
    with pytest.raises(CorpusFailed, match="begun with --seed 0"):
        build(BuildOptions(tmp_path, teacher=tmp_path, hours=0.03, seed=1))


def test_a_packed_corpus_is_small_and_sounds_the_same(tmp_path: Path) -> None:
    write(tmp_path / "corpus", planned(1)[0])
    (tmp_path / "corpus" / PLAN_FILE).write_text('{"texts_and_voices": ""}', "utf-8")
    assert pack(tmp_path / "corpus", tmp_path / "packed", mebibytes=8) == 1
    assert unpack(tmp_path / "packed", tmp_path / "again") == 1
    first, again = (Corpus.open(tmp_path / name) for name in ("corpus", "again"))
    assert isinstance(first, Corpus)
    assert isinstance(again, Corpus)
    assert again.lines == first.lines
    sizes = [sum(path.stat().st_size for path in (tmp_path / name).iterdir()) for name in ("corpus", "packed")]
    assert sizes[1] < 0.25 * sizes[0]
    one, other = first.samples(3), again.samples(3)
    assert len(one) == len(other)
    assert np.corrcoef(one, other)[0, 1] > 0.95
    np.testing.assert_allclose(again.f0_hz(3), first.f0_hz(3), atol=0.05)


def test_only_what_fits_is_packed(tmp_path: Path) -> None:
    write(tmp_path / "corpus", planned(1)[0])
    (tmp_path / "corpus" / PLAN_FILE).write_text('{"texts_and_voices": ""}', "utf-8")
    assert pack(tmp_path / "corpus", tmp_path / "packed", mebibytes=0.01) == 0
    with pytest.raises(CorpusFailed, match="no packed corpus"):
        unpack(tmp_path / "packed", tmp_path / "again")


@pytest.mark.parametrize("stage", ["sound_recognizer", "letter_sounds", "token_reader"])
def test_stages_without_their_folders_say_what_is_missing(
    stage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main([stage, "--corpus", str(tmp_path), "--work", str(tmp_path)]) == 1
    assert "train.py" in capsys.readouterr().err


def test_an_empty_folder_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(CorpusFailed, match="contains no speech yet"):
        Corpus.open(tmp_path)
