"""Training of the vocoder with true mels: first with spectral distances, then also with discriminators.

The pitch predictor (``f0.py``) is taken from its own checkpoint, and frozen. In part of each batch, the source has the
true phase, and the output is compared with the true waveform (``phase_teaching``). In the rest it has the cumulative
sum of the predicted pitch, as at inference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from studio.model.vocoder.layers import History, Snake, as_image_weight, convolve_as_image
from studio.model.vocoder.network import CausalHiFT, UniformTable
from studio.model.weights import fold_weight_norm, read_tensors
from training.corpus.store import Corpus
from training.corpus.utterance import SAMPLE_RATE, FloatArray
from training.corpus.utterance import SAMPLES_PER_HALF_FRAME as SAMPLES_PER_FRAME
from training.trainers.bfloat16 import prefers_bfloat16
from training.trainers.checkpoints import load_facts, load_weights
from training.trainers.crops import CropReader, Crops, open_corpus, training_indices
from training.trainers.discriminator import Discriminator, deceiving_loss, feature_distance, judging_loss
from training.trainers.f0 import VOICED_THRESHOLD_HZ, predict
from training.trainers.flow_mels import FLOW_MELS_FOLDER, FlowMels
from training.trainers.loop import Trainer, begin
from training.trainers.options import TrainingOptions
from training.trainers.phase_teaching import PhaseTrack, SineHeads, harmonic_phases, measured_track, predicted_track
from training.trainers.spectral_loss import SpectralDistance
from training.trainers.vocoder_envelope import begin_with_envelope, fit_envelope, num_components
from training.trainers.vocoder_sizes import vocoder_config
from training.trainers.vocoder_start import start

_NOISE_SECONDS = 30
_VALIDATION_CROPS = 24
_FITTED_CROPS = 400
_VALIDATION_FRAMES = 80
_MIN_SNAKE = 0.1
_SHARE_OF_RATE_AT_MEL = 0.1
_F0 = "f0_predictor."


@dataclass(frozen=True, slots=True)
class VocoderSettings:
    """``adversarial_from`` is the share of this run after which discriminators are used: 0 at once, 1 never.

    ``taught_share`` of a batch has the true phase. ``speckled_share`` of the mels have noise like a flow's mels, so
    that such noise does not become audible.
    """

    base_channels: int = 256
    batch: int = 4
    frames: int = 32
    rate: float = 5e-4
    taught_share: float = 0.6
    wave_weight: float = 0.1  # a larger weight would teach silence while the phase is unknown
    sine_weight: float = 0.5
    adversarial_from: float = 0.6
    adversarial_frames: int = 20
    judge_channels: int = 16
    judge_rate: float = 5e-4
    deceiving_weight: float = 0.3
    feature_weight: float = 1.5
    speckled_share: float = 0.6
    most_speckle: float = 0.5  # standard deviation in nats
    flow_share: float = 0.0  # share of crops whose mel is of the flow (train.py flow_mels)
    bfloat16: bool = True  # convolutions of residual blocks and discriminators, where it is faster
    begin_with: str = ""  # name of a vocoder that this one continues, or path of the hift.pt of a model


def train(options: TrainingOptions) -> dict[str, float]:
    """The validation values: distances of audio generated with the predicted pitch."""
    settings = options.with_settings(VocoderSettings())
    begin(options)
    lesson = VocoderLesson(options, settings)
    trainer = Trainer(
        "vocoder",
        options,
        networks={"vocoder": lesson.network, "sine_heads": lesson.sine_heads, "judges": lesson.judges},
        optimizers={
            "vocoder": torch.optim.AdamW(lesson.learning_parameters(settings.rate), betas=(0.8, 0.98), fused=True),
            "judges": torch.optim.AdamW(
                lesson.judges.parameters(), lr=settings.judge_rate, betas=(0.8, 0.98), fused=True
            ),
        },
        averaged=("vocoder",),
        facts={
            "base_channels": settings.base_channels,
            "f0_channels": lesson.network.config.f0_channels,
            "judge_channels": settings.judge_channels,
        },
        warm_up_steps=200,
        cool_down_share=0.6,
        validate=lesson.validate,
    )
    if settings.begin_with and not trainer.step:
        if settings.begin_with.endswith(".pt"):
            lesson.continue_published(Path(settings.begin_with), trainer)
        else:
            lesson.continue_from(options.work / f"{settings.begin_with}.pt", trainer)
    lesson.use_newest_pitch_predictor(trainer)
    for _ in trainer.steps():
        lesson.take(trainer)
    return trainer.finish()


class ImageConvolution(nn.Conv1d):
    """A convolution in bfloat16, as of an image with channels last, whose weights and output are floats.

    A step forward and backward takes 0.39 times the time of floats on a processor with AMX (nine sizes).
    """

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        bias = None if self.bias is None else self.bias.to(torch.bfloat16)
        return convolve_as_image(columns, as_image_weight(self.weight, torch.bfloat16), bias, self.dilation)

    @classmethod
    def replace(cls, network: CausalHiFT) -> None:
        """Let the residual blocks of ``network`` convolve so. Names and weights stay."""
        for block in (*network.resblocks, *network.source_resblocks):
            for convolution in (*block.convs1, *block.convs2):
                convolution.__class__ = cls


class VocoderLesson:
    """The network, its losses and discriminators; ``take`` performs one step."""

    def __init__(self, options: TrainingOptions, settings: VocoderSettings) -> None:
        self.settings = settings
        self.device = torch.device(options.device)
        self._work = options.work
        self._f0_path = options.work / "f0.pt"
        f0_channels = int(load_facts(self._f0_path)["channels"])
        config = vocoder_config(base_channels=settings.base_channels, f0_channels=f0_channels)
        self.network = CausalHiFT(config)
        start(self.network, torch.Generator().manual_seed(options.seed))
        self.network.to(self.device)
        bfloat16 = settings.bfloat16 and self.device.type == "cpu" and prefers_bfloat16(self.device)
        if bfloat16:
            ImageConvolution.replace(self.network)
        self.network.f0_predictor.requires_grad_(False)
        self._snakes = [each.alpha for each in self.network.modules() if isinstance(each, Snake)]
        self.sine_heads = SineHeads(self.network, first_channel=num_components(self.network)).to(self.device)
        self.judges = Discriminator(settings.judge_channels, bfloat16=bfloat16).to(self.device)
        self._distance = SpectralDistance().to(self.device)
        self._noise = UniformTable(config).columns(0, _NOISE_SECONDS * SAMPLE_RATE).to(self.device)
        corpus = open_corpus(options)
        self._readers = self._make_readers(corpus)
        fitted = self._readers[0][1].draw(np.random.default_rng(options.seed), _FITTED_CROPS)
        begin_with_envelope(self.network, fit_envelope(fitted, self.network))
        held_out = CropReader(corpus, corpus.indices(split="validation"), _VALIDATION_FRAMES)
        self._held_out = held_out.draw(np.random.default_rng(0), _VALIDATION_CROPS).to(self.device)

    def _make_readers(self, corpus: Corpus) -> list[tuple[float, CropReader]]:
        share, frames = self.settings.flow_share, self.settings.frames
        own = CropReader(corpus, training_indices(corpus), frames, disturb=self._speckle)
        if not share:
            return [(1.0, own)]
        mels = FlowMels(corpus, self._work / FLOW_MELS_FOLDER)
        return [(1.0 - share, own), (share, CropReader(corpus, mels.indices, frames, mels=mels))]

    def _speckle(self, mel: FloatArray, random: np.random.Generator) -> FloatArray:
        if random.random() >= self.settings.speckled_share:
            return mel
        noise = self.settings.most_speckle * random.random() * random.standard_normal(mel.shape)
        return (mel + noise).astype(np.float32)

    def learning_parameters(self, rate: float) -> list[dict[str, object]]:
        """Return parameter groups for an optimizer.

        The input of the first layer, log-mels, is far from zero, so that layer gets a smaller rate.
        """
        own = {name: each for name, each in self.network.named_parameters() if not name.startswith(_F0)}
        first = [own.pop(name) for name in ("conv_pre.weight", "conv_pre.bias")]
        return [
            {"params": [*own.values(), *self.sine_heads.parameters()], "lr": rate},
            {"params": first, "lr": _SHARE_OF_RATE_AT_MEL * rate},
        ]

    def continue_from(self, path: Path, trainer: Trainer) -> None:
        """Load all networks of another checkpoint. Raise ``TrainingFailed`` if it does not exist."""
        self.network.load_state_dict(load_weights(path, "vocoder"))
        self.sine_heads.load_state_dict(load_weights(path, "sine_heads"))
        self.judges.load_state_dict(load_weights(path, "judges"))
        trainer.averages["vocoder"].load(self.network.state_dict(), 0)

    def continue_published(self, path: Path, trainer: Trainer) -> None:
        """Load the network of a ``hift.pt`` of the same sizes, which contains neither sine heads nor discriminators.

        Raise ``MissingModelFile``, and ``RuntimeError`` for other sizes.
        """
        self.network.load_state_dict(fold_weight_norm(read_tensors(path), file_name=path.name))
        trainer.averages["vocoder"].load(self.network.state_dict(), 0)

    def use_newest_pitch_predictor(self, trainer: Trainer) -> None:
        """Load the pitch predictor of ``f0.pt`` into the network and its average."""
        weights = load_weights(self._f0_path, "f0")
        self.network.f0_predictor.load_state_dict(weights)
        for name, tensor in weights.items():
            trainer.averages["vocoder"].tensors[_F0 + name].copy_(tensor)

    def take(self, trainer: Trainer) -> None:
        settings, distance = self.settings, self._distance
        crops = self._draw(trainer).to(self.device)
        is_adversarial = trainer.elapsed_share >= settings.adversarial_from
        made, track, f0_hz, is_taught = self._speak(crops, trainer)
        true = crops.sound[:, : made.shape[-1]]
        sounds_voiced = f0_hz[:, : crops.num_frames] > VOICED_THRESHOLD_HZ
        is_comparable = is_taught & sounds_voiced & (crops.f0_hz[:, :-1] > VOICED_THRESHOLD_HZ)
        losses = {
            "magnitude": distance.magnitudes(made, true),
            "mel": distance.mels(made, true),
            "wave": settings.wave_weight * distance.waves(made, true, is_comparable),
            "sine": settings.sine_weight * self.sine_heads.distance(track, sounds_voiced),
        }
        if is_adversarial:
            losses |= self._adversarial_losses(trainer, made, true)
        loss = torch.stack(list(losses.values())).sum()
        trainer.descend(loss, "vocoder", largest_gradient=1.0)
        self._keep_snakes_alive()
        trainer.note(heard_seconds=crops.seconds, loss=loss, **losses)

    @torch.no_grad()
    def _keep_snakes_alive(self) -> None:
        """Limit the frequencies of Snake activations, which must not be close to zero."""
        for alpha in self._snakes:
            alpha.clamp_(min=_MIN_SNAKE)

    def _draw(self, trainer: Trainer) -> Crops:
        shares = np.array([share for share, _ in self._readers])
        counts = trainer.random.multinomial(self.settings.batch, shares / shares.sum())
        drawn = [
            reader.draw(trainer.random, int(count))
            for (_, reader), count in zip(self._readers, counts, strict=True)
            if count
        ]
        return Crops(*(torch.cat([getattr(each, name) for each in drawn]) for name in ("mel", "f0_hz", "samples")))

    def _speak(self, crops: Crops, trainer: Trainer) -> tuple[torch.Tensor, PhaseTrack, torch.Tensor, torch.Tensor]:
        """Audio, its phase track, the predicted pitch in hertz, and which rows (batch, 1) had the true phase."""
        batch = len(crops.mel)
        with torch.no_grad():
            f0_hz = predict(self.network.f0_predictor, crops.mel)
            draws = torch.rand(3, batch, 1, generator=trainer.generator).to(self.device)
            is_taught = draws[0] < self.settings.taught_share
            of_sum = predicted_track(f0_hz, draws[1] * 2.0 * math.pi)
            of_sound = measured_track(crops, f0_hz)
            track = PhaseTrack(
                torch.where(is_taught, of_sound.start, of_sum.start),
                torch.where(is_taught, of_sound.steps, of_sum.steps),
            )
            num_samples = f0_hz.shape[-1] * SAMPLES_PER_FRAME
            offsets = (draws[2] * (len(self._noise) - num_samples)).long()
            noise = self._noise[offsets + torch.arange(num_samples, device=self.device)]
        return decode(self.network, crops.mel, f0_hz, track, noise), track, f0_hz, is_taught

    def _adversarial_losses(self, trainer: Trainer, made: torch.Tensor, true: torch.Tensor) -> dict[str, torch.Tensor]:
        settings = self.settings
        length = min(settings.adversarial_frames * SAMPLES_PER_FRAME, made.shape[-1])
        begin_at = int(trainer.random.integers(made.shape[-1] - length + 1))
        made, true = (sound[:, begin_at : begin_at + length] for sound in (made, true))
        of_true = self.judges(true)
        judging = judging_loss(of_true, self.judges(made.detach()))
        trainer.descend(judging, "judges", largest_gradient=3.0)
        trainer.note(judging=judging)
        self.judges.requires_grad_(False)
        of_made = self.judges(made)
        self.judges.requires_grad_(True)
        return {
            "deceiving": settings.deceiving_weight * deceiving_loss(of_made),
            "feature": settings.feature_weight * feature_distance(of_true, of_made),
        }

    def validate(self) -> Mapping[str, float]:
        crops = self._held_out
        f0_hz = predict(self.network.f0_predictor, crops.mel)
        track = predicted_track(f0_hz, torch.zeros_like(f0_hz[:, :1]))
        noise = self._noise[: f0_hz.shape[-1] * SAMPLES_PER_FRAME]
        made = decode(self.network, crops.mel, f0_hz, track, noise)
        true = crops.sound[:, : made.shape[-1]]
        return {
            "magnitude": float(self._distance.magnitudes(made, true)),
            "mel": float(self._distance.mels(made, true)),
        }


def decode(
    network: CausalHiFT, mel: torch.Tensor, f0_hz: torch.Tensor, track: PhaseTrack, noise: torch.Tensor
) -> torch.Tensor:
    """Return the audio of ``mel`` except its last four frames, which are look-ahead; the other inputs end a frame
    later.

    Decodes like a first chunk, with the given phase, so the last few samples are not final.
    """
    phases = harmonic_phases(track, network.config.num_harmonics + 1).repeat_interleave(SAMPLES_PER_FRAME, dim=-1)
    history = History()
    history.begin_chunk(is_last=False)
    return network.decode_chunk(mel, network.m_source(f0_hz, phases, noise), history)


def load_trained(work: Path, name: str = "vocoder") -> CausalHiFT:
    """Return the network of ``work``/``name``.pt with averaged weights, including the pitch predictor."""
    path = work / f"{name}.pt"
    facts = load_facts(path)
    config = vocoder_config(base_channels=int(facts["base_channels"]), f0_channels=int(facts["f0_channels"]))
    network = CausalHiFT(config)
    network.load_state_dict(load_weights(path, "vocoder"))
    return network.requires_grad_(False).eval()
