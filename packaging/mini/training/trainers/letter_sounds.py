"""Training of a guesser that reads English words which are in no lexicon, such as names: letters to sounds.

It learns from misaki's American lexicons in the teacher's folder, which is ``--corpus`` here:

    train.py letter_sounds --corpus TEACHER --minutes 60

Decision: connectionist temporal classification with three places for each letter. Reason: one pass of a small network
reads a word, and no alignment of letters and phonemes is needed. Alternative: a decoder with attention, which is
slower, and repeats or omits parts of long words.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from studio.text.letter_sounds import LETTER_SOUNDS_FILE
from training.corpus.utterance import CorpusFailed
from training.shipping.respellings import SYMBOL_OF_LETTER, VOCABULARY_FOLDER, read_lexicon, respelled
from training.trainers.bfloat16 import prefers_bfloat16
from training.trainers.checkpoints import load_facts, load_weights
from training.trainers.loop import Trainer, begin
from training.trainers.optimizers import adam_and_muon
from training.trainers.options import TrainingFailed, TrainingOptions
from training.trainers.sound_recognizer import error_rate
from training.trainers.tokenizer_network import Block, rms_norm

STAGE = "letter_sounds"
LETTERS = " 'abcdefghijklmnopqrstuvwxyz"  # the first fills words up to the length of the batch
SOUNDS = "_" + "".join(sorted(SYMBOL_OF_LETTER))  # letters of respellings; the first is the blank of the classification
_PLACES_PER_LETTER = 3
_MAX_LETTERS = 20
_WORD = re.compile(r"[a-z']{2,20}")
_VALIDATION_PERCENT = 4
# Words with the same beginning are mostly forms of one word, and must be on the same side.
_LETTERS_OF_FAMILY = 5


@dataclass(frozen=True, slots=True)
class Settings:
    width: int = 160
    num_blocks: int = 6
    batch: int = 192
    matrix_rate: float = 0.02
    adam_rate: float = 0.002
    weight_decay: float = 0.05
    cool_down_share: float = 0.5
    bfloat16: bool = True
    num_words: int = 1500  # for validation


class LetterSounds(nn.Module):
    """From letters (batch, letters) to scores (batch, 3 * letters, symbols). The default sizes have 0.6 M weights."""

    def __init__(self, *, width: int = 160, num_blocks: int = 6) -> None:
        super().__init__()
        self.letters = nn.Embedding(len(LETTERS), width)
        self.places = nn.Parameter(0.02 * torch.randn(_PLACES_PER_LETTER, width))
        self.blocks = nn.ModuleList(Block(width) for _ in range(num_blocks))
        self.norm = nn.Parameter(torch.ones(width))
        self.head = nn.Linear(width, len(SOUNDS))

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        mask = (letters > 0).repeat_interleave(_PLACES_PER_LETTER, dim=1)[..., None]
        x = (self.letters(letters)[:, :, None] + self.places).flatten(1, 2)
        for block in self.blocks:
            x = block(x * mask)
        scores: torch.Tensor = self.head(rms_norm(x, self.norm))
        return scores


@dataclass(frozen=True, slots=True)
class Words:
    """Words and their phonemes, for training (in order of length) and for validation."""

    train: tuple[tuple[str, str], ...]
    validation: tuple[tuple[str, str], ...]


def train(options: TrainingOptions) -> dict[str, float]:
    """The validation values: shares of wrong words and symbols, with and without stress. Raise ``TrainingFailed``."""
    settings = options.with_settings(Settings())
    begin(options)
    words = read_words(options.corpus)
    facts = {"width": settings.width, "num_blocks": settings.num_blocks}
    network = LetterSounds(**facts).to(options.device)
    optimizers = adam_and_muon(STAGE, network, settings, matrices_in="blocks")
    trainer = Trainer(
        STAGE,
        options,
        networks={STAGE: network},
        optimizers=optimizers,
        averaged=(STAGE,),
        facts=facts,
        cool_down_share=settings.cool_down_share,
        validate=_validation(network, words.validation[: settings.num_words]),
        minutes_between_validations=10.0,
    )
    is_bfloat16 = settings.bfloat16 and prefers_bfloat16(trainer.device)
    for _ in trainer.steps():
        pairs = _words_of_similar_length(words.train, settings.batch, trainer.random)
        loss = _loss(network, pairs, bfloat16=is_bfloat16)
        trainer.descend(loss, *optimizers, largest_gradient=1.0)
        trainer.note(loss=loss)
    values = trainer.finish()
    export(trainer.checkpoint_path, options.work / VOCABULARY_FOLDER / LETTER_SOUNDS_FILE)
    return values


def read_words(folder: Path) -> Words:
    """Return the words of the lexicons in the teacher's ``folder``. Raise ``TrainingFailed`` if there are none."""
    try:
        lexicon = read_lexicon(folder)
    except CorpusFailed as failure:
        raise TrainingFailed(str(failure)) from failure
    sounds = {word: respelled(phonemes) for word, phonemes in lexicon.items() if _WORD.fullmatch(word)}
    train_words: list[tuple[str, str]] = []
    validation: list[tuple[str, str]] = []
    for word, own in sorted(sounds.items()):
        if not own or len(own) > _PLACES_PER_LETTER * len(word):
            continue
        digest = hashlib.sha256(word[:_LETTERS_OF_FAMILY].encode()).digest()
        is_held_out = int.from_bytes(digest[:4], "big") % 100 < _VALIDATION_PERCENT
        (validation if is_held_out else train_words).append((word, own))
    order = np.random.default_rng(0).permutation(len(validation))
    train_words.sort(key=lambda pair: len(pair[0]))
    return Words(tuple(train_words), tuple(validation[number] for number in order))


def export(checkpoint: Path, path: Path) -> None:
    """Write ``letter_sounds.npz`` of a checkpoint. Raise ``TrainingFailed`` without one."""
    network = load_network(checkpoint)
    weights = {name: tensor.half().numpy() for name, tensor in network.state_dict().items()}
    facts = {"letters": LETTERS, "sounds": SOUNDS, "num_blocks": len(network.blocks)}
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, facts=np.array(json.dumps(facts)), **weights)


def load_network(checkpoint: Path) -> LetterSounds:
    """Return the trained network with averaged weights. Raise ``TrainingFailed`` without a checkpoint."""
    network = LetterSounds(**{name: int(value) for name, value in load_facts(checkpoint).items()})
    network.load_state_dict(load_weights(checkpoint, STAGE))
    return network.eval()


@torch.no_grad()
def guessed(network: LetterSounds, words: list[str]) -> list[str]:
    """Return the phonemes of ``words`` of lower-case letters and apostrophes."""
    best = network(_letters(words).to(network.norm.device)).argmax(dim=-1).cpu().numpy()
    found: list[str] = []
    for word, row in zip(words, best, strict=True):
        own = row[: _PLACES_PER_LETTER * len(word)]
        changes = own[np.flatnonzero(np.diff(own, prepend=-1))]
        found.append("".join(SOUNDS[symbol] for symbol in changes if symbol))
    return found


def without_stress(sounds: str) -> str:
    """Return the teacher's symbols of a respelling, which do not show the stress."""
    return "".join(SYMBOL_OF_LETTER[sound] for sound in sounds)


def _words_of_similar_length(
    pairs: tuple[tuple[str, str], ...], number: int, random: np.random.Generator
) -> list[tuple[str, str]]:
    """Draw words that need little filling."""
    among = min(len(pairs), 8 * number)
    start = int(random.integers(len(pairs) - among + 1))
    return [pairs[start + int(place)] for place in random.integers(among, size=number)]


def _letters(words: list[str]) -> torch.Tensor:
    letters = torch.zeros(len(words), max(map(len, words)), dtype=torch.long)
    for row, word in enumerate(words):
        letters[row, : len(word)] = torch.tensor([LETTERS.index(letter) for letter in word])
    return letters


def _loss(network: LetterSounds, pairs: list[tuple[str, str]], *, bfloat16: bool) -> torch.Tensor:
    device = network.norm.device
    letters = _letters([word for word, _ in pairs]).to(device)
    with torch.autocast(device.type, torch.bfloat16, enabled=bfloat16):
        scores = network(letters)
    targets = torch.tensor([SOUNDS.index(symbol) for _, phonemes in pairs for symbol in phonemes], device=device)
    return F.ctc_loss(
        scores.float().log_softmax(dim=-1).transpose(0, 1),
        targets,
        _PLACES_PER_LETTER * (letters > 0).sum(dim=1),
        torch.tensor([len(phonemes) for _, phonemes in pairs], device=device),
        zero_infinity=True,  # where equal symbols follow each other in a short word
    )


def _validation(network: LetterSounds, pairs: tuple[tuple[str, str], ...]) -> Callable[[], dict[str, float]]:
    words, wanted = [word for word, _ in pairs], [phonemes for _, phonemes in pairs]

    def validate() -> dict[str, float]:
        found = guessed(network, words)
        plain = [(without_stress(one), without_stress(other)) for one, other in zip(found, wanted, strict=True)]
        return {
            "wrong_words": float(np.mean([one != other for one, other in zip(found, wanted, strict=True)])),
            "wrong_words_without_stress": float(np.mean([one != other for one, other in plain])),
            "wrong_symbols_without_stress": float(np.mean([error_rate(one, other) for one, other in plain])),
        }

    return validate
