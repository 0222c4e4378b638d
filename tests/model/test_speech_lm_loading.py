"""Loading of ``llm.pt``: names, damage, memory."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from samplers import GreedySampler
from speech_lm_cases import random_network, read_golden, small_config

from studio.errors import DamagedModelFile, MissingModelFile, WrongTensors
from studio.model.config import Precision, QwenConfig, SpeechLMConfig
from studio.model.speech_lm import build_speech_lm, load_speech_lm, open_network, random_request
from studio.model.stages import SpeechLM

CONFIG = small_config(num_layers=6)  # more than mapped at a time


@pytest.fixture
def tensors() -> dict[str, torch.Tensor]:
    tensors = dict(random_network(CONFIG).state_dict())
    tensors["llm.model.lm_head.weight"] = tensors["llm.model.model.embed_tokens.weight"]
    return tensors


def save(tensors: dict[str, torch.Tensor], folder: Path, *, as_zip: bool = True) -> Path:
    path = folder / "llm.pt"
    torch.save(tensors, path, _use_new_zipfile_serialization=as_zip)
    return path


def speak(speech_lm: SpeechLM, config: SpeechLMConfig = CONFIG) -> list[int]:
    return list(speech_lm.generate(random_request(config), GreedySampler()))


@pytest.mark.reference
def test_names_are_official_and_the_text_head_is_omitted(reference: Path, family: str) -> None:
    golden = read_golden(reference, family)
    network = open_network(golden.weights, golden.config)
    in_file = torch.load(golden.weights, weights_only=True)
    assert network.state_dict().keys() == in_file.keys() - {"llm.model.lm_head.weight"}
    assert all(torch.equal(weight, in_file[name]) for name, weight in network.state_dict().items())


@pytest.mark.parametrize("as_zip", [True, False], ids=["zip", "before torch 1.6"])
def test_loaded_file_equals_the_saved_network(tensors: dict[str, torch.Tensor], tmp_path: Path, as_zip: bool) -> None:
    path = save(tensors, tmp_path, as_zip=as_zip)
    assert speak(load_speech_lm(path, CONFIG)) == speak(build_speech_lm(random_network(CONFIG)))


@pytest.mark.slow
def test_a_file_in_half_precision_is_widened(tensors: dict[str, torch.Tensor], tmp_path: Path) -> None:
    rounded = {name: tensor.half() for name, tensor in tensors.items()}
    network = random_network(CONFIG)
    network.load_state_dict({name: rounded[name].float() for name in network.state_dict()})
    assert speak(load_speech_lm(save(rounded, tmp_path), CONFIG)) == speak(build_speech_lm(network))


def test_training_does_not_change_a_packed_model() -> None:
    network = random_network(CONFIG)
    speech_lm = build_speech_lm(network)
    before = speak(speech_lm)
    for weight in network.backbone.layers.parameters():
        weight.zero_()
    assert speak(speech_lm) == before
    assert speak(build_speech_lm(network)) != before


def test_missing_unknown_and_misshapen_tensors_are_named(tensors: dict[str, torch.Tensor], tmp_path: Path) -> None:
    tensors["llm.model.model.layers.5.mlp.up_proj.weight"] = torch.zeros(3, 3)
    tensors["llm.model.model.layers.6.mlp.up_proj.weight"] = torch.zeros(3, 3)
    del tensors["speech_embedding.weight"]
    with pytest.raises(WrongTensors) as caught:
        load_speech_lm(save(tensors, tmp_path), CONFIG)
    for complaint in ("missing: speech_embedding.weight", "unknown: llm.model.model.layers.6.", "(3, 3) instead of"):
        assert complaint in str(caught.value.problem)


def test_missing_and_truncated_files_are_reported(tensors: dict[str, torch.Tensor], tmp_path: Path) -> None:
    with pytest.raises(MissingModelFile, match=r"llm\.pt is missing"):
        load_speech_lm(tmp_path / "llm.pt", CONFIG)
    path = save(tensors, tmp_path)
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(DamagedModelFile):
        load_speech_lm(path, CONFIG)


_MEASURE_PEAK = """
import resource, sys
from pathlib import Path
import torch
sys.path[:0] = sys.argv[2].split("|")
from speech_lm_cases import small_config
from studio.model.config import Precision, QwenConfig
from samplers import GreedySampler
from studio.model.speech_lm import load_speech_lm, build_speech_lm, random_request
from dataclasses import replace
torch.set_num_threads(1)
backbone = QwenConfig(2000, 512, 2816, 14, 8, 2)
config = replace(small_config(), backbone=backbone)
# Run once before, so that memory of the libraries and their kernels is not counted.
tiny = replace(config, backbone=replace(backbone, hidden_size=64, intermediate_size=64, num_layers=1))
from speech_lm_cases import random_network
list(build_speech_lm(random_network(tiny), Precision(sys.argv[3])).generate(random_request(tiny), GreedySampler()))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
speech_lm = load_speech_lm(Path(sys.argv[1]), config, Precision(sys.argv[3]))
list(speech_lm.generate(random_request(config), GreedySampler()))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured as Linux counts it")
@pytest.mark.parametrize("precision", [Precision.FLOAT32, Precision.INT8], ids=["float32", "int8"])
def test_loading_takes_little_more_memory_than_the_weights(tmp_path: Path, precision: Precision) -> None:
    config = replace(small_config(), backbone=QwenConfig(2000, 512, 2816, 14, 8, 2))
    path = save(dict(random_network(config).state_dict()), tmp_path)
    paths = "|".join(str(Path(__file__).parents[1] / name) for name in ("model", "fakes"))
    command = [sys.executable, "-c", _MEASURE_PEAK, str(path), paths, precision.value]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert int(printed) <= 1.3 * path.stat().st_size
