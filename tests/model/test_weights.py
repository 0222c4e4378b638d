"""Weight files: no code is executed, and no tensor is silently ignored."""

import argparse
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from studio.errors import DamagedModelFile, MissingModelFile, WrongTensors
from studio.model.weight_files import weight_file
from studio.model.weights import fold_weight_norm, load_weights, read_tensors


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 2)
        self.second = nn.Linear(2, 2, bias=False)


def tensors() -> dict[str, torch.Tensor]:
    return {name: torch.randn_like(tensor) for name, tensor in Layer().state_dict().items()}


def empty_layer() -> Layer:
    with torch.device("meta"):
        return Layer()


def test_a_pickle_with_code_is_refused_and_does_not_run(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, ...]:
            return (os.mkdir, (str(tmp_path / "executed"),))

    path = tmp_path / "llm.pt"
    torch.save({"weight": Bomb()}, path)
    with pytest.raises(DamagedModelFile, match=r"(w|c)ould run code"):
        read_tensors(path)
    path.write_bytes(pickle.dumps(Bomb(), protocol=2))
    with pytest.raises(DamagedModelFile):
        read_tensors(path)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("kept_bytes", [0, 1, 10, 200, -20])
def test_truncated_file_is_reported(tmp_path: Path, kept_bytes: int) -> None:
    path = tmp_path / "flow.pt"
    torch.save(tensors(), path)
    path.write_bytes(path.read_bytes()[:kept_bytes])
    with pytest.raises(DamagedModelFile, match=r"flow\.pt"):
        read_tensors(path)


@pytest.mark.parametrize("content", [[1, 2], {"epoch": 1, "step": 2}, {1: torch.zeros(1)}, torch.zeros(2)])
def test_file_without_named_tensors_is_refused(tmp_path: Path, content: object) -> None:
    path = tmp_path / "hift.pt"
    torch.save(content, path)
    with pytest.raises(DamagedModelFile, match="contains no named tensors"):
        read_tensors(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingModelFile, match=r"llm\.pt"):
        read_tensors(tmp_path / "llm.pt")


@pytest.mark.parametrize("is_zip", [True, False])
def test_both_file_formats_and_the_gan_prefix_are_read(tmp_path: Path, is_zip: bool) -> None:
    path = tmp_path / "hift.pt"
    wanted = tensors()
    torch.save(
        {f"generator.{name}": tensor for name, tensor in wanted.items()}, path, _use_new_zipfile_serialization=is_zip
    )
    read = read_tensors(path)
    assert read.keys() == wanted.keys()
    assert all(torch.equal(read[name], wanted[name]) for name in wanted)


Tensors = dict[str, torch.Tensor]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda plain: plain | {"epoch": 3, "step": 1200, "lr": 1e-5, "save_time": "2026-11-28", "conf": {"a": [1]}},
        lambda plain: {"module": plain, "optimizer": {"state": {}}, "ds_config": {"zero": 1}, "epoch": 3},
        lambda plain: {"state_dict": plain, "hyper_parameters": None},
        lambda plain: {"model": {"module": plain}, "step": 1},
        lambda plain: {f"module.{name}": tensor for name, tensor in plain.items()},
        lambda plain: {f"module._orig_mod.{name}": tensor for name, tensor in plain.items()} | {"epoch": 3},
        lambda plain: {f"module.{name}": tensor for name, tensor in plain.items()} | {"n_averaged": torch.tensor(5)},
        lambda plain: (
            {f"generator.{name}": tensor for name, tensor in plain.items()} | {"discriminator.a": torch.ones(2)}
        ),
    ],
    ids=["epoch and step", "DeepSpeed", "Lightning", "nested", "DDP", "compiled", "averaged", "GAN"],
)
def test_checkpoints_of_trainers_are_read(tmp_path: Path, wrap: Callable[[Tensors], dict[str, object]]) -> None:
    path, wanted = tmp_path / "llm.pt", tensors()
    torch.save(wrap(wanted), path)
    read = read_tensors(path)
    assert read.keys() == wanted.keys()
    assert all(torch.equal(read[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize("name", ["llm.pt", "llm.safetensors"])
def test_safetensors_are_read_under_either_name(tmp_path: Path, name: str) -> None:
    wanted = tensors()
    save_file(wanted, tmp_path / name)
    path = weight_file(tmp_path, "llm")
    assert path.name == name
    read = read_tensors(path)
    assert all(torch.equal(read[name], wanted[name]) for name in wanted)


def test_weights_in_parts_are_read_together(tmp_path: Path) -> None:
    wanted = tensors()
    for at, (name, tensor) in enumerate(wanted.items(), 1):
        save_file({name: tensor}, tmp_path / f"llm-{at:05}-of-{len(wanted):05}.safetensors")
    path = weight_file(tmp_path, "llm")
    assert read_tensors(path).keys() == wanted.keys()
    (tmp_path / "llm-00002-of-00003.safetensors").unlink()
    with pytest.raises(MissingModelFile, match="llm-00002-of-00003"):
        read_tensors(path)


def test_a_refusal_names_the_true_reason(tmp_path: Path) -> None:
    path = tmp_path / "llm.pt"
    torch.save({"weight": torch.ones(2), "args": argparse.Namespace(epoch=1)}, path)
    with pytest.raises(DamagedModelFile, match=r"an object of the class argparse\.Namespace, which could run code"):
        read_tensors(path)
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    with pytest.raises(DamagedModelFile, match="pointer of Git LFS"):
        read_tensors(path)


def test_weights_of_the_right_type_are_mapped_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "flow.pt"
    torch.save(tensors(), path)
    read = read_tensors(path)
    layer = empty_layer()
    load_weights(layer, read, file_name=path.name)
    assert layer.first.weight.data_ptr() == read["first.weight"].data_ptr()
    assert not layer.training
    assert not any(parameter.requires_grad for parameter in layer.parameters())


def test_half_precision_files_are_converted_to_the_requested_type() -> None:
    layer = empty_layer()
    load_weights(layer, {name: tensor.half() for name, tensor in tensors().items()}, file_name="flow.pt")
    assert layer.first.weight.dtype is torch.float32


def test_every_mismatch_is_named() -> None:
    wrong = tensors()
    del wrong["first.bias"]
    wrong["third.weight"] = torch.zeros(1)
    wrong["second.weight"] = torch.zeros(2, 5)
    with pytest.raises(WrongTensors) as caught:
        load_weights(empty_layer(), wrong, file_name="flow.pt")
    for part in ("flow.pt", "missing: first.bias", "unknown: third.weight", "second.weight (2, 5) instead of (2, 2)"):
        assert part in str(caught.value.problem)


def test_ignored_names_may_be_present() -> None:
    load_weights(empty_layer(), tensors() | {"lm_head": torch.zeros(9)}, file_name="llm.pt", ignored={"lm_head"})


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(
    ("gain", "direction"),
    [("weight_g", "weight_v"), ("parametrizations.weight.original0", "parametrizations.weight.original1")],
)
def test_weight_norm_is_folded_in_both_naming_schemes(gain: str, direction: str, transposed: bool) -> None:
    conv = nn.ConvTranspose1d(4, 6, 3) if transposed else nn.Conv1d(4, 6, 3)
    normed = nn.utils.parametrizations.weight_norm(conv)
    with torch.no_grad():
        normed.parametrizations.weight.original0.mul_(1.7)  # type: ignore[union-attr,operator]
    state = normed.state_dict()
    stored = {
        f"up.{gain}": state["parametrizations.weight.original0"],
        f"up.{direction}": state["parametrizations.weight.original1"],
        "up.bias": state["bias"],
    }
    folded = fold_weight_norm(stored, file_name="hift.pt")
    assert folded.keys() == {"up.weight", "up.bias"}
    torch.testing.assert_close(folded["up.weight"], conv.weight)


def test_missing_tensor_of_a_weight_norm_pair_is_named() -> None:
    folded = fold_weight_norm({"up.weight_g": torch.ones(2, 1, 1)}, file_name="hift.pt")
    with torch.device("meta"):
        module = nn.ModuleDict({"up": nn.Conv1d(3, 2, 1, bias=False)})
    with pytest.raises(WrongTensors, match=r"missing: up\.weight; unknown: up\.weight_g"):
        load_weights(module, folded, file_name="hift.pt")
