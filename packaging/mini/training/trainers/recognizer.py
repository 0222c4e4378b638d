"""Training of the recogniser that checks takes of the bundled model.

It learns from the corpus and from takes of the model (``train.py takes``), and writes ``recognizer.onnx`` next to its
checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from measurements.planted_faults import sentences
from studio.audio.waveform import Waveform
from studio.voices.features import WHISPER_SAMPLE_RATE, whisper_log_mel
from training.corpus.store import Corpus
from training.corpus.utterance import SAMPLE_RATE, CorpusFailed
from training.trainers.checkpoints import load_facts, load_weights
from training.trainers.loop import Trainer, begin
from training.trainers.optimizers import adam_and_muon
from training.trainers.options import TAKES_FOLDER, TrainingFailed, TrainingOptions
from training.trainers.recognizer_batches import RecognizerLines
from training.trainers.recognizer_network import RecognizerNetwork
from training.trainers.recognizer_onnx import write_recognizer_onnx

STAGE = "recognizer"
# Sentences with which the checks are measured.
_EXCLUDED = (*sentences.TUNING, *sentences.TUNING_SPECIAL, *sentences.MEASURING, *sentences.MEASURING_SPECIAL)


@dataclass(frozen=True, slots=True)
class Settings:
    width: int = 256
    num_blocks: int = 6
    front_width: int = 160
    piece_tokens: int = 75
    batch: int = 16
    takes_share: float = 0.6
    matrix_rate: float = 0.02
    adam_rate: float = 0.002
    weight_decay: float = 0.05
    cool_down_share: float = 0.4
    bfloat16: bool = True
    num_clips: int = 30  # validation clips of each kind


def train(options: TrainingOptions) -> dict[str, float]:
    """Raise ``TrainingFailed``."""
    settings = options.with_settings(Settings())
    begin(options)
    corpora = _corpora(options.corpus)
    shares = [1.0 - settings.takes_share, settings.takes_share][: len(corpora)]
    lines = RecognizerLines(list(zip(corpora, shares, strict=True)), excluded=_EXCLUDED)
    if not len(lines):
        raise TrainingFailed("The corpus contains no training lines yet. Extend it first.")
    facts = {"width": settings.width, "num_blocks": settings.num_blocks, "front_width": settings.front_width}
    network = RecognizerNetwork(**facts).to(options.device)
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
        networks={STAGE: network},
        optimizers=optimizers,
        averaged=(STAGE,),
        average_decay=0.998,
        facts=facts,
        cool_down_share=settings.cool_down_share,
        validate=_validation(network, lines, corpora, settings.num_clips),
        minutes_between_validations=5.0,
    )
    for _ in trainer.steps():
        batch = lines.draw(trainer.random, settings.batch, settings.piece_tokens)
        with torch.autocast(trainer.device.type, torch.bfloat16, enabled=settings.bfloat16):
            scores = network(batch.log_mel.to(trainer.device), batch.lengths.to(trainer.device))
        phones = batch.phones.to(trainer.device)
        is_known = phones >= 0
        # The mean of a batch without known phones would not be a number.
        loss = F.cross_entropy(scores.float().flatten(0, 1), phones.flatten(), reduction="sum")
        loss = loss / is_known.sum().clamp(min=1)
        trainer.descend(loss, *optimizers, largest_gradient=1.0)
        trainer.note(
            heard_seconds=batch.seconds,
            loss=loss,
            accuracy=((scores.argmax(dim=-1) == phones) & is_known).sum() / is_known.sum().clamp(min=1),
        )
    values = trainer.finish()
    export(trainer.checkpoint_path, trainer.checkpoint_path.with_suffix(".onnx"))
    return values


def load_network(checkpoint: Path) -> RecognizerNetwork:
    """Return the trained network with averaged weights. Raise ``TrainingFailed`` without a checkpoint."""
    network = RecognizerNetwork(**{name: int(value) for name, value in load_facts(checkpoint).items()})
    network.load_state_dict(load_weights(checkpoint, STAGE))
    return network.eval()


def export(checkpoint: Path, path: Path) -> None:
    """Write ``recognizer.onnx`` of a checkpoint. Raise ``TrainingFailed`` without one."""
    write_recognizer_onnx(load_network(checkpoint), path)


def _corpora(folder: Path) -> list[Corpus]:
    """Return the corpus, and the takes beside it if there are any."""
    corpora = [Corpus.open(folder)]
    with suppress(CorpusFailed):
        corpora.append(Corpus.open(folder.parent / TAKES_FOLDER))
    return corpora


def _validation(
    network: RecognizerNetwork, lines: RecognizerLines, corpora: Sequence[Corpus], num_clips: int
) -> Callable[[], dict[str, float]]:
    """Return a validation with whole utterances of new texts: speech in unseen timbres, and takes of the model."""
    random = np.random.default_rng(1)
    kinds = {"speech": (0, corpora[0].indices(split="validation", speaker_split="validation"))}
    if len(corpora) > 1:
        kinds["takes"] = (1, corpora[1].indices(split="validation"))
    clips = {name: (number, random.permutation(each)[:num_clips]) for name, (number, each) in kinds.items()}

    def validate() -> dict[str, float]:
        values: dict[str, float] = {}
        device = network.norm.device
        for name, (number, indices) in clips.items():
            right = count = 0
            for index in indices.tolist():
                samples, phones = lines.whole(number, index)
                heard = Waveform(samples, SAMPLE_RATE).resampled(WHISPER_SAMPLE_RATE)
                log_mel = torch.from_numpy(whisper_log_mel(heard))[None].to(device)
                scores = network(log_mel, torch.tensor([log_mel.shape[2]], device=device))
                found = scores[0, : len(phones)].argmax(dim=-1).cpu().numpy()
                right += int((found == phones)[phones >= 0].sum())
                count += int((phones >= 0).sum())
            values[f"{name}_accuracy"] = right / max(1, count)
        return values

    return validate
