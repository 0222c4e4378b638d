"""Training of the speaker encoder, which identifies speakers in a few seconds of any speech.

It writes ``<name>.onnx`` next to its checkpoint, which the flow's trainer and the evaluation open as the program opens
``campplus.onnx``. ``--speakers odd`` or ``even`` selects every second speaker, for an independent encoder with another
seed. Training does not start from a bundled model, because the flow depends on the embeddings it was trained with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F

from training.corpus.store import Corpus
from training.trainers.checkpoints import load_facts, load_weights
from training.trainers.crops import open_corpus
from training.trainers.filter_bank_pool import FilterBankPool, filter_bank_of, some_of_each, usual_indices
from training.trainers.loop import Trainer, begin
from training.trainers.options import TrainingFailed, TrainingOptions
from training.trainers.speaker_network import SpeakerNetwork, SpeakerTasks
from training.trainers.speaker_onnx import write_speaker_onnx

STAGE = "speaker_encoder"
_FRAMES_PER_SECOND = 100


@dataclass(frozen=True, slots=True)
class SpeakerEncoderSettings:
    channels: int = 128
    pooled_channels: int = 384
    rate: float = 2e-3
    weight_decay: float = 1e-2
    rows: int = 40
    shortest_seconds: float = 1.2
    longest_seconds: float = 3.0
    margin: float = 0.2
    scale: float = 30.0
    margin_steps: int = (
        300  # the margin grows over these steps, because the full margin would prevent learning at first
    )
    pitch_weight: float = 2.0
    utterances_per_speaker: int = 24
    validation_utterances: int = 10


def train(options: TrainingOptions) -> dict[str, float]:
    """The validation values: ``equal_error_rate`` of pairs of unseen speakers, and ``pitch_error``, relative."""
    begin(options)
    settings = options.with_settings(SpeakerEncoderSettings())
    corpus = open_corpus(options)
    random = np.random.default_rng(options.seed)
    chosen = _training_utterances(corpus, options.speakers, settings.utterances_per_speaker, random)
    pool = FilterBankPool.of(corpus, chosen)
    log_pitches = torch.tensor([np.log(_median_f0_hz(corpus, name)) for name in chosen], dtype=torch.float32)
    device = torch.device(options.device)
    network = SpeakerNetwork(settings.channels, settings.pooled_channels).to(device)
    tasks = SpeakerTasks(len(chosen)).to(device)
    torch.nn.init.constant_(tasks.pitch.bias, float(log_pitches.mean()))
    log_pitches = log_pitches.to(device)
    optimizer = torch.optim.AdamW(
        [*network.parameters(), *tasks.parameters()],
        lr=settings.rate,
        weight_decay=settings.weight_decay,
        fused=True,
    )
    validation = _Validation.of(corpus, settings.validation_utterances)
    trainer = Trainer(
        STAGE,
        options,
        networks={"encoder": network, "tasks": tasks},
        optimizers={"encoder": optimizer},
        averaged=("encoder", "tasks"),
        average_decay=0.995,
        facts={
            "channels": settings.channels,
            "pooled_channels": settings.pooled_channels,
            "num_speakers": len(chosen),
            "speakers": options.speakers,
        },
        validate=lambda: validation.measure(network, tasks),
        minutes_between_validations=2.0,
    )
    for step in trainer.steps():
        seconds = trainer.random.uniform(settings.shortest_seconds, settings.longest_seconds)
        pieces, numbers = pool.crops(settings.rows, round(seconds * _FRAMES_PER_SECOND), trainer.random)
        speakers = torch.from_numpy(numbers).to(device)
        embedding = network(torch.from_numpy(pieces).to(device))
        margin = settings.margin * min(1.0, step / settings.margin_steps)
        logits = tasks.logits(embedding, speakers, margin=margin, scale=settings.scale)
        of_speakers = F.cross_entropy(logits, speakers)
        of_pitch = F.smooth_l1_loss(tasks.log_pitch(embedding), log_pitches[speakers], beta=0.05)
        trainer.descend(of_speakers + settings.pitch_weight * of_pitch, "encoder", largest_gradient=5.0)
        trainer.note(
            loss=of_speakers,
            pitch_loss=of_pitch,
            accuracy=(logits.detach().argmax(dim=1) == speakers).float().mean(),
            heard_seconds=settings.rows * seconds,
        )
    values = trainer.finish()
    export(trainer.checkpoint_path, trainer.checkpoint_path.with_suffix(".onnx"))
    return values


def load_network(checkpoint: Path) -> SpeakerNetwork:
    """Return the trained network for inference. Raise ``TrainingFailed`` if it does not exist."""
    facts = load_facts(checkpoint)
    network = SpeakerNetwork(int(facts["channels"]), int(facts["pooled_channels"]))
    network.load_state_dict(load_weights(checkpoint, "encoder"))
    return network.eval()


def export(checkpoint: Path, path: Path) -> None:
    """Write ``campplus.onnx`` from a checkpoint. Raise ``TrainingFailed`` if it does not exist."""
    write_speaker_onnx(load_network(checkpoint), path)


def _training_utterances(
    corpus: Corpus, speakers: str, most: int, random: np.random.Generator
) -> Mapping[str, npt.NDArray[np.int64]]:
    """Raise ``TrainingFailed`` if fewer than two speakers are left."""
    indices = usual_indices(corpus, corpus.indices(split="train", speaker_split="train"))
    names = sorted(corpus.by_speaker(indices))
    wanted = {"all": names, "odd": names[1::2], "even": names[0::2]}[speakers]
    if len(wanted) < 2:
        raise TrainingFailed("The speaker encoder needs at least two speakers. Extend the corpus first.")
    gathered = some_of_each(corpus, indices, most, random)
    return {name: gathered[name] for name in wanted}


def _median_f0_hz(corpus: Corpus, name: str) -> float:
    return next(speaker.median_f0_hz for speaker in corpus.speakers if speaker.name == name)


@dataclass(frozen=True, slots=True, eq=False)
class _Validation:
    """Return utterances of speakers that are not in the training set, including strangers."""

    banks: list[torch.Tensor]
    speakers: npt.NDArray[np.int64]
    pitches_hz: npt.NDArray[np.float64]

    @classmethod
    def of(cls, corpus: Corpus, most: int) -> _Validation:
        unseen = [corpus.indices(speaker_split=split) for split in ("validation", "stranger")]
        chosen = some_of_each(corpus, usual_indices(corpus, np.concatenate(unseen)), most, np.random.default_rng(0))
        numbered = [(number, index) for number, indices in enumerate(chosen.values()) for index in indices.tolist()]
        return cls(
            banks=[torch.from_numpy(filter_bank_of(corpus, index))[None] for _, index in numbered],
            speakers=np.array([number for number, _ in numbered]),
            pitches_hz=np.array([corpus.entry(index).speaker.median_f0_hz for _, index in numbered]),
        )

    def measure(self, network: SpeakerNetwork, tasks: SpeakerTasks) -> dict[str, float]:
        device = tasks.directions.device
        embeddings = torch.cat([network(bank.to(device)) for bank in self.banks])
        heard_hz = tasks.log_pitch(embeddings).exp().cpu().numpy()
        directions = F.normalize(embeddings, dim=1).cpu().numpy()
        return {
            "equal_error_rate": equal_error_rate(directions, self.speakers),
            "nearest_is_same": nearest_is_same(directions, self.speakers),
            "pitch_error": float(np.median(np.abs(heard_hz / self.pitches_hz - 1.0))),
        }


def equal_error_rate(directions: npt.NDArray[np.float32], speakers: npt.NDArray[np.int64]) -> float:
    """Return the equal error rate over all pairs of ``directions`` (n, 192)."""
    one, other = np.triu_indices(len(directions), k=1)
    cosines = np.einsum("ij,ij->i", directions[one], directions[other])
    is_same = speakers[one] == speakers[other]
    order = np.argsort(cosines)
    # With the threshold above the n-th cosine, equal speakers below it are rejected and different speakers above it
    # accepted.
    refused = np.cumsum(is_same[order]) / max(1, is_same.sum())
    taken_in = 1.0 - np.cumsum(~is_same[order]) / max(1, (~is_same).sum())
    at = int(np.argmin(np.abs(refused - taken_in)))
    return float((refused[at] + taken_in[at]) / 2)


def nearest_is_same(directions: npt.NDArray[np.float32], speakers: npt.NDArray[np.int64]) -> float:
    """Return the share of utterances whose nearest neighbour has the same speaker."""
    cosines = directions @ directions.T
    np.fill_diagonal(cosines, -np.inf)
    return float((speakers[cosines.argmax(axis=1)] == speakers).mean())
