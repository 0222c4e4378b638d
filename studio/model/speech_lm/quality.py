"""Is a reduced precision good enough? Measured on the very weights that will speak.

Both models are given the same input and the same tokens (teacher forcing), the tokens being those the
tested model chose itself, as it will when it speaks. Compared are the distributions of each next token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from studio.model.config import Precision, SpeechLMConfig
from studio.model.speech_lm.network import SpeechLMNetwork
from studio.model.speech_lm.sampling import RepetitionAwareSampler
from studio.model.speech_lm.torch_lm import TorchSpeechLM
from studio.model.stages import SpeechTokenRequest, TokenSampler

# Relative error of the centred scores. float32 must agree with the plain forward pass to 1e-4. The others: measured on
# random weights of full size
# (float16 0.0014, bfloat16 0.013, int8 0.040; up to half as much again on small ones), and a margin.
_ERROR_LIMITS = {
    Precision.FLOAT32: 1e-4,
    Precision.FLOAT16: 5e-3,
    Precision.BFLOAT16: 3e-2,
    Precision.INT8: 5e-2,
    Precision.INT4: 5e-2,
}
# What listeners could ever notice depends on the choice of tokens: at this divergence it takes some fifty
# draws before the odds between the two models have moved by a factor of e.
_DIVERGENCE_LIMIT_NATS = 0.02
# One bad step is one wrong sound, which a mean over all steps hides. The distributions of a trained model in
# 4 bits are 0.04 nats apart at worst, in 8 bits 0.001.
_WORST_DIVERGENCE_LIMIT_NATS = 0.2
# Likeliest tokens that are nearly equal change places without being heard: 97 % is seen in 4 bits.
_TOP_AGREEMENT_LIMIT = 0.8


@dataclass(frozen=True, slots=True)
class QualityReport:
    """How far a speech LM's next-token distributions are from the float32 network's, over ``num_tokens`` steps.

    ``relative_error``: of the centred scores, root mean square. ``divergence_nats``: mean Kullback-Leibler
    divergence, ``worst_divergence_nats`` that of the worst step. ``top_agreement``: share of steps with the
    same likeliest token.
    """

    num_tokens: int
    relative_error: float
    divergence_nats: float
    top_agreement: float
    worst_divergence_nats: float

    def is_good_enough(self, precision: Precision) -> bool:
        """False also where something was not a number."""
        return (
            self.relative_error <= _ERROR_LIMITS[precision]
            and self.divergence_nats <= _DIVERGENCE_LIMIT_NATS
            and self.worst_divergence_nats <= _WORST_DIVERGENCE_LIMIT_NATS
            and self.top_agreement >= _TOP_AGREEMENT_LIMIT
        )


def compare_with_reference(
    speech_lm: TorchSpeechLM,
    network: SpeechLMNetwork,
    *,
    requests: Sequence[SpeechTokenRequest] = (),
    num_tokens: int = 32,
) -> QualityReport:
    """Compare ``speech_lm`` with the float32 ``network`` of the same file (``open_network``).

    ``requests`` are sentences to try, each for ``num_tokens`` steps; without any, an arbitrary sequence of
    tokens serves.
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
    speech_lm: TorchSpeechLM, network: SpeechLMNetwork, request: SpeechTokenRequest
) -> tuple[torch.Tensor, torch.Tensor]:
    """The scores of each step (steps, tokens): those of ``network``, and those of ``speech_lm``."""
    sampler = _RecordingSampler(RepetitionAwareSampler(speech_lm.sampling, seed=0))
    tokens = list(speech_lm.generate(request, sampler))
    inputs = network.inputs
    with torch.inference_mode():
        embeddings = torch.cat((inputs.embed_request(request), inputs.embed_speech(tokens[:-1])))
        wanted = network.logits(network(embeddings[None])[0, -len(tokens) :])
    return wanted.double(), torch.stack(sampler.scores)


def random_request(config: SpeechLMConfig) -> SpeechTokenRequest:
    """A request of random tokens, the same every time: for trying out, warming up and measuring."""
    generator = torch.Generator().manual_seed(0)

    def draw(count: int, limit: int) -> tuple[int, ...]:
        return tuple(torch.randint(limit, (count,), generator=generator).tolist())

    return SpeechTokenRequest(
        text_tokens=draw(12, config.backbone.vocabulary_size),
        prompt_text_tokens=draw(8, config.backbone.vocabulary_size),
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
