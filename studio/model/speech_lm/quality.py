"""Quality of a reduced precision, measured on the actual weights.

Both models process the same input and the tokens sampled by the tested model (teacher forcing). The two
distributions of each next token are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch

from studio.model.config import AnySpeechLMConfig, Precision
from studio.model.limits import LIMITS, MIN_TOP_AGREEMENT
from studio.model.speech_lm.torch_lm import CachedSpeechLM, RepetitionAwareSampler
from studio.model.stages import SpeechTokenRequest, TokenSampler


class ScoringNetwork(Protocol):
    """A plain network: ``SpeechLMNetwork`` or ``TransformerLMNetwork``."""

    def scores(self, request: SpeechTokenRequest, tokens: Sequence[int]) -> torch.Tensor: ...


@dataclass(frozen=True, slots=True)
class QualityReport:
    """Difference between the next-token distributions of a speech LM and of the float32 network."""

    num_tokens: int  # number of compared steps
    relative_error: float  # root mean square error of the centred scores
    divergence_nats: float  # mean Kullback-Leibler divergence
    top_agreement: float  # share of steps with the same most likely token
    worst_divergence_nats: float  # Kullback-Leibler divergence of the worst step

    def is_good_enough(self, precision: Precision) -> bool:
        """Return whether all values are within their limits. NaN is not."""
        limits = LIMITS[precision]
        return (
            self.relative_error <= limits.score_error
            and self.divergence_nats <= limits.divergence_nats
            and self.worst_divergence_nats <= limits.worst_divergence_nats
            and self.top_agreement >= MIN_TOP_AGREEMENT
        )


def compare_with_reference(
    speech_lm: CachedSpeechLM[Any],
    network: ScoringNetwork,
    *,
    requests: Sequence[SpeechTokenRequest] = (),
    num_tokens: int = 32,
) -> QualityReport:
    """Compare ``speech_lm`` with the float32 ``network`` of the same file (``open_network``).

    ``num_tokens`` are generated for each of ``requests``. The default is one random request.
    """
    wanted, tested = zip(
        *(
            _scores(speech_lm, network, replace(request, min_tokens=num_tokens, max_tokens=num_tokens))
            for request in requests or (random_request(speech_lm.config),)
        ),
        strict=True,
    )
    return _report(torch.cat(wanted), torch.cat(tested))


def _scores(
    speech_lm: CachedSpeechLM[Any], network: ScoringNetwork, request: SpeechTokenRequest
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the scores of each step (steps, tokens) of ``network`` and of ``speech_lm``."""
    sampler = _RecordingSampler(RepetitionAwareSampler(speech_lm.sampling, seed=0))
    tokens = list(speech_lm.generate(request, sampler))
    with torch.inference_mode():
        wanted = network.scores(request, tokens)
    return wanted.double(), torch.stack(sampler.scores)


def random_request(config: AnySpeechLMConfig) -> SpeechTokenRequest:
    """Return a fixed request of random tokens, for tests, warm-up and benchmarks."""
    generator = torch.Generator().manual_seed(0)

    def draw(count: int, limit: int) -> tuple[int, ...]:
        return tuple(torch.randint(limit, (count,), generator=generator).tolist())

    return SpeechTokenRequest(
        text_tokens=draw(12, config.vocabulary_size),
        prompt_text_tokens=draw(8, config.vocabulary_size),
        prompt_speech_tokens=draw(25, config.layout.num_speech_tokens),
    )


class _RecordingSampler:
    def __init__(self, sampler: TokenSampler) -> None:
        self._sampler = sampler
        self.scores: list[torch.Tensor] = []

    def __call__(self, logits: torch.Tensor, history: Sequence[int], *, forbid: slice | None) -> int:
        self.scores.append(logits.cpu().double())
        return self._sampler(logits, history, forbid=forbid)


def _report(wanted: torch.Tensor, tested: torch.Tensor) -> QualityReport:
    centred_wanted = wanted - wanted.mean(dim=1, keepdim=True)
    centred_tested = tested - tested.mean(dim=1, keepdim=True)
    log_wanted, log_tested = wanted.log_softmax(dim=1), tested.log_softmax(dim=1)
    divergences = (log_wanted.exp() * (log_wanted - log_tested)).sum(dim=1)
    return QualityReport(
        num_tokens=len(wanted),
        relative_error=float((centred_tested - centred_wanted).norm() / centred_wanted.norm()),
        divergence_nats=float(divergences.mean()),
        top_agreement=float((wanted.argmax(dim=1) == tested.argmax(dim=1)).double().mean()),
        worst_divergence_nats=float(divergences.max()),
    )
