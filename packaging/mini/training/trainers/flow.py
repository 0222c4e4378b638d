"""Training of the flow, which converts tokens, prompt and speaker embedding to mel spectrograms.

It needs ``speaker_encoder.onnx`` in the work folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from studio.model.config import FlowConfig
from training.corpus.store import Corpus
from training.corpus.tokens import TABLE_FILE, TokenTable
from training.trainers.bfloat16 import prefers_bfloat16
from training.trainers.checkpoints import Fact, load_facts, load_weights
from training.trainers.crops import open_corpus, training_indices
from training.trainers.flow_batches import FRAMES_PER_TOKEN, FlowPieces
from training.trainers.flow_loss import FlowDraw, flow_loss
from training.trainers.flow_network import LearningFlow, config_of_facts, facts_of_config, flow_config
from training.trainers.flow_validation import FlowValidation
from training.trainers.loop import Trainer, begin
from training.trainers.options import TrainingOptions
from training.trainers.speaker_embeddings import SpeakerEmbeddings, encoder_path

STAGE = "flow"
_FRAMES_PER_SECOND = 50
_MELS_FOR_THE_MEAN = 200


@dataclass(frozen=True, slots=True)
class FlowSettings:
    size: int = 256
    depth: int = 8
    feed_forward_ratio: int = 2
    look_ahead_channels: int = 384
    rate: float = 1.5e-3
    weight_decay: float = 1e-2
    second_moment_decay: float = 0.98
    average_decay: float = 0.999
    warm_up_steps: int = 100
    cool_down_share: float = 0.35
    frames_per_batch: int = 1200
    cuda_batch_factor: int = 8
    piece_tokens: tuple[int, ...] = (100, 150, 250)
    piece_shares: tuple[float, ...] = (0.55, 0.25, 0.2)
    streaming_share: float = 0.75
    untold_share: float = 0.15
    embedding_noise: float = 0.015
    bfloat16: bool = True  # where it is faster
    embeddings_per_speaker: int = 24
    validation_targets: int = 16
    minutes_between_validations: float = 10.0


def train(options: TrainingOptions) -> dict[str, float]:
    """The validation values of ``FlowValidation.measure``."""
    begin(options)
    settings = options.with_settings(FlowSettings())
    corpus = open_corpus(options)
    embeddings = SpeakerEmbeddings.of(
        corpus, encoder_path(options), options.work, most_of_each=settings.embeddings_per_speaker
    )
    pieces = FlowPieces.of(corpus, training_indices(corpus), embeddings)
    config = flow_config(settings.size, settings.depth, settings.feed_forward_ratio, settings.look_ahead_channels)
    network = LearningFlow(config, corpus.table)
    network.begin(_mean_mel(corpus, pieces))
    device = torch.device(options.device)
    network.to(device)
    validation = FlowValidation.of(
        corpus,
        embeddings,
        config,
        options.work / f"{options.name or STAGE}.png",
        num_targets=settings.validation_targets,
    )
    optimizer = torch.optim.AdamW(
        network.parameters(),
        lr=settings.rate,
        betas=(0.9, settings.second_moment_decay),
        weight_decay=settings.weight_decay,
        fused=True,
    )
    trainer = Trainer(
        STAGE,
        options,
        networks={"flow": network},
        optimizers={"flow": optimizer},
        averaged=("flow",),
        average_decay=settings.average_decay,
        facts=facts_of_config(config),
        warm_up_steps=settings.warm_up_steps,
        cool_down_share=settings.cool_down_share,
        validate=lambda: validation.measure(network),
        minutes_between_validations=settings.minutes_between_validations,
    )
    is_bfloat16 = settings.bfloat16 and prefers_bfloat16(device)
    frames_per_batch = settings.frames_per_batch * (settings.cuda_batch_factor if device.type == "cuda" else 1)
    for _ in trainer.steps():
        num_tokens = int(trainer.random.choice(settings.piece_tokens, p=settings.piece_shares))
        num_rows = max(1, frames_per_batch // (FRAMES_PER_TOKEN * num_tokens))
        batch = pieces.batch(num_rows, num_tokens, trainer.random, embedding_noise=settings.embedding_noise).to(device)
        is_streaming = trainer.random.random() < settings.streaming_share
        draw = FlowDraw.of(batch, settings.untold_share, trainer.generator)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=is_bfloat16):
            loss = flow_loss(
                network, batch, draw, chunk_frames=config.chunk_tokens * FRAMES_PER_TOKEN if is_streaming else None
            )
        trainer.descend(loss, "flow", largest_gradient=1.0)
        trainer.note(loss=loss, heard_seconds=num_rows * num_tokens * FRAMES_PER_TOKEN / _FRAMES_PER_SECOND)
    return trainer.finish()


def load_network(checkpoint: Path) -> LearningFlow:
    """Return the trained network with averaged weights. Raise ``TrainingFailed`` if it does not exist."""
    network = LearningFlow(config_of_facts(load_facts(checkpoint)), TokenTable.read(checkpoint.with_name(TABLE_FILE)))
    network.load_state_dict(load_weights(checkpoint, "flow"))
    return network.eval()


def official_flow(checkpoint: Path) -> tuple[FlowConfig, dict[str, torch.Tensor]]:
    """Return the sizes for ``cosyvoice3.yaml`` and the tensors of ``flow.pt`` in float32.

    Raise ``TrainingFailed`` if there is no checkpoint.
    """
    facts: Mapping[str, Fact] = load_facts(checkpoint)
    return config_of_facts(facts), load_network(checkpoint).official_tensors()


def _mean_mel(corpus: Corpus, pieces: FlowPieces) -> torch.Tensor:
    random = np.random.default_rng(0)
    indices = np.concatenate([source.utterances for source in pieces.sources])
    mels = [corpus.mel(index) for index in random.permutation(indices)[:_MELS_FOR_THE_MEAN].tolist()]
    return torch.from_numpy(np.concatenate(mels).mean(axis=0))
