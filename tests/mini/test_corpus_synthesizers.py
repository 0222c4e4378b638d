"""The synthesizers do what the styles ask of them, and their timings are those of their sound."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from training.corpus import build as building
from training.corpus.build import BuildOptions, build, choose_pairs
from training.corpus.phones import SILENCE, VOWELS
from training.corpus.plan import Job
from training.corpus.prompt_voices import PROMPT_VOICES, make_prompt_voices
from training.corpus.rendering import Voice, listened_to, rendered
from training.corpus.speakers import SpeakerRecipe, speaker_recipes
from training.corpus.store import Corpus
from training.corpus.texts import Texts
from training.corpus.tokens import PairTable, phones_of, shipped_pairs
from training.corpus.utterance import CorpusFailed, Utterance

pytest.importorskip("espeakng_loader")
pytest.importorskip("parselmouth")

SENTENCE = "We walked along the river, and the house was cold."
needs_flite = pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")
RECIPES = {recipe.name: recipe for recipe in speaker_recipes()}
SPEAKERS = ["espeak-m3-en-us-p50@1.00", pytest.param("flite-slt@1.00", marks=needs_flite)]


@pytest.fixture(params=SPEAKERS)
def voice(request: pytest.FixtureRequest) -> Voice:
    return listened_to(RECIPES[request.param], (SENTENCE,))


def say(voice: Voice, style: str, text: str = SENTENCE) -> tuple[Utterance, np.ndarray]:
    generator = np.random.default_rng(0)
    return rendered(text, voice, style=style, split="test", table=shipped_pairs(), generator=generator)


def median_f0(utterance: Utterance) -> float:
    return float(np.median(utterance.f0_hz[utterance.f0_hz > 0]))


def test_silence_is_quiet_and_vowels_are_voiced(voice: Voice) -> None:
    utterance, labels = say(voice, "normal")
    level = 10 * np.log10((utterance.samples.reshape(-1, 480).astype(np.float64) ** 2).mean(axis=1) + 1e-12)
    is_vowel = np.isin(labels, list(VOWELS))
    assert np.median(level[labels == SILENCE]) < np.median(level[is_vowel]) - 30
    assert np.mean(utterance.f0_hz[is_vowel] > 0) > 0.8
    assert np.mean(utterance.f0_hz[labels == SILENCE] > 0) < 0.2


def test_styles_are_heard(voice: Voice) -> None:
    normal, _ = say(voice, "normal")
    assert say(voice, "fast")[0].seconds < 0.78 * normal.seconds
    assert say(voice, "slow")[0].seconds > 1.35 * normal.seconds
    assert median_f0(say(voice, "high")[0]) > 1.25 * median_f0(normal)
    assert median_f0(say(voice, "low")[0]) < 0.82 * median_f0(normal)
    loud, soft = (float(np.sqrt(np.mean(say(voice, style)[0].samples ** 2))) for style in ("loud", "soft"))
    assert loud > 3 * soft


def test_every_style_has_its_own_colours(voice: Voice) -> None:
    colours = {
        style: set((say(voice, style)[0].tokens // 729).tolist()) for style in ("normal", "whisper", "soft", "loud")
    }
    assert colours["whisper"] == {0}
    assert colours["normal"] <= {1, 2, 3}
    assert colours["soft"] <= {4, 5}
    assert colours["loud"] <= {6, 7, 8}


def test_an_accent_has_other_sounds() -> None:
    voice = listened_to(RECIPES["espeak-m3-en-us-p50@1.00"], (SENTENCE,))
    table = shipped_pairs()
    phones = {style: phones_of(say(voice, style)[0].tokens, table) for style in ("normal", "accent:scotland")}
    assert "rr" in phones["accent:scotland"]
    assert "rr" not in phones["normal"]


def test_a_speaker_played_faster_speaks_as_fast_but_higher() -> None:
    usual = RECIPES["espeak-m3-en-us-p50@1.00"]
    record = {name: getattr(usual, name) for name in SpeakerRecipe.__slots__}
    faster = SpeakerRecipe(**{**record, "resample_ratio": 1.15})
    before, after = (say(listened_to(recipe, (SENTENCE,)), "normal")[0] for recipe in (usual, faster))
    assert after.seconds == pytest.approx(before.seconds, rel=0.08)
    assert median_f0(after) == pytest.approx(1.15 * median_f0(before), rel=0.05)


@pytest.fixture
def small_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two speakers and four sentences in two shards; no flite, no quotations."""
    names = ["espeak-m3-en-us-p50@1.00", "espeak-f3-en-us-p50@1.00"]
    jobs = [Job(f"This is sentence {word}.", name, "normal", "train") for word in ("one", "two") for name in names]
    monkeypatch.setattr(building, "speaker_recipes", lambda: [RECIPES[name] for name in names])
    monkeypatch.setattr(building, "read_texts", lambda: Texts((), (), (), ()))
    monkeypatch.setattr(building, "planned_shards", lambda *_, **__: [jobs[:2], jobs[2:]])


@pytest.mark.usefixtures("small_plan")
def test_a_build_that_was_broken_off_makes_only_what_is_missing(tmp_path: Path) -> None:
    build(BuildOptions(tmp_path, first_shards=1))
    first = (tmp_path / "shard-0000.samples.npy").stat().st_mtime_ns
    assert len(Corpus.open(tmp_path)) == 2
    build(BuildOptions(tmp_path))
    assert (tmp_path / "shard-0000.samples.npy").stat().st_mtime_ns == first
    corpus = Corpus.open(tmp_path)
    assert [corpus.entry(index).text for index in range(4)] == [
        f"This is sentence {w}." for w in ("one", "one", "two", "two")
    ]


@pytest.mark.usefixtures("small_plan")
def test_a_folder_of_another_plan_is_left_alone(tmp_path: Path) -> None:
    build(BuildOptions(tmp_path, first_shards=0))
    with pytest.raises(CorpusFailed, match=r"--hours 12\.0 --seed 0"):
        build(BuildOptions(tmp_path, seed=5))


@pytest.mark.usefixtures("small_plan")
def test_pairs_are_chosen_from_what_will_be_said(tmp_path: Path) -> None:
    share = choose_pairs(tmp_path / "pairs.json")
    assert share == 1.0
    assert len(PairTable.read(tmp_path / "pairs.json").pairs) == 729


@needs_flite
def test_prompt_voices_are_made_with_all_that_must_be_said_of_them(tmp_path: Path) -> None:
    import json
    import wave

    made = make_prompt_voices(tmp_path)
    assert len(made) == len(PROMPT_VOICES) >= 4
    for path in made:
        with wave.open(str(path)) as file:
            assert (file.getframerate(), file.getsampwidth(), file.getnchannels()) == (24_000, 2, 1)
            assert 2.0 <= file.getnframes() / 24_000 <= 5.0
        content = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        assert content["transcript"] == path.with_suffix(".txt").read_text(encoding="utf-8").strip()
        assert set(content) == {"name", "description", "transcript", "language", "speaker", "made_with", "licence"}
