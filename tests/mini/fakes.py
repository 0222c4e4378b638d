"""A tiny corpus in the contract of the real one: buzzing and hissing by the phone, no synthesizer needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from training.corpus.acoustics import mel_of
from training.corpus.phones import LABELS, SILENCE, VOWELS
from training.corpus.store import Corpus, to_pcm, write_shard
from training.corpus.tokens import colours_of, encode, shipped_pairs
from training.corpus.utterance import SAMPLE_RATE, SAMPLES_PER_HALF_FRAME, Speaker, Utterance

STYLES = ("normal", "normal", "fast", "slow", "high", "low", "whisper", "loud", "soft", "accent:scotland")
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "red", "green", "blue", "river", "house")
_F0_RATIO_OF_STYLE = {"high": 1.4, "low": 0.7}


def fake_speakers() -> list[Speaker]:
    """Four to train on, two to validate with, one stranger."""
    splits = ("train", "train", "train", "train", "validation", "validation", "stranger")
    names = ("flite-slt@1.00", "flite-awb@1.00", "espeak-f3-en-us-p50@1.00", "espeak-m3-en-us-p40@1.00")
    names += ("espeak-m1-en-us-p30@1.10", "flite-slt@1.09", "flite-rms@1.00")
    return [
        Speaker(
            name=name,
            engine=name.split("-")[0],
            voice=name.split("-")[1].split("@")[0],
            accent="en-us",
            pitch=50,
            resample_ratio=float(name.split("@")[1]),
            split=split,
            median_f0_hz=100.0 + 25.0 * number,
        )
        for number, (name, split) in enumerate(zip(names, splits, strict=True))
    ]


def fake_corpus(folder: Path, *, utterances_per_speaker: int = 6, seconds: float = 1.6, seed: int = 0) -> Corpus:
    """Written to ``folder`` in two shards and opened again."""
    generator = np.random.default_rng(seed)
    made = [
        _utterance(speaker, STYLES[number % len(STYLES)], _split(number), seconds, generator)
        for number in range(utterances_per_speaker)
        for speaker in fake_speakers()
    ]
    half = len(made) // 2
    for name, part in (("shard-0000", made[:half]), ("shard-0001", made[half:])):
        write_shard(folder, name, [utterance for utterance, _ in part], [labels for _, labels in part])
    return Corpus.open(folder)


def _split(number: int) -> str:
    return {4: "validation", 5: "test"}.get(number % 6, "train")


def _utterance(
    speaker: Speaker, style: str, split: str, seconds: float, generator: np.random.Generator
) -> tuple[Utterance, np.ndarray]:
    num_tokens = max(10, round(seconds * 25 * generator.uniform(0.8, 1.2)))
    labels = _labels(2 * num_tokens, generator)
    is_voiced = np.isin(labels, list(VOWELS)) & (style != "whisper")
    f0_hz = np.where(is_voiced, speaker.median_f0_hz * _F0_RATIO_OF_STYLE.get(style, 1.0), 0.0).astype(np.float32)
    samples = _sound(labels, f0_hz, generator)
    samples = to_pcm(samples).astype(np.float32) / 32767.0
    colours = colours_of(f0_hz, median_f0_hz=speaker.median_f0_hz, style=style)
    text = " ".join(generator.choice(_WORDS, size=4)).capitalize() + "."
    tokens = encode(labels, colours, shipped_pairs())
    return Utterance(text, speaker, style, split, samples, tokens, mel_of(samples), f0_hz), labels


def _labels(num_half_frames: int, generator: np.random.Generator) -> np.ndarray:
    """Phones of 40 to 120 ms, drawn from all, with silence around."""
    lengths = generator.integers(2, 7, size=num_half_frames)
    labels = np.repeat(generator.integers(1, len(LABELS), size=num_half_frames), lengths)[:num_half_frames]
    labels[:4] = labels[-4:] = SILENCE
    return labels.astype(np.uint8)


def _sound(labels: np.ndarray, f0_hz: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A tone with overtones where voiced, its brightness the phone's number; else noise."""
    f0 = np.repeat(f0_hz, SAMPLES_PER_HALF_FRAME)
    brightness = np.repeat(labels / len(LABELS), SAMPLES_PER_HALF_FRAME)
    phase = 2 * np.pi * np.cumsum(f0) / SAMPLE_RATE
    buzz = sum(np.sin(order * phase) * brightness ** (order - 1) / order for order in range(1, 9))
    noise = generator.standard_normal(len(f0))
    is_silent = np.repeat(labels == SILENCE, SAMPLES_PER_HALF_FRAME)
    samples = np.where(f0 > 0, 0.2 * buzz, np.where(is_silent, 1e-4, 0.03) * noise)
    return samples.astype(np.float32)
