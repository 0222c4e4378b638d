"""Training of the speech tokenizer, a classifier of the tokens that sounds and pitch define.

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
from training.corpus.tokens import TABLE_FILE, TokenTable
from training.corpus.utterance import SAMPLE_RATE, IntArray, LabelArray
from training.trainers.bfloat16 import prefers_bfloat16
from training.trainers.checkpoints import load_facts, load_weights
from training.trainers.crops import open_corpus, training_indices
from training.trainers.loop import Trainer, begin
from training.trainers.optimizers import adam_and_muon
from training.trainers.options import TrainingOptions
from training.trainers.sound_batches import UNKNOWN, SoundPieces
from training.trainers.tokenizer_network import SpeechTokenizerNetwork
from training.trainers.tokenizer_onnx import write_tokenizer_onnx

STAGE = "tokenizer"
_PITCH_WEIGHT = 0.5


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
    corpus = open_corpus(options)
    indices = training_indices(corpus)
    table = corpus.table
    network = SpeechTokenizerNetwork(
        table, width=settings.width, num_blocks=settings.num_blocks, front_width=settings.front_width
    ).to(options.device)
    optimizers = adam_and_muon(STAGE, network, settings, matrices_in="blocks")
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
    )
    pieces = SoundPieces(corpus, indices, settings.piece_tokens, targets=lambda index: _targets(corpus, index))
    num_pieces = settings.batch * (settings.gpu_factor if trainer.device.type == "cuda" else 1)
    class_of = torch.from_numpy(table.class_of.astype(np.int64)).to(trainer.device)
    is_bfloat16 = settings.bfloat16 and prefers_bfloat16(trainer.device)
    for _ in trainer.steps():
        batch = pieces.draw(trainer.random, num_pieces).to(trainer.device)
        first, second = batch.sounds[:, 0::2], batch.sounds[:, 1::2]
        is_there = first >= 0
        wanted_pairs = class_of[first.clamp(min=0), second.clamp(min=0)].masked_fill(~is_there, UNKNOWN)
        wanted_pitches = batch.tones[:, 0::2]
        with torch.autocast(trainer.device.type, torch.bfloat16, enabled=is_bfloat16):
            pairs, pitches = network(batch.log_mel, batch.lengths)
        pair_loss = F.cross_entropy(pairs.float().flatten(0, 1), wanted_pairs.flatten(), ignore_index=UNKNOWN)
        pitch_loss = F.cross_entropy(pitches.float().flatten(0, 1), wanted_pitches.flatten(), ignore_index=UNKNOWN)
        trainer.descend(pair_loss + _PITCH_WEIGHT * pitch_loss, *optimizers, largest_gradient=1.0)
        trainer.note(
            heard_seconds=batch.seconds,
            pair_loss=pair_loss,
            pitch_loss=pitch_loss,
            pair_accuracy=(pairs.argmax(dim=-1) == wanted_pairs)[is_there].float().mean(),
            pitch_accuracy=(pitches.argmax(dim=-1) == wanted_pitches)[is_there].float().mean(),
        )
    values = trainer.finish()
    export(trainer.checkpoint_path, trainer.checkpoint_path.with_suffix(".onnx"))
    return values


def _targets(corpus: Corpus, index: int) -> tuple[LabelArray, LabelArray]:
    """Return the sound of each 20 ms, and the pitch of its token as heard."""
    pitches = (corpus.heard_tokens(index) // corpus.table.scheme.sounds).astype(np.uint8)
    return corpus.labels(index)[0], pitches.repeat(2)


def load_network(checkpoint: Path) -> SpeechTokenizerNetwork:
    """Return the trained network with averaged weights. Raise ``TrainingFailed`` if it does not exist."""
    sizes = {name: int(value) for name, value in load_facts(checkpoint).items()}
    network = SpeechTokenizerNetwork(TokenTable.read(checkpoint.with_name(TABLE_FILE)), **sizes)
    network.load_state_dict(load_weights(checkpoint, STAGE))
    return network.eval()


def export(checkpoint: Path, path: Path) -> None:
    """Return ``speech_tokenizer_v3.onnx`` of a checkpoint. Raise ``TrainingFailed`` if it does not exist."""
    write_tokenizer_onnx(load_network(checkpoint), path)


def _validation(network: SpeechTokenizerNetwork, corpus: Corpus, num_clips: int) -> Callable[[], dict[str, float]]:
    """Validation with whole lines through the program's front end, by unseen voices, for each language."""
    unseen = [corpus.indices(speaker_split=split) for split in ("validation", "stranger")]
    shuffled = np.random.default_rng(1).permutation(np.concatenate(unseen)).tolist()
    clips = {
        language: [index for index in shuffled if corpus.entry(index).line.language == language][:num_clips]
        for language in ("en", "zh")
    }
    table = corpus.table

    def validate() -> dict[str, float]:
        device = network.pair_bias.device
        values: dict[str, float] = {}
        for language, indices in clips.items():
            right = np.zeros(2)
            correlations: list[float] = []
            count = 0
            for index in indices:
                heard = Waveform(corpus.samples(index), SAMPLE_RATE).resampled(WHISPER_SAMPLE_RATE)
                log_mel = torch.from_numpy(whisper_log_mel(heard))[None].to(device)
                pairs, pitches = network(log_mel, torch.tensor([log_mel.shape[2]], device=device))
                expected = corpus.heard_tokens(index)
                found = _tokens(table, pairs[0, : len(expected)], pitches[0, : len(expected)])
                labels, f0_hz = corpus.labels(index)[0], corpus.f0_hz(index)
                right += (
                    (table.sounds_of(found) == labels).mean() * len(found),
                    (found // table.scheme.sounds == expected // table.scheme.sounds).sum(),
                )
                count += len(found)
                voiced = f0_hz > 0
                contours = [table.semitones_of(each)[voiced] for each in (found, expected)]
                if all(len(contour) and contour.std() > 0 for contour in contours):
                    correlations.append(float(np.corrcoef(contours[0], contours[1])[0, 1]))
            for measure, value in zip(("sound_accuracy", "pitch_accuracy"), right, strict=True):
                values[f"{language}_{measure}"] = float(value / max(1, count))
            values[f"{language}_pitch_correlation"] = float(np.mean(correlations)) if correlations else 0.0
        return values

    return validate


def _tokens(table: TokenTable, pairs: torch.Tensor, pitches: torch.Tensor) -> IntArray:
    found = pairs.argmax(dim=-1) + table.scheme.sounds * pitches.argmax(dim=-1)
    return found.cpu().numpy().astype(np.int32)
