"""Training of a recogniser of the sounds and tones of both languages, the judge of everything that is trained later.

A judge is trained with another seed and half of the voices:

    train.py sound_recognizer --name judge_recognizer --speakers odd --seed 7

The recogniser of the bundled model also learns from the model's own takes:

    train.py sound_recognizer --name recognizer --set takes_share=0.5 --set spliced_share=0.35
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import nn

from studio.audio.waveform import Waveform
from studio.voices.features import WHISPER_SAMPLE_RATE, whisper_log_mel
from training.corpus.phones import LABELS, NO_TONE, NUM_TONES, SILENCE, VOWELS
from training.corpus.store import Corpus, IndexArray
from training.corpus.utterance import SAMPLE_RATE, FloatArray
from training.trainers.bfloat16 import prefers_bfloat16
from training.trainers.checkpoints import load_facts, load_weights
from training.trainers.loop import Trainer, begin
from training.trainers.optimizers import adam_and_muon
from training.trainers.options import TAKES_FOLDER, TrainingFailed, TrainingOptions
from training.trainers.sound_batches import UNKNOWN, SoundPieces
from training.trainers.tokenizer_network import AudioEncoder

STAGE = "sound_recognizer"
_TONE_WEIGHT = 0.5
_HALVES_PER_TOKEN = 2
_MIN_HALVES = 2  # shorter sounds are flickering of the recogniser, which real sounds are not


@dataclass(frozen=True, slots=True)
class Settings:
    width: int = 256
    num_blocks: int = 6
    front_width: int = 160
    piece_tokens: int = 75
    batch: int = 16
    gpu_factor: int = 8
    matrix_rate: float = 0.02
    adam_rate: float = 0.002
    weight_decay: float = 0.05
    cool_down_share: float = 0.4
    bfloat16: bool = True
    num_clips: int = 40  # validation lines of each language
    takes_share: float = 0.0  # share of takes of the model itself (train.py takes)
    spliced_share: float = 0.0


class SoundRecognizer(AudioEncoder):
    """From a Whisper log-mel to the sound and the tone of each 20 ms. The default sizes have 1.9 M weights."""

    def __init__(self, *, width: int = 256, num_blocks: int = 6, front_width: int = 160) -> None:
        super().__init__(width=width, num_blocks=num_blocks, front_width=front_width)
        self.head = nn.Linear(width, _HALVES_PER_TOKEN * (len(LABELS) + NUM_TONES))

    def forward(self, log_mel: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return scores of sounds and of tones, (batch, frames of 20 ms, classes); see ``hidden``."""
        scores = self.head(self.hidden(log_mel, lengths)).unflatten(2, (_HALVES_PER_TOKEN, -1)).flatten(1, 2)
        sounds, tones = scores.split((len(LABELS), NUM_TONES), dim=2)
        return sounds, tones


def train(options: TrainingOptions) -> dict[str, float]:
    """Raise ``TrainingFailed`` without training lines."""
    settings = options.with_settings(Settings())
    begin(options)
    corpus = Corpus.open(options.corpus)
    indices = some_voices(corpus, corpus.indices(split="train", speaker_split="train"), options.speakers)
    pieces = [(1.0, SoundPieces(corpus, indices, settings.piece_tokens, spliced_share=settings.spliced_share))]
    if settings.takes_share:
        takes = Corpus.open(options.corpus.parent / TAKES_FOLDER)
        lines = takes.indices(split="train")
        made = SoundPieces(takes, lines, settings.piece_tokens, spliced_share=settings.spliced_share)
        pieces = [(1.0 - settings.takes_share, pieces[0][1]), (settings.takes_share, made)]
    facts = {"width": settings.width, "num_blocks": settings.num_blocks, "front_width": settings.front_width}
    network = SoundRecognizer(**facts).to(options.device)
    optimizers = adam_and_muon(STAGE, network, settings, matrices_in="blocks")
    trainer = Trainer(
        STAGE,
        options,
        networks={STAGE: network},
        optimizers=optimizers,
        averaged=(STAGE,),
        average_decay=0.998,
        facts=facts,
        cool_down_share=settings.cool_down_share,
        validate=_validation(network, corpus, settings.num_clips),
        minutes_between_validations=10.0,
    )
    num_pieces = settings.batch * (settings.gpu_factor if trainer.device.type == "cuda" else 1)
    is_bfloat16 = settings.bfloat16 and prefers_bfloat16(trainer.device)
    for _ in trainer.steps():
        kind = int(trainer.random.choice(len(pieces), p=[share for share, _ in pieces]))
        batch = pieces[kind][1].draw(trainer.random, num_pieces).to(trainer.device)
        with torch.autocast(trainer.device.type, torch.bfloat16, enabled=is_bfloat16):
            sounds, tones = network(batch.log_mel, batch.lengths)
        sound_loss = F.cross_entropy(sounds.float().flatten(0, 1), batch.sounds.flatten(), ignore_index=UNKNOWN)
        tone_loss = F.cross_entropy(tones.float().flatten(0, 1), batch.tones.flatten(), ignore_index=UNKNOWN)
        trainer.descend(sound_loss + _TONE_WEIGHT * tone_loss, *optimizers, largest_gradient=1.0)
        is_there = batch.sounds >= 0
        trainer.note(
            heard_seconds=batch.seconds,
            sound_loss=sound_loss,
            tone_loss=tone_loss,
            accuracy=(sounds.argmax(dim=-1) == batch.sounds)[is_there].float().mean(),
        )
    return trainer.finish()


def load_network(checkpoint: Path) -> SoundRecognizer:
    """Return the trained network with averaged weights. Raise ``TrainingFailed`` without a checkpoint."""
    network = SoundRecognizer(**{name: int(value) for name, value in load_facts(checkpoint).items()})
    network.load_state_dict(load_weights(checkpoint, STAGE))
    return network.eval()


def some_voices(corpus: Corpus, indices: IndexArray, speakers: str) -> IndexArray:
    """Return ``indices`` of all training voices, or of every second one ("odd" or "even").

    Raise ``TrainingFailed`` if none are left.
    """
    names = sorted({corpus.lines[index].voice for index in indices.tolist()})
    wanted = {"all": names, "odd": names[1::2], "even": names[0::2]}[speakers]
    chosen = np.array([index for index in indices.tolist() if corpus.lines[index].voice in set(wanted)], np.int64)
    if not len(chosen):
        raise TrainingFailed("The corpus contains no training lines yet. Extend it first.")
    return chosen


@dataclass(frozen=True, slots=True)
class Heard:
    """What was recognised: each sound in order without silence, and the tone of each vowel group."""

    sounds: tuple[str, ...]
    tones: tuple[int, ...]


@torch.no_grad()
def recognize(network: SoundRecognizer, samples: FloatArray) -> Heard:
    """Return the sounds and tones of ``samples`` at 24 kHz."""
    sounds, tones = _scores(network, samples)
    return heard_of(sounds.argmax(dim=-1).cpu().numpy(), tones.argmax(dim=-1).cpu().numpy())


def heard_of(labels: npt.NDArray[np.integer], tones: npt.NDArray[np.integer]) -> Heard:
    """Return the sounds of the labels of each 20 ms, and the most frequent tone of each syllable."""
    starts = np.flatnonzero(np.diff(labels.astype(np.int64), prepend=-1))
    lengths = np.diff(np.append(starts, len(labels)))
    kept = [(int(labels[start]), int(start), int(length)) for start, length in zip(starts, lengths, strict=True)]
    runs = [run for run in kept if run[0] != SILENCE and run[2] >= _MIN_HALVES]
    sounds = tuple(
        LABELS[label] for number, (label, _, _) in enumerate(runs) if number == 0 or runs[number - 1][0] != label
    )
    found: list[int] = []
    previous_end = -1
    votes = np.zeros(NUM_TONES, np.int64)
    for label, start, length in runs:
        if label not in VOWELS:
            continue
        if start != previous_end and votes.any():
            found.append(int(votes.argmax()))
            votes[:] = 0
        votes += np.bincount(tones[start : start + length], minlength=NUM_TONES)
        previous_end = start + length
    if votes.any():
        found.append(int(votes.argmax()))
    return Heard(sounds, tuple(tone for tone in found if tone != NO_TONE))


def error_rate(heard: Sequence[object], wanted: Sequence[object]) -> float:
    """Return the edit distance of ``heard`` to ``wanted``, relative to the length of ``wanted``."""
    costs = np.arange(len(heard) + 1)
    for number, each in enumerate(wanted, 1):
        above = costs
        change = above[:-1] + np.array([other != each for other in heard], np.int64)
        best = np.minimum(change, above[1:] + 1)
        costs = np.concatenate([[number], best])
        for place in range(1, len(costs)):
            costs[place] = min(costs[place], costs[place - 1] + 1)
    return float(costs[-1]) / max(1, len(wanted))


def _scores(network: SoundRecognizer, samples: FloatArray) -> tuple[torch.Tensor, torch.Tensor]:
    device = network.norm.device
    log_mel = torch.from_numpy(whisper_log_mel(Waveform(samples, SAMPLE_RATE).resampled(WHISPER_SAMPLE_RATE)))
    sounds, tones = network(log_mel[None].to(device), torch.tensor([log_mel.shape[1]], device=device))
    return sounds[0], tones[0]


def _validation(network: SoundRecognizer, corpus: Corpus, num_clips: int) -> Callable[[], dict[str, float]]:
    """Return a validation with whole lines by unseen voices, for each language."""
    unseen = [corpus.indices(speaker_split=split) for split in ("validation", "stranger")]
    shuffled = np.random.default_rng(1).permutation(np.concatenate(unseen)).tolist()
    clips = {
        language: [index for index in shuffled if corpus.lines[index].language == language][:num_clips]
        for language in ("en", "zh")
    }

    def validate() -> dict[str, float]:
        values: dict[str, float] = {}
        for language, indices in clips.items():
            right = count = 0
            sound_errors: list[float] = []
            tone_errors: list[float] = []
            for index in indices:
                labels, tones = corpus.labels(index)
                sounds, tone_scores = _scores(network, corpus.samples(index))
                found = sounds[: len(labels)].argmax(dim=-1).cpu().numpy()
                found_tones = tone_scores[: len(labels)].argmax(dim=-1).cpu().numpy()
                right, count = right + int((found == labels).sum()), count + len(labels)
                heard, wanted = heard_of(found, found_tones), heard_of(labels, tones)
                sound_errors.append(error_rate(heard.sounds, wanted.sounds))
                tone_errors.append(error_rate(heard.tones, wanted.tones))
            if indices:
                values[f"{language}_accuracy"] = right / count
                values[f"{language}_sound_errors"] = float(np.mean(sound_errors))
                if language == "zh":
                    values["zh_tone_errors"] = float(np.mean(tone_errors))
        return values

    return validate
