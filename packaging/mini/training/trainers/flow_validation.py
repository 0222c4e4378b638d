"""Validation of the flow: its loss with fixed noise, and generated mels of unseen sentences compared with true ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from studio.model.config import FlowConfig
from studio.model.flow import CachedFlowDecoder
from studio.model.flow.network import build_network
from studio.model.stages import FlowPrompt
from training.corpus.store import Corpus
from training.corpus.utterance import FloatArray
from training.trainers.flow_batches import FlowBatch, FlowPieces
from training.trainers.flow_loss import FlowDraw, flow_loss
from training.trainers.flow_network import LearningFlow
from training.trainers.speaker_embeddings import SpeakerEmbeddings
from training.trainers.spectrogram_picture import write_spectrograms

_BATCHES = 6
_ROWS = 8
_TOKENS = 125
_MAX_PROMPT_TOKENS = 150
_MAX_TARGET_TOKENS = 150
_PICTURES = 6


class _Target(NamedTuple):
    """A sentence in the voice of a prompt, and the synthesizer's rendering of it."""

    prompt: FlowPrompt
    tokens: tuple[int, ...]
    mel: FloatArray
    is_known_speaker: bool


@dataclass(frozen=True, slots=True, eq=False)
class FlowValidation:
    """The samples are fixed for a corpus, so that runs can be compared."""

    batches: list[FlowBatch]
    targets: list[_Target]
    config: FlowConfig
    picture: Path

    @classmethod
    def of(
        cls, corpus: Corpus, embeddings: SpeakerEmbeddings, config: FlowConfig, picture: Path, *, num_targets: int
    ) -> FlowValidation:
        """Return unseen sentences: half of them by training speakers, half by others, including the unseen speaker."""
        unseen_texts = np.concatenate([corpus.indices(split=split) for split in ("validation", "test")])
        is_known = np.array([corpus.entry(index).speaker.split == "train" for index in unseen_texts.tolist()], bool)
        random = np.random.default_rng(0)
        pieces = FlowPieces.of(corpus, unseen_texts, embeddings)
        groups = ((unseen_texts[is_known], True), (unseen_texts[~is_known], False))
        targets = [
            target
            for indices, is_known_speaker in groups
            for target in _targets(
                corpus, indices, embeddings, random, most=num_targets // 2, is_known_speaker=is_known_speaker
            )
        ]
        batches = [pieces.batch(_ROWS, _TOKENS, random) for _ in range(_BATCHES)]
        return cls(batches, targets, config, picture)

    def measure(self, network: LearningFlow) -> dict[str, float]:
        """Return the validation values. ``loss`` is with the streaming mask, ``whole_loss`` without it. ``known`` and
        ``unknown`` are mean distances in nats between generated and true mels, for training speakers and for others;
        ``whole_distance`` is without the streaming mask. ``sharpness`` is the contrast between neighbouring bands
        relative to the true mels.
        """
        device = next(network.parameters()).device
        values = {
            "loss": self._loss(network, device, self.config.chunk_tokens * self.config.frames_per_token),
            "whole_loss": self._loss(network, device, None),
        }
        decoder = shipped_decoder(network, self.config)
        streamed = [self._streamed(decoder, target) for target in self.targets]
        distances = np.array([_distance(mel, each.mel) for mel, each in zip(streamed, self.targets, strict=True)])
        is_known = np.array([target.is_known_speaker for target in self.targets], bool)
        for name, chosen in (("known", is_known), ("unknown", ~is_known)):
            if chosen.any():
                values[name] = float(distances[chosen].mean())
        values["sharpness"] = float(
            np.mean([_contrast(mel) / _contrast(each.mel) for mel, each in zip(streamed, self.targets, strict=True)])
        )
        whole = [decoder.decode_whole(each.prompt, each.tokens).t().cpu().numpy() for each in self.targets[::4]]
        values["whole_distance"] = float(
            np.mean([_distance(mel, each.mel) for mel, each in zip(whole, self.targets[::4], strict=True)])
        )
        shown = list(range(len(self.targets)))[:: max(1, len(self.targets) // _PICTURES)]
        write_spectrograms(self.picture, [[streamed[number], self.targets[number].mel] for number in shown])
        return values

    def _loss(self, network: LearningFlow, device: torch.device, chunk_frames: int | None) -> float:
        generator = torch.Generator().manual_seed(0)
        losses = []
        for batch in self.batches:
            there = batch.to(device)
            losses.append(flow_loss(network, there, FlowDraw.of(there, 0.0, generator), chunk_frames=chunk_frames))
        return float(torch.stack(losses).mean())

    @staticmethod
    def _streamed(decoder: CachedFlowDecoder, target: _Target) -> FloatArray:
        stream = decoder.open_stream(decoder.prepare_prompt(target.prompt))
        mel: FloatArray = stream.decode(target.tokens, ()).t().cpu().numpy()
        stream.close()
        return mel


def shipped_decoder(network: LearningFlow, config: FlowConfig) -> CachedFlowDecoder:
    """Return the program's decoder with a copy of the current weights."""
    own = build_network(config)
    own.load_state_dict(network.official_tensors())
    return CachedFlowDecoder(own.to(next(network.parameters()).device).requires_grad_(False).eval(), config)


def _targets(
    corpus: Corpus,
    indices: npt.NDArray[np.int64],
    embeddings: SpeakerEmbeddings,
    random: np.random.Generator,
    *,
    most: int,
    is_known_speaker: bool,
) -> list[_Target]:
    """Return up to one utterance of each speaker, with another utterance of that speaker as the prompt."""
    targets: list[_Target] = []
    by_speaker = {name: numbers for name, numbers in corpus.by_speaker(indices).items() if name in embeddings.indices}
    for name in random.permutation(sorted(by_speaker)).tolist()[:most]:
        index = int(random.choice(by_speaker[name]))
        prompts = embeddings.indices[name]
        prompt = int(random.choice(prompts[prompts != index] if len(prompts) > 1 else prompts))
        targets.append(
            _Target(
                prompt=FlowPrompt(
                    speech_tokens=tuple(corpus.heard_tokens(prompt, num_tokens=_MAX_PROMPT_TOKENS).tolist()),
                    mel=corpus.mel(prompt, num_tokens=_MAX_PROMPT_TOKENS),
                    embedding=embeddings.of_index[prompt],
                ),
                tokens=tuple(corpus.tokens(index, num_tokens=_MAX_TARGET_TOKENS).tolist()),
                mel=corpus.mel(index, num_tokens=_MAX_TARGET_TOKENS),
                is_known_speaker=is_known_speaker,
            )
        )
    return targets


def _distance(mel: FloatArray, true_mel: FloatArray) -> float:
    return float(np.abs(mel - true_mel).mean())


def _contrast(mel: FloatArray) -> float:
    return float(np.abs(np.diff(mel, axis=1)).mean())
