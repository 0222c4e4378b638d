"""A tiny corpus in the contract of the real one: buzzing and hissing by the sound, no teacher needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from training.corpus.lines import Line, Recording
from training.corpus.phones import LABELS, SILENCE, VOWELS
from training.corpus.store import Corpus, to_pcm, write_shard
from training.corpus.tokens import TABLE_FILE, TokenScheme, TokenTable
from training.corpus.utterance import SAMPLE_RATE, SAMPLES_PER_HALF_FRAME
from training.corpus.voices import Split, VoiceRecipe
from training.trainers.token_choice import make_table

SCHEME = TokenScheme(100, 3, 1)
STYLES = ("normal", "normal", "fast", "slow", "high", "low", "whisper", "loud", "soft", "happy")
_ENGLISH = ("one", "two", "three", "four", "five", "six", "seven", "red", "green", "blue", "river", "house")
_MANDARIN = {"一": "yi1", "人": "ren2", "好": "hao3", "大": "da4", "的": "de5", "水": "shui3"}
_F0_RATIO_OF_STYLE = {"high": 1.4, "low": 0.7}
_NAMES = ("train-0", "train-1", "train-2", "train-3", "validation-0", "validation-1", "stranger-0")
_FRAMES_OF_TOKEN = 1.6


def fake_corpus(
    folder: Path, *, utterances_per_speaker: int = 6, seconds: float = 1.6, seed: int = 0, work: Path | None = None
) -> Corpus:
    """Written to ``folder`` in two shards and opened again, with the tokens of ``SCHEME``, which ``work`` gets too."""
    generator = np.random.default_rng(seed)
    voices = {name: _voice(name) for name in _NAMES}
    made = [
        _recording(voice, place, number, seconds, generator)
        for number in range(utterances_per_speaker)
        for place, voice in enumerate(voices.values())
    ]
    half = len(made) // 2
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in (("shard-00000", made[:half]), ("shard-00001", made[half:])):
        sounds = np.concatenate([labels for _, labels in part])
        np.save(folder / f"{name}.labels.npy", np.stack([sounds, np.zeros_like(sounds)]))
        write_shard(folder, name, [recording for recording, _ in part], voices)
    table = make_table(Corpus.open(folder), SCHEME)
    for each in (folder, work):
        if each is not None:
            table.write(each / TABLE_FILE)
    return Corpus.open(folder, table)


def fake_table() -> TokenTable:
    """A table of ``SCHEME`` for sounds and a melody by chance."""
    random = np.random.default_rng(0)
    labels = random.integers(len(LABELS), size=4000).astype(np.uint8)
    return TokenTable.of_lines(SCHEME, [(labels, random.normal(0.0, 3.0, 4000).astype(np.float32))])


def _voice(name: str) -> VoiceRecipe:
    accent = "gb" if name.endswith("1") else "us"
    return VoiceRecipe(name, "f", accent, Split(name.split("-", maxsplit=1)[0]), {}, {}, {}, pitch=1.0, rate=1.0)


def _recording(
    voice: VoiceRecipe, place: int, number: int, seconds: float, generator: np.random.Generator
) -> tuple[Recording, np.ndarray]:
    style, language = STYLES[number % len(STYLES)], ("en", "en", "zh")[number % 3]
    num_tokens = max(10, round(seconds * 25 * generator.uniform(0.8, 1.2)))
    labels = _labels(2 * num_tokens, generator)
    is_voiced = np.isin(labels, list(VOWELS)) & (style != "whisper")
    median_hz = (100.0 + 25.0 * place) * _F0_RATIO_OF_STYLE.get(style, 1.0)
    melody = np.exp2(0.2 * np.sin(np.arange(len(labels)) / 9.0 + place))
    f0_hz = np.where(is_voiced, median_hz * melody, 0.0).astype(np.float32)
    samples = to_pcm(_sound(labels, f0_hz, generator)).astype(np.float32) / 32767.0
    text, symbols, syllables = _english(generator) if language == "en" else _mandarin(generator)
    inner = np.full(len(symbols), int(_FRAMES_OF_TOKEN * num_tokens - 8) // len(symbols))
    frames = (4, *inner.tolist(), 4)
    split = {4: "validation", 5: "test"}.get(number % 6, "train")
    line = Line(text, text, language, "sentence", voice.name, style, split, symbols, frames, syllables)
    return Recording(line, samples, f0_hz), labels


def _english(generator: np.random.Generator) -> tuple[str, str, tuple[str, ...]]:
    words = generator.choice(_ENGLISH, size=4)
    return " ".join(words).capitalize() + ".", " ".join(words) + ".", ()


def _mandarin(generator: np.random.Generator) -> tuple[str, str, tuple[str, ...]]:
    characters = generator.choice(list(_MANDARIN), size=5)
    syllables = tuple(_MANDARIN[character] for character in characters)
    marks = {"1": "→", "2": "↗", "3": "↓", "4": "↘", "5": ""}
    symbols = " ".join(f"ma{marks[syllable[-1]]}" for syllable in syllables)
    return "".join(characters) + "。", f"{symbols}.", syllables


def _labels(num_half_frames: int, generator: np.random.Generator) -> np.ndarray:
    """Sounds of 40 to 120 ms, drawn from all, with silence around."""
    lengths = generator.integers(2, 7, size=num_half_frames)
    labels = np.repeat(generator.integers(1, len(LABELS), size=num_half_frames), lengths)[:num_half_frames]
    labels[:4] = labels[-4:] = SILENCE
    return labels.astype(np.uint8)


def _sound(labels: np.ndarray, f0_hz: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A tone with overtones where voiced, its brightness the number of the sound; else noise."""
    f0 = np.repeat(f0_hz, SAMPLES_PER_HALF_FRAME)
    brightness = np.repeat(labels / len(LABELS), SAMPLES_PER_HALF_FRAME)
    phase = 2 * np.pi * np.cumsum(f0) / SAMPLE_RATE
    buzz = sum(np.sin(order * phase) * brightness ** (order - 1) / order for order in range(1, 9))
    noise = generator.standard_normal(len(f0))
    is_silent = np.repeat(labels == SILENCE, SAMPLES_PER_HALF_FRAME)
    samples = np.where(f0 > 0, 0.2 * buzz, np.where(is_silent, 1e-4, 0.03) * noise)
    return samples.astype(np.float32)
