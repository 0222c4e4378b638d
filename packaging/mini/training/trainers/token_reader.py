"""Training of a reader of speech tokens, which shows how much of sounds, tones and melody a scheme of tokens keeps.

    train.py token_reader --name reader-328-9-1 --set sounds=328 --set levels=9 --set slopes=1 --minutes 10

It reads tokens only, so a run takes minutes. ``train.py tokens`` chooses the best scheme.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from training.corpus.lines import Line
from training.corpus.phones import LABELS, NO_TONE, NUM_TONES
from training.corpus.store import Corpus
from training.corpus.tokens import Register, TokenScheme, TokenTable, relative_semitones
from training.corpus.utterance import FloatArray, IntArray, LabelArray
from training.trainers.loop import Trainer, begin
from training.trainers.options import TrainingFailed, TrainingOptions
from training.trainers.sound_batches import UNKNOWN
from training.trainers.sound_recognizer import error_rate, heard_of
from training.trainers.tokenizer_network import Block, rms_norm

STAGE = "token_reader"
_HALVES_PER_TOKEN = 2


@dataclass(frozen=True, slots=True)
class Settings:
    sounds: int = 328
    levels: int = 9
    slopes: int = 1
    width: int = 128
    num_blocks: int = 3
    piece_tokens: int = 75
    batch: int = 32
    rate: float = 2e-3


@dataclass(frozen=True, slots=True, eq=False)
class ReadLine:
    """A line as tokens, with what is to be read from them, for each 20 ms."""

    language: str
    tokens: IntArray = field(repr=False)
    sounds: LabelArray = field(repr=False)
    tones: LabelArray = field(repr=False)
    semitones: FloatArray = field(repr=False)
    is_voiced: FloatArray = field(repr=False)


class TokenReader(nn.Module):
    """From tokens (batch, tokens) to scores of sounds and tones (batch, 2 * tokens, classes)."""

    def __init__(self, scheme: TokenScheme, *, width: int, num_blocks: int) -> None:
        super().__init__()
        self.num_sounds = scheme.sounds
        self.sound = nn.Embedding(scheme.sounds, width)
        self.pitch = nn.Embedding(scheme.pitches, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(num_blocks))
        self.norm = nn.Parameter(torch.ones(width))
        self.head = nn.Linear(width, _HALVES_PER_TOKEN * (len(LABELS) + NUM_TONES))

    def forward(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.sound(tokens % self.num_sounds) + self.pitch(tokens // self.num_sounds)
        for block in self.blocks:
            x = block(x)
        scores = self.head(rms_norm(x, self.norm)).unflatten(2, (_HALVES_PER_TOKEN, -1)).flatten(1, 2)
        sounds, tones = scores.split((len(LABELS), NUM_TONES), dim=2)
        return sounds, tones


def train(options: TrainingOptions) -> dict[str, float]:
    """The validation values: errors of sounds and tones, correlation of F0, and bits of a token's pitch."""
    settings = options.with_settings(Settings())
    begin(options)
    scheme = TokenScheme(settings.sounds, settings.levels, settings.slopes)
    corpus = Corpus.open(options.corpus)
    table, train_lines, validation_lines = _lines(corpus, scheme)
    network = TokenReader(scheme, width=settings.width, num_blocks=settings.num_blocks).to(options.device)
    optimizer = torch.optim.AdamW(network.parameters(), lr=settings.rate, weight_decay=0.01)
    trainer = Trainer(
        STAGE,
        options,
        networks={STAGE: network},
        optimizers={STAGE: optimizer},
        averaged=(STAGE,),
        average_decay=0.99,
        facts={"sounds": settings.sounds, "levels": settings.levels, "slopes": settings.slopes},
        cool_down_share=0.5,
        validate=_validation(network, validation_lines, table),
    )
    for _ in trainer.steps():
        tokens, sounds, tones = (part.to(trainer.device) for part in _drawn(train_lines, settings, trainer.random))
        sound_scores, tone_scores = network(tokens)
        sound_loss = F.cross_entropy(sound_scores.flatten(0, 1), sounds.flatten(), ignore_index=UNKNOWN)
        tone_loss = F.cross_entropy(tone_scores.flatten(0, 1), tones.flatten(), ignore_index=UNKNOWN)
        trainer.descend(sound_loss + tone_loss, STAGE, largest_gradient=1.0)
        trainer.note(sound_loss=sound_loss, tone_loss=tone_loss)
    return trainer.finish()


def _lines(corpus: Corpus, scheme: TokenScheme) -> tuple[TokenTable, list[ReadLine], list[ReadLine]]:
    """Return the tokens of the scheme, and the lines for training and, by unseen voices, for validation, without whispers."""
    found: dict[bool, list[tuple[Line, LabelArray, LabelArray, FloatArray, FloatArray]]] = {True: [], False: []}
    for index, line in enumerate(corpus.lines):
        if line.style == "whisper":
            continue
        speaker, f0_hz = corpus.entry(index).speaker, corpus.f0_hz(index)
        sounds, tones = corpus.labels(index)
        # Of the line, because a clip is all that a tokenizer hears.
        median = float(np.median(f0_hz[f0_hz > 0])) if (f0_hz > 0).any() else 0.0
        relative = relative_semitones(f0_hz, median)
        is_training = speaker.split == "train" and line.split == "train"
        found[is_training].append((line, sounds, tones, relative, (f0_hz > 0).astype(np.float32)))
    if not found[True]:
        raise TrainingFailed("The corpus contains no training lines yet. Extend it first.")
    table = TokenTable.of_lines(scheme, ((sounds, relative) for _, sounds, _, relative, _ in found[True]))
    made = {
        is_training: [
            ReadLine(
                line.language,
                table.encode(sounds, relative, Register.of_style(line.style)),
                sounds,
                tones,
                relative,
                voiced,
            )
            for line, sounds, tones, relative, voiced in each
        ]
        for is_training, each in found.items()
    }
    return table, made[True], made[False]


def _drawn(
    lines: list[ReadLine], settings: Settings, random: np.random.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    tokens = np.zeros((settings.batch, settings.piece_tokens), np.int64)
    targets = np.full((2, settings.batch, _HALVES_PER_TOKEN * settings.piece_tokens), UNKNOWN, np.int64)
    for row in range(settings.batch):
        line = lines[int(random.integers(len(lines)))]
        start = int(random.integers(max(0, len(line.tokens) - settings.piece_tokens) + 1))
        own = line.tokens[start : start + settings.piece_tokens]
        tokens[row, : len(own)] = own
        for target, labels in zip(targets, (line.sounds, line.tones), strict=True):
            target[row, : 2 * len(own)] = labels[2 * start : 2 * (start + len(own))]
    return torch.from_numpy(tokens), torch.from_numpy(targets[0]), torch.from_numpy(targets[1])


def _validation(network: TokenReader, lines: list[ReadLine], table: TokenTable) -> Callable[[], dict[str, float]]:
    def validate() -> dict[str, float]:
        device = network.norm.device
        errors: dict[str, list[float]] = {"en_sound_errors": [], "zh_sound_errors": [], "zh_tone_errors": []}
        for line in lines:
            sounds, tones = network(torch.from_numpy(line.tokens.astype(np.int64))[None].to(device))
            found = heard_of(sounds[0].argmax(dim=-1).cpu().numpy(), tones[0].argmax(dim=-1).cpu().numpy())
            wanted = heard_of(line.sounds, line.tones)
            errors[f"{line.language}_sound_errors"].append(error_rate(found.sounds, wanted.sounds))
            if (line.tones != NO_TONE).any():
                errors["zh_tone_errors"].append(error_rate(found.tones, wanted.tones))
        values = {name: float(np.mean(each)) for name, each in errors.items() if each}
        return values | pitch_measures(lines, table)

    return validate


def pitch_measures(lines: list[ReadLine], table: TokenTable) -> dict[str, float]:
    """Return the mean correlation of F0 with that of the tokens, and the bits of a token's pitch and of its sound."""
    correlations: list[float] = []
    for line in lines:
        voiced = line.is_voiced > 0
        kept, original = table.semitones_of(line.tokens)[voiced], line.semitones[voiced]
        if kept.std() > 0 and original.std() > 0:
            correlations.append(float(np.corrcoef(kept, original)[0, 1]))
    tokens = np.concatenate([line.tokens for line in lines])
    return {
        "f0_correlation": float(np.mean(correlations)) if correlations else 0.0,
        "pitch_bits": _entropy(tokens // table.scheme.sounds),
        "sound_bits": _entropy(tokens % table.scheme.sounds),
    }


def _entropy(values: IntArray) -> float:
    shares = np.bincount(values) / len(values)
    return float(-(shares[shares > 0] * np.log2(shares[shares > 0])).sum())
