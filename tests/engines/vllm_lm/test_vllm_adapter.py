"""The network, logits processor and parameters passed to vLLM, checked with its own classes if it is installed."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from fake_vllm_library import BatchUpdate, MoveDirectionality, SamplingParams
from vllm_cases import CPU

from studio.engines.vllm_lm import network
from studio.engines.vllm_lm.batch_sampler import PLAN, BatchDraw, DrawPlan, make_processor
from studio.engines.vllm_lm.opening import environment
from studio.model.options import SamplingOptions

NUM_IDS = 20


def drawing_batch() -> BatchDraw:
    return BatchDraw(NUM_IDS, lambda line, scores: line)


def params_of(line: int) -> SamplingParams:
    """Return the parameters of a line that the caller samples; the answer is its number."""
    return SamplingParams({PLAN: DrawPlan(line, 0, SamplingOptions(), None)})


def test_logits_processor_tracks_moved_lines(fake_library: dict[str, ModuleType]) -> None:
    processor: Any = make_processor(drawing_batch())(None, torch.device("cpu"), False)
    assert processor.is_argmax_invariant() is False

    def chosen(update: BatchUpdate | None) -> list[int]:
        processor.update_state(update)
        left = processor.apply(torch.zeros(3, NUM_IDS))
        return [int(row.argmax()) if row.isinf().any() else -1 for row in left]

    added = [(index, params_of(line), None, []) for index, line in enumerate((5, 6, 7))]
    assert chosen(BatchUpdate(3, added=added)) == [5, 6, 7]
    assert chosen(None) == [5, 6, 7]
    assert chosen(BatchUpdate(3, moved=[(0, 2, MoveDirectionality.SWAP)])) == [7, 6, 5]
    assert chosen(BatchUpdate(2, removed=[0], moved=[(2, 0, MoveDirectionality.UNIDIRECTIONAL)])) == [5, 6, -1]
    # A row is reused in the step in which its line ended.
    assert chosen(BatchUpdate(3, removed=[1], added=[(1, params_of(9), None, [])])) == [5, 9, -1]


def test_request_without_a_sampling_plan_is_rejected(fake_library: dict[str, ModuleType]) -> None:
    processor: Any = make_processor(drawing_batch())
    processor.validate_params(params_of(1))
    with pytest.raises(ValueError, match="no sampling plan"):
        processor.validate_params(SamplingParams())


def test_head_has_a_bias_if_the_generation_has_one(fake_library: dict[str, ModuleType]) -> None:
    hidden = torch.ones(1, 4)
    for has_bias in (True, False):
        config = SimpleNamespace(vocab_size=6, hidden_size=4, **{network.HEAD_HAS_BIAS: has_bias})
        made: Any = network.make_network()(vllm_config=config)
        assert (made.lm_head.bias is not None) is has_bias
        if has_bias:
            made.lm_head.bias.data.fill_(2.0)
        assert made.compute_logits(hidden).tolist() == [[2.0 if has_bias else 0.0] * 6]


def test_network_is_registered_once(fake_library: dict[str, ModuleType]) -> None:
    network.register()
    network.register()
    assert fake_library["vllm"].ModelRegistry.get_supported_archs() == {network.ARCHITECTURE}


def test_entry_point_names_the_register_function() -> None:
    """vLLM loads only the plugin of this name in the process."""
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    ((name, value),) = project["entry-points"]["vllm.general_plugins"].items()
    module, _, function = value.partition(":")
    assert getattr(importlib.import_module(module), function) is network.register
    assert environment(CPU)["VLLM_PLUGINS"] == name


@pytest.mark.filterwarnings("ignore")  # its own
def test_classes_fit_the_installed_vllm() -> None:
    """Runs only if vLLM is installed beside the program."""
    interface: Any = pytest.importorskip("vllm.v1.sample.logits_processor", exc_type=ImportError)
    qwen2: Any = pytest.importorskip("vllm.model_executor.models.qwen2", exc_type=ImportError)
    made: Any = make_processor(drawing_batch())
    assert issubclass(made, interface.LogitsProcessor)
    processor = made(None, torch.device("cpu"), False)
    params = importlib.import_module("vllm").SamplingParams(
        extra_args={PLAN: DrawPlan(3, 0, SamplingOptions(), np.zeros(4))}
    )
    made.validate_params(params)
    processor.update_state(interface.BatchUpdate(1, [], [(0, params, None, [])], []))
    assert int((processor.apply(torch.zeros(1, NUM_IDS)) == 0).sum()) == 1
    assert issubclass(network.make_network(), qwen2.Qwen2ForCausalLM)
