"""CosyVoice-300M's flow with one Euler step of its solver as a graph.

Decision: the encoder and the length regulator stay in torch. Reason: they are a fiftieth of the work and run once,
the step ten times. There are no caches, because no part of an utterance is final before the rest (specification F4).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import onnx
import torch
from torch import nn

from studio.engines.onnx.graph import Graph, GraphDescription
from studio.engines.onnx.tracing import TracedInput, trace
from studio.model.config import FlowConfig, Precision
from studio.model.flow.layers import CausalConvolution, Conditions, Context, Modulation, SelfAttention
from studio.model.flow.model import cond_uncond
from studio.model.flow.non_causal_decoder import NonCausalFlowDecoder, NonCausalFlowModel
from studio.model.flow.non_causal_network import NonCausalFlow
from studio.model.flow.packing import pack

# Size of the traced example. An odd number, so that the frames cut after doubling are part of the graph.
_FRAMES = 11


@dataclass(frozen=True)
class NonCausalFlowShapes(GraphDescription):
    """The sizes of the graph.

    Its inputs are ``x``, ``mean`` and ``prompt_mel`` (frames, mel_bins), ``speaker`` (mel_bins,) and ``step`` (1,); its
    output ``following`` is the next ``x``.
    """

    FILE_NAME = "whole-flow.json"

    mel_bins: int
    num_steps: int

    @classmethod
    def _from_json(cls, fields: dict[str, Any]) -> NonCausalFlowShapes:
        return cls(**fields)


class _AttendToAll(Context):
    """Full attention whose sizes are not constants of the trace."""

    def left_context(self, convolution: CausalConvolution, x: torch.Tensor) -> torch.Tensor:  # noqa: ARG002
        raise AssertionError("this network has no causal convolutions")

    def attend(self, attention: SelfAttention, normed: torch.Tensor) -> torch.Tensor:
        queries = attention.queries(normed, 0) * attention.head_size**-0.5
        keys, values = attention.keys_values(normed, 0)
        return torch.softmax(queries @ keys.transpose(2, 3), dim=-1) @ values


class NonCausalStepGraph(nn.Module):
    """One Euler step with classifier-free guidance; the conditional and unconditional rows form one batch."""

    _modulations: torch.Tensor
    _sizes: torch.Tensor

    def __init__(self, model: NonCausalFlowModel) -> None:
        super().__init__()
        self._estimator = model.network.estimator
        self._guidance_scale = model.config.solver.guidance_scale
        self._parts = [[tensor.shape[-1] for tensor in part] for part in model.modulations[0]]
        rows = [torch.cat([tensor.flatten() for tensor in chain(*of_step)]) for of_step in model.modulations]
        self.register_buffer("_modulations", torch.stack(rows))
        self.register_buffer("_sizes", torch.tensor([step.size for step in model.steps], dtype=model.dtype))

    def forward(
        self,
        x: torch.Tensor,
        mean: torch.Tensor,
        prompt_mel: torch.Tensor,
        speaker: torch.Tensor,
        step: torch.Tensor,
    ) -> torch.Tensor:
        conditions = Conditions(*(cond_uncond(part) for part in (mean, prompt_mel, speaker)))
        modulation = self._modulation(step)
        velocity = self._estimator.velocity(x.expand(2, -1, -1), conditions, modulation, _AttendToAll())
        conditional, unconditional = velocity.unbind(0)
        guided = (1 + self._guidance_scale) * conditional - self._guidance_scale * unconditional
        return x + self._sizes.index_select(0, step) * guided

    def _modulation(self, step: torch.Tensor) -> Modulation:
        row = self._modulations.index_select(0, step)[:, None]
        tensors = iter(torch.split(row, list(chain(*self._parts)), dim=2))
        return tuple(tuple(next(tensors) for _ in part) for part in self._parts)


def non_causal_step_graph(model: NonCausalFlowModel) -> onnx.ModelProto:
    """Trace ``NonCausalStepGraph`` with ports named as in ``NonCausalFlowShapes``."""
    mel_bins = model.config.mel_bins
    frames = TracedInput(torch.ones(_FRAMES, mel_bins), {0: "frames"})
    inputs = {
        "x": frames,
        "mean": frames,
        "prompt_mel": frames,
        "speaker": TracedInput(torch.ones(mel_bins), {}),
        "step": TracedInput(torch.zeros(1, dtype=torch.long), {}),
    }
    return trace(NonCausalStepGraph(model), inputs, {"following": {0: "frames"}})


class GraphNonCausalModel(NonCausalFlowModel):
    """The flow with ``graph`` as its solver step. The estimator of ``network`` is freed."""

    def __init__(self, network: NonCausalFlow, config: FlowConfig, graph: Graph) -> None:
        super().__init__(network.to(graph.device), config, config.solver.num_steps)
        self.graph = graph
        self.modulations = ()
        network.decoder = nn.ModuleDict()
        pack(network, Precision.FLOAT32)
        self._indices = [torch.tensor([index], device=self.device) for index in range(len(self.steps))]

    def integrate(self, noise: torch.Tensor, given: Conditions) -> torch.Tensor:
        shared = {name: tensor.contiguous() for name, tensor in given._asdict().items()}
        x, following = noise.contiguous().clone(), torch.empty_like(noise)
        for index in self._indices:
            self.graph.run(shared | {"x": x, "step": index}, {"following": following})
            x, following = following, x
        return x


class GraphNonCausalDecoder(NonCausalFlowDecoder):
    """``FlowDecoder`` of CosyVoice-300M on a graph."""

    def __init__(self, model: GraphNonCausalModel, precision: Precision) -> None:
        super().__init__(model, precision)
        self.engine = model.graph.engine

    def with_steps(self, num_steps: int) -> None:
        """See ``stages.FlowDecoder``. The graph contains the released solver only."""
