"""Running plans equals the plain layers, with a fake TensorRT and without a GPU."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import onnx
import pytest
import torch
from fake_tensorrt import COMPILED, PREFIX, Context, Engine, RuntimeConfig, fake_library, without_gpu
from flow_cases import PlainFlow, flow_config, grid_cuts, random_prompt, random_tokens, relative_error, streamed_mel
from graph_cases import checkpoint_of, flow_folder, vocoder_folder

from studio.engines.onnx import files
from studio.engines.onnx.flow_decoder import GraphFlowDecoder
from studio.engines.onnx.flow_runner import FlowRunner
from studio.engines.onnx.graph import FlowShapes, VocoderShapes
from studio.engines.onnx.vocoder import graph_vocoder
from studio.engines.tensorrt import plan_graph
from studio.engines.tensorrt.building import SizeRange
from studio.engines.tensorrt.plan_files import flow_profiles, vocoder_profiles
from studio.engines.tensorrt.plan_graph import PlanGraph, _deserialize
from studio.errors import DamagedModelFile, SequenceTooLong
from studio.model.config import Precision

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _without_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    without_gpu(monkeypatch)


def fixed_sizes(model: Path) -> dict[str, tuple[int, ...]]:
    """Return the sizes of outputs that do not depend on an input, as the real library infers them."""
    graph = onnx.shape_inference.infer_shapes(onnx.load(model)).graph
    return {port.name: tuple(size.dim_value for size in port.type.tensor_type.shape.dim) for port in graph.output}


def flow_of_plans(reference: Path, family: str, engines: list[Engine]) -> GraphFlowDecoder:
    folder = flow_folder(reference, family)
    shapes = FlowShapes.read(folder)
    graphs = []
    for name, caches in ((files.FLOW_ENCODER, shapes.encoder_caches), (files.FLOW_STEP, shapes.step_caches)):
        fixed = fixed_sizes(folder / name) | {port.new_name: port.shape for port in caches if not port.is_growing}
        fixed |= {port.new_name: (0, *port.shape) for port in caches if port.is_growing}
        library = fake_library(list(flow_profiles(shapes)), fixed, engines)
        plan = PREFIX + (folder / name).read_bytes()
        graphs.append(PlanGraph(library, plan, CPU, num_contexts=2, file_name=f"{name}.plan"))
    return GraphFlowDecoder(FlowRunner(*graphs, shapes, blocks_at_once=1))


@pytest.mark.slow
def test_flow_plans_equal_plain_pytorch(reference: Path, family: str) -> None:
    config, engines = flow_config(reference, family), list[Engine]()
    decoder = flow_of_plans(reference, family, engines)
    assert decoder.engine == "TensorRT 11.0"
    plain = PlainFlow(reference, family)
    prompt, tokens = random_prompt(config, 53), random_tokens(config, 47)
    mel = streamed_mel(decoder, decoder.prepare_prompt(prompt), tokens, grid_cuts(53, 47))
    assert relative_error(mel, plain.mel(prompt, tokens)) <= 1e-5
    _, step = engines
    assert {profile for profile, _ in step.runs} == {0}, "blocks use the profile for streams"
    step.runs.clear()
    mel = decoder.decode_whole(prompt, tokens)
    assert relative_error(mel, plain.mel(prompt, tokens, is_streaming=False)) <= 1e-5
    assert [profile for profile, _ in step.runs] == [1] * 10


def test_sentence_longer_than_all_profiles_is_reported(reference: Path) -> None:
    decoder = flow_of_plans(reference, "cosyvoice3", [])
    config = flow_config(reference, "cosyvoice3")
    with pytest.raises(SequenceTooLong, match="does not support a sentence this long"):
        decoder.decode_whole(random_prompt(config, 28), [0] * 1600)


@pytest.mark.slow
def test_vocoder_plan_equals_plain_pytorch(reference: Path, family: str) -> None:
    checkpoint, folder = checkpoint_of(reference, family), vocoder_folder(reference, family)
    shapes, model = VocoderShapes.read(folder), folder / files.VOCODER_DECODER
    profiles = vocoder_profiles(shapes, checkpoint.vocoder.look_right_frames)
    fixed = fixed_sizes(model) | {port.new_name: (1, port.channels, port.columns) for port in shapes.tails}
    fixed["made"] = (1, checkpoint.vocoder.stft_size + 2, 0)
    engines: list[Engine] = []
    library = fake_library(list(profiles), fixed, engines)
    graph = PlanGraph(library, PREFIX + model.read_bytes(), CPU, num_contexts=1, file_name="vocoder.plan")
    vocoder = graph_vocoder(files.plain_vocoder(checkpoint), graph, shapes)
    plain = checkpoint.load_vocoder(Precision.FLOAT32, "cpu")
    mel = torch.randn(80, 140, generator=torch.Generator().manual_seed(2)) - 5
    for made in (vocoder, plain):
        stream = made.open_stream(made.noise(1))
        sound = torch.cat([stream.synthesize(mel[:, :60], is_last=False), stream.synthesize(mel[:, 60:], is_last=True)])
        whole = made.synthesize_whole(mel, made.noise(1))
        if made is vocoder:
            streamed, at_once = sound, whole
    assert (streamed - sound).abs().max() <= 1e-4
    assert (at_once - whole).abs().max() <= 1e-4
    assert len(engines[0].runs) == (3 if family == "cosyvoice2" else 4), (
        "two chunks, and the whole in one run or two blocks"
    )


@pytest.mark.parametrize("plan", [b"", b"garbage", PREFIX[1:] + b"..."])
def test_plan_rejected_by_the_library_is_reported(plan: bytes) -> None:
    library = fake_library([], {}, [])
    with pytest.raises(DamagedModelFile, match=r"rejected the built engine x\.plan: Magic tag does not match"):
        PlanGraph(library, plan, CPU, num_contexts=1, file_name="x.plan")


def test_calls_wait_for_a_free_context() -> None:
    """Eight threads share two contexts, and each gets the result of its own input."""
    twice = doubling_graph(is_rtx=False)
    right: list[bool] = []

    def run(size: int) -> None:
        given, made = torch.full((size,), float(size)), torch.empty(size)
        for _ in range(20):
            twice.run({"x": given}, {"y": made})
            right.append(bool((made == 2 * size).all()))

    threads = [threading.Thread(target=run, args=(size,)) for size in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(right) == 160
    assert all(right)


def test_each_call_selects_the_gpu_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorRT uses the current GPU of the thread, which is the first one in a new thread."""
    second = torch.device("cuda", 1)
    present: list[torch.device] = []
    at_work: list[list[torch.device]] = []

    @contextmanager
    def on(device: torch.device) -> Iterator[None]:
        present.append(device)
        yield
        present.pop()

    monkeypatch.setattr(torch.cuda, "device", on)
    monkeypatch.setattr(
        "studio.engines.tensorrt.plan_graph._deserialize",
        lambda *given: at_work.append(list(present)) or _deserialize(*given),
    )
    execute = Context.execute_async_v3
    monkeypatch.setattr(Context, "execute_async_v3", lambda *given: at_work.append(list(present)) or execute(*given))
    graph = doubling_graph(is_rtx=False, device=second)
    running = threading.Thread(target=graph.run, args=({"x": torch.ones(3)}, {"y": torch.empty(3)}))
    running.start()
    running.join()
    assert at_work == [[second], [second]]


def doubling_graph(*, is_rtx: bool, device: torch.device = CPU) -> PlanGraph:
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n"])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n"])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Add", ["x", "x"], ["y"])], "twice", [x], [y])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    library = fake_library([{"n": SizeRange(1, 2, 100)}], {"y": (0,)}, [], is_rtx=is_rtx)
    return PlanGraph(library, PREFIX + model.SerializeToString(), device, num_contexts=2, file_name="twice.plan")


def test_compiled_kernels_are_reused_at_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache of another GPU or driver is replaced."""
    path = tmp_path / "compiled" / "plan.bin"
    monkeypatch.setattr("studio.engines.tensorrt.plan_graph.cache_path", lambda plan: path)
    given, made = torch.ones(3), torch.empty(3)
    graph = doubling_graph(is_rtx=True)
    assert graph._compiled is not None
    assert not graph._compiled._cache.is_warm
    for _ in range(40):
        graph.run({"x": given}, {"y": made})
    assert path.read_bytes() == COMPILED
    warm = doubling_graph(is_rtx=True)._compiled
    assert warm is not None
    assert warm._cache.is_warm
    path.write_bytes(b"of another driver")
    refused = doubling_graph(is_rtx=True)._compiled
    assert refused is not None
    assert not refused._cache.is_warm
    assert doubling_graph(is_rtx=False)._compiled is None, "plain TensorRT compiles while building"


def test_oldest_runtime_caches_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_graph, "_MAX_KEPT", 2)
    for index in range(3):
        path = tmp_path / f"{index}.bin"
        path.write_bytes(b"old")
        os.utime(path, (index, index))
    cache = plan_graph.RuntimeCache(RuntimeConfig(), tmp_path / "new.bin")
    for _ in range(32):
        cache.count_run()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2.bin", "new.bin"]


def test_each_plan_has_its_own_runtime_cache() -> None:
    assert plan_graph.cache_path(b"a plan") != plan_graph.cache_path(b"another")
