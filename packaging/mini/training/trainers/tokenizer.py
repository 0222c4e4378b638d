"""Training of the speech tokenizer, a classifier of anchored tokens.

It writes ``tokenizer.onnx`` next to its checkpoint. Training starts from scratch, because it takes only minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from studio.audio.waveform import Waveform
from studio.voices.features import WHISPER_SAMPLE_RATE, whisper_log_mel
from training.corpus.store import Corpus
from training.corpus.tokens import shipped_pairs
from training.corpus.utterance import SAMPLE_RATE
from training.trainers.checkpoints import load_facts, load_weights
from training.trainers.factored import pair_labels
from training.trainers.loop import Trainer, begin
from training.trainers.optimizers import adam_and_muon
from training.trainers.options import TrainingFailed, TrainingOptions
from training.trainers.tokenizer_batches import TokenizerPieces, clip_colours
from training.trainers.tokenizer_network import SpeechTokenizerNetwork
from training.trainers.tokenizer_onnx import write_tokenizer_onnx

STAGE = "tokenizer"
_COLOUR_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Settings:
    width: int = 256
    num_blocks: int = 5
    front_width: int = 192
    piece_tokens: int = 75
    batch: int = 16
    gpu_factor: int = 8
    matrix_rate: float = 0.02
    adam_rate: float = 0.002
    weight_decay: float = 0.05
    cool_down_share: float = 0.4
    bfloat16: bool = True
    num_clips: int = 40  # validation clips of each kind


def train(options: TrainingOptions) -> dict[str, float]:
    """Raises ``TrainingFailed``."""
    settings = options.with_settings(Settings())
    begin(options)
    corpus, table = Corpus.open(options.corpus), shipped_pairs()
    indices = corpus.indices(split="train", speaker_split="train")
    if len(indices) == 0:
        raise TrainingFailed("The corpus contains no training lines yet. Extend it first.")
    network = SpeechTokenizerNetwork(
        pair_labels(), width=settings.width, num_blocks=settings.num_blocks, front_width=settings.front_width
    ).to(options.device)
    optimizers = adam_and_muon(
        STAGE,
        network,
        matrices_in="blocks",
        adam_rate=settings.adam_rate,
        matrix_rate=settings.matrix_rate,
        weight_decay=settings.weight_decay,
    )
    trainer = Trainer(
        STAGE,
        options,
        networks={"tokenizer": network},
        optimizers=optimizers,
        averaged=("tokenizer",),
        average_decay=0.998,
        facts={"width": settings.width, "num_blocks": settings.num_blocks, "front_width": settings.front_width},
        cool_down_share=settings.cool_down_share,
        validate=_validation(network, corpus, settings.num_clips),
        minutes_between_validations=4.0,
    )
    pieces = TokenizerPieces(corpus, indices, table, settings.piece_tokens)
    num_pieces = settings.batch * (settings.gpu_factor if trainer.device.type == "cuda" else 1)
    for _ in trainer.steps():
        batch = pieces.draw(trainer.random, num_pieces).to(trainer.device)
        with torch.autocast(trainer.device.type, torch.bfloat16, enabled=settings.bfloat16):
            pairs, colours = network(batch.log_mel, batch.lengths)
        pair_loss = F.cross_entropy(pairs.float().flatten(0, 1), batch.pairs.flatten())
        colour_loss = F.cross_entropy(colours.float().flatten(0, 1), batch.colours.flatten())
        trainer.descend(pair_loss + _COLOUR_WEIGHT * colour_loss, *optimizers, largest_gradient=1.0)
        is_there = batch.pairs >= 0
        trainer.note(
            heard_seconds=batch.seconds,
            pair_loss=pair_loss,
            colour_loss=colour_loss,
            pair_accuracy=(pairs.argmax(dim=-1) == batch.pairs)[is_there].float().mean(),
            colour_accuracy=(colours.argmax(dim=-1) == batch.colours)[is_there].float().mean(),
        )
    values = trainer.finish()
    export(trainer.checkpoint_path, trainer.checkpoint_path.with_suffix(".onnx"))
    return values


def load_network(checkpoint: Path) -> SpeechTokenizerNetwork:
    """Return the trained network with averaged weights. Raise ``TrainingFailed`` if there is none."""
    sizes = {name: int(value) for name, value in load_facts(checkpoint).items()}
    network = SpeechTokenizerNetwork(pair_labels(), **sizes)
    network.load_state_dict(load_weights(checkpoint, STAGE))
    return network.eval()


def export(checkpoint: Path, path: Path) -> None:
    """Return ``speech_tokenizer_v3.onnx`` of a checkpoint. Raise ``TrainingFailed`` if there is none."""
    write_tokenizer_onnx(load_network(checkpoint), path)


def _validation(network: SpeechTokenizerNetwork, corpus: Corpus, num_clips: int) -> Callable[[], dict[str, float]]:
    """Validation with whole utterances through the program's front end: new texts by unseen timbres."""
    random = np.random.default_rng(1)
    kinds = {
        "new_timbres": corpus.indices(split="validation", speaker_split="validation"),
        "stranger": corpus.indices(speaker_split="stranger"),
        "flite": corpus.indices(split="validation", speaker_split="train", engine="flite", style="normal"),
    }
    clips = {name: random.permutation(indices)[:num_clips].tolist() for name, indices in kinds.items() if len(indices)}
    table = shipped_pairs()

    def validate() -> dict[str, float]:
        device = network.norm.device
        values: dict[str, float] = {}
        for name, indices in clips.items():
            right = np.zeros(3)
            count = 0
            for index in indices:
                heard = Waveform(corpus.samples(index), SAMPLE_RATE).resampled(WHISPER_SAMPLE_RATE)
                log_mel = torch.from_numpy(whisper_log_mel(heard))[None].to(device)
                pairs, colours = network(log_mel, torch.tensor([log_mel.shape[2]], device=device))
                num_tokens = corpus.entry(index).num_tokens
                chosen = pairs[0, :num_tokens].argmax(dim=-1).cpu().numpy()
                chosen_colours = colours[0, :num_tokens].argmax(dim=-1).cpu().numpy()
                labels = corpus.labels(index)
                right += (
                    (table.pairs[chosen].reshape(-1) == labels).mean() * num_tokens,
                    (chosen == table.classes(labels)).sum(),
                    (chosen_colours == clip_colours(corpus, index)).sum(),
                )
                count += num_tokens
            for measure, value in zip(("half_frame_accuracy", "pair_accuracy", "colour_accuracy"), right, strict=True):
                values[f"{name}_{measure}"] = float(value / max(1, count))
        return values

    return validate
