"""A random checkpoint has the files, names and shapes of an official one, and stable outputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from measurements.random_models.checkpoint import num_weight_bytes, write_random_checkpoint
from measurements.random_models.reference_sizes import CheckpointPlan, released_plan
from measurements.random_models.shape_parts import Shapes
from measurements.random_models.tensor_shapes import flow_shapes, speech_lm_shapes, vocoder_shapes
from studio.errors import CannotWrite, DiskFull
from studio.model.checkpoint import Checkpoint, open_checkpoint

SmallPlan = Callable[[str], CheckpointPlan]


@pytest.fixture(scope="module", params=["cosyvoice1", "cosyvoice2", "cosyvoice3"])
def written(
    request: pytest.FixtureRequest, small_plan: SmallPlan, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, CheckpointPlan]:
    family = str(request.param)
    folder = tmp_path_factory.mktemp("random") / family
    plan = small_plan(family)
    write_random_checkpoint(folder, family, 3, plan=plan, for_official=True)
    return folder, plan


def shapes_of_files(plan: CheckpointPlan | Checkpoint) -> dict[str, Shapes]:
    return {
        "llm": speech_lm_shapes(plan.speech_lm),
        "flow": flow_shapes(plan.flow),
        "hift": vocoder_shapes(plan.vocoder),
    }


def shapes_in_file(path: Path) -> Shapes:
    return {name: tuple(tensor.shape) for name, tensor in torch.load(path, weights_only=True, mmap=True).items()}


@pytest.mark.reference
def test_released_shapes_are_those_of_the_official_modules(reference: Path, every_family: str) -> None:
    lists = reference / "state-dicts"
    if not lists.is_dir():
        pytest.skip("this reference folder has no list of full-size tensors")
    for name, shapes in shapes_of_files(released_plan(every_family)).items():
        official = json.loads((lists / f"{every_family}.{name}.json").read_text("utf-8"))["state_dict"]
        assert shapes == {tensor: tuple(entry["shape"]) for tensor, entry in official.items()}


@pytest.mark.reference
def test_shapes_follow_the_settings_of_any_official_folder(reference: Path, every_family: str) -> None:
    folder = reference / every_family / "checkpoint"
    for name, shapes in shapes_of_files(open_checkpoint(folder)).items():
        assert shapes == shapes_in_file(folder / f"{name}.pt")


def test_released_weights_have_the_size_of_the_released_files() -> None:
    # Specification A5: bytes of data of the three files.
    assert num_weight_bytes(released_plan("cosyvoice1")) == 1_242_873_860 + 419_499_008 + 81_842_364
    assert num_weight_bytes(released_plan("cosyvoice2")) == 2_023_215_248 + 450_197_440 + 83_285_180
    assert num_weight_bytes(released_plan("cosyvoice3")) == 2_024_593_920 + 1_329_028_480 + 83_119_548


@pytest.mark.slow
def test_folder_opens_with_the_planned_settings(written: tuple[Path, CheckpointPlan]) -> None:
    folder, plan = written
    opened = open_checkpoint(folder)
    assert opened.generation is plan.generation
    assert (opened.speech_lm, opened.flow, opened.vocoder, opened.prompt_mel) == (
        plan.speech_lm,
        plan.flow,
        plan.vocoder,
        plan.prompt_mel,
    )


@pytest.mark.slow
def test_files_hold_the_planned_tensors_and_sane_numbers(written: tuple[Path, CheckpointPlan]) -> None:
    folder, plan = written
    for name, shapes in shapes_of_files(plan).items():
        tensors = torch.load(folder / f"{name}.pt", weights_only=True)
        assert {tensor: tuple(values.shape) for tensor, values in tensors.items()} == shapes
        for tensor, values in tensors.items():
            assert values.isfinite().all(), tensor
            assert values.numel() == 1 or values.std() > 0, f"{tensor} is constant"


def test_text_head_and_text_table_are_stored_once(written: tuple[Path, CheckpointPlan]) -> None:
    folder, plan = written
    if plan.generation.text_folder is None:
        pytest.skip("this language model has no text head")
    tensors = torch.load(folder / "llm.pt", weights_only=True)
    head, table = tensors["llm.model.lm_head.weight"], tensors["llm.model.model.embed_tokens.weight"]
    assert head.data_ptr() == table.data_ptr()
    assert (folder / "llm.pt").stat().st_size < 1.2 * sum(values.nbytes for values in tensors.values())


@pytest.mark.slow
def test_same_seed_same_numbers_and_another_seed_others(tmp_path: Path, small_plan: SmallPlan) -> None:
    plan = small_plan("cosyvoice3")
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        write_random_checkpoint(tmp_path / name, "cosyvoice3", seed, plan=plan)
    first, same, other = (torch.load(tmp_path / name / "flow.pt", weights_only=True) for name in "abc")
    assert all(torch.equal(first[name], same[name]) for name in first)
    assert not torch.equal(first["input_embedding.weight"], other["input_embedding.weight"])


@pytest.mark.slow
def test_complete_folder_is_left_alone_and_a_changed_one_written_anew(tmp_path: Path, small_plan: SmallPlan) -> None:
    plan = small_plan("cosyvoice2")
    write_random_checkpoint(tmp_path, "cosyvoice2", 1, plan=plan)
    weights = tmp_path / "hift.pt"
    before = weights.stat().st_mtime_ns
    write_random_checkpoint(tmp_path, "cosyvoice2", 1, plan=plan)
    assert weights.stat().st_mtime_ns == before
    write_random_checkpoint(tmp_path, "cosyvoice2", 2, plan=plan)
    assert weights.stat().st_mtime_ns != before


def test_special_text_tokens_follow_the_base_vocabulary(written: tuple[Path, CheckpointPlan]) -> None:
    folder, plan = written
    if plan.generation.text_folder is None:
        pytest.skip("the vocabulary of this generation is not in the folder")
    tokenizer = open_checkpoint(folder).load_text_tokenizer()
    assert tuple(tokenizer.encode("<|endofprompt|>", allow_special=True)) == (plan.num_base_text_tokens + 3,)
    ordinary = tokenizer.encode("Hello, 世界", allow_special=True)
    assert max(ordinary) < plan.num_base_text_tokens


def test_front_end_networks_keep_the_official_signatures(written: tuple[Path, CheckpointPlan]) -> None:
    folder, plan = written
    tokenizer = onnxruntime.InferenceSession(folder / plan.generation.speech_tokenizer_file)
    frames = np.random.default_rng(0).standard_normal((1, 128, 301)).astype(np.float32)
    tokens = tokenizer.run(None, {"feats": frames, "feats_length": np.array([301], np.int32)})[0]
    assert tokens.shape == (1, 151 if plan.generation.token_rate == 50 else 76)
    assert tokens.dtype == np.int32
    assert tokens.min() >= 0
    assert tokens.max() < plan.speech_lm.layout.num_speech_tokens
    assert len(np.unique(tokens)) > 10
    encoder = onnxruntime.InferenceSession(folder / "campplus.onnx")
    embedding = encoder.run(None, {"input": frames.transpose(0, 2, 1)[:, :, :80].copy()})[0]
    assert embedding.shape == (1, 192)


def test_written_network_passes_the_onnx_checker(written: tuple[Path, CheckpointPlan]) -> None:
    folder, plan = written
    for name in ("campplus.onnx", plan.generation.speech_tokenizer_file):
        onnx.checker.check_model(onnx.load(folder / name), full_check=True)


def test_no_room_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("Usage", (), {"free": 10_000_000_000})()
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    plan = released_plan("cosyvoice3")
    huge = replace(plan, speech_lm=replace(plan.speech_lm, backbone=replace(plan.speech_lm.backbone, num_layers=2000)))
    with pytest.raises(DiskFull, match=r"not enough disk space for a random model \(\d+\.\d GB\)"):
        write_random_checkpoint(tmp_path, "cosyvoice3", plan=huge)
    assert not list(tmp_path.glob("*.pt"))


def test_folder_that_is_a_file_is_a_sentence(tmp_path: Path, small_plan: SmallPlan) -> None:
    path = tmp_path / "taken"
    path.write_text("not a folder")
    with pytest.raises(CannotWrite, match="cannot be written"):
        write_random_checkpoint(path, "cosyvoice3", plan=small_plan("cosyvoice3"))
