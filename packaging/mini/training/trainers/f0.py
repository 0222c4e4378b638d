"""Training of the vocoder's pitch predictor alone: mel to the F0 in hertz that praat measured.

It cannot be trained together with the vocoder, because no gradient passes through the phase. Its output is the absolute
value of a linear layer in hertz, and frames below 10 Hz count as unvoiced (specification G3, G4). Therefore the loss is
the distance on a scale that is linear up to about 20 Hz and logarithmic above. Its optimum is the median of the likely
values, and a voicing error costs more than a pitch error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from studio.model.vocoder.layers import History
from studio.model.vocoder.network import CausalF0Predictor
from training.corpus.store import Corpus
from training.corpus.utterance import MEL_BINS, FloatArray
from training.trainers.crops import CropReader, Crops, open_corpus, training_indices
from training.trainers.loop import Trainer, begin
from training.trainers.options import TrainingOptions
from training.trainers.vocoder_sizes import FLOOR_LOG_MEL
from training.trainers.vocoder_start import expect_usual_mel

VOICED_THRESHOLD_HZ = 10.0
_LINEAR_UP_TO_HZ = 20.0
_GROSS = 0.2
_VALIDATION_CROPS = 160


@dataclass(frozen=True, slots=True)
class F0Settings:
    channels: int = 128
    batch: int = 8
    frames: int = 64
    rate: float = 2e-3


def train(options: TrainingOptions) -> dict[str, float]:
    """Train, and return the validation values: shares of gross and voicing errors, and the other errors in cents."""
    settings = options.with_settings(F0Settings())
    begin(options)
    corpus = open_corpus(options)
    train_crops = CropReader(corpus, training_indices(corpus), settings.frames, disturb=disturb)
    validation = _validation_crops(corpus, settings)
    predictor = new_predictor(settings.channels).to(options.device)
    optimizer = torch.optim.AdamW(
        [
            {"params": predictor.condnet.parameters(), "lr": settings.rate},
            # Its weights are tens of hertz, while those of other layers are tenths.
            {"params": predictor.classifier.parameters(), "lr": 30.0 * settings.rate},
        ],
        betas=(0.9, 0.98),
        weight_decay=0.0,
    )
    trainer = Trainer(
        "f0",
        options,
        networks={"f0": predictor},
        optimizers={"f0": optimizer},
        averaged=("f0",),
        facts={"channels": settings.channels},
        cool_down_share=0.6,
        validate=lambda: pitch_errors(predictor, validation.to(trainer.device)),
        minutes_between_validations=2.0,
    )
    for _ in trainer.steps():
        crops = train_crops.draw(trainer.random, settings.batch).to(trainer.device)
        loss = pitch_distance(predict(predictor, crops.mel), crops.f0_hz)
        trainer.descend(loss, "f0", largest_gradient=1.0)
        trainer.note(loss=loss, heard_seconds=crops.seconds)
    return trainer.finish()


def new_predictor(channels: int) -> CausalF0Predictor:
    predictor = CausalF0Predictor(MEL_BINS, channels)
    first = predictor.condnet[0]
    assert isinstance(first, torch.nn.Conv1d)
    expect_usual_mel(first)
    with torch.no_grad():
        predictor.classifier.weight.mul_(100.0)
        predictor.classifier.bias.fill_(80.0)
    return predictor


def predict(predictor: CausalF0Predictor, mel: torch.Tensor) -> torch.Tensor:
    """Return F0 in hertz (batch, frames + 1) of mel (batch, bins, frames + 4), for all frames with look-ahead."""
    history = History()
    history.begin_chunk(is_last=False)
    return predictor.continue_from(mel, history)


def pitch_distance(predicted_hz: torch.Tensor, true_hz: torch.Tensor) -> torch.Tensor:
    return (_on_scale(predicted_hz) - _on_scale(true_hz)).abs().mean()


def _on_scale(hertz: torch.Tensor) -> torch.Tensor:
    return (1.0 + hertz / _LINEAR_UP_TO_HZ).log()


def pitch_errors(predictor: CausalF0Predictor, crops: Crops) -> dict[str, float]:
    return errors_between(predict(predictor, crops.mel), crops.f0_hz)


def errors_between(predicted_hz: torch.Tensor, true_hz: torch.Tensor) -> dict[str, float]:
    """``gross``: the share of frames voiced in both that are off by more than a fifth; ``voicing``: the share of
    all frames voiced in one only; ``cents``: the mean error of those that are not gross."""
    is_voiced, sounds_voiced = true_hz > VOICED_THRESHOLD_HZ, predicted_hz > VOICED_THRESHOLD_HZ
    both = is_voiced & sounds_voiced
    ratio = predicted_hz[both] / true_hz[both]
    is_gross = (ratio - 1.0).abs() > _GROSS
    fine = ratio[~is_gross]
    return {
        "gross": float(is_gross.float().mean()) if len(ratio) else 0.0,
        "voicing": float((is_voiced != sounds_voiced).float().mean()),
        "cents": float(1200.0 * fine.log2().abs().mean()) if len(fine) else 0.0,
    }


def disturb(mel: FloatArray, random: np.random.Generator) -> FloatArray:
    """Vary the level and usually add noise, because the flow's mels are noisy and low voices must stay low."""
    gain = random.uniform(-2.0, 1.0)
    noise = random.choice((0.0, 0.15, 0.3, 0.5)) * random.standard_normal(mel.shape)
    disturbed: FloatArray = np.maximum(mel + gain + noise, FLOOR_LOG_MEL).astype(np.float32)
    return disturbed


def _validation_crops(corpus: Corpus, settings: F0Settings) -> Crops:
    reader = CropReader(corpus, corpus.indices(split="validation"), settings.frames)
    return reader.draw(np.random.default_rng(0), _VALIDATION_CROPS)
