"""Speaker embeddings from WAV files equal the official ones, and unusable network files are reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, ValueInfoProto, helper
from reference_limits import clip_of_another_rate, limit_of
from safetensors.numpy import load_file

from studio.audio.files import read_audio
from studio.audio.resampling import resample_steeply
from studio.audio.waveform import Waveform
from studio.errors import DamagedModelFile, MissingModelFile
from studio.model.onnx_networks import SpeakerEncoder
from studio.model.stages import FloatArray
from studio.voices.features import kaldi_fbank

# The filter bank may differ by 2.7e-4 (README of the reference data); the network attenuates that to 2 %.
LIMIT_OF_OWN_FBANK = 5e-6


@pytest.fixture
def encoder(reference: Path, family: str) -> SpeakerEncoder:
    return SpeakerEncoder(reference / family / "checkpoint" / "campplus.onnx", num_threads=1)


def golden_embedding(reference: Path, family: str, clip: str) -> FloatArray:
    embedding: FloatArray = load_file(reference / family / "golden" / "frontend.safetensors")[f"wav/{clip}/embedding"]
    return embedding[0]


def embedding_limit(reference: Path, family: str) -> float:
    return limit_of(reference, family, "frontend:wav/*/embedding")


@pytest.mark.reference
@pytest.mark.parametrize("clip", ["prompt_a", "prompt_b"])
def test_embedding_of_recorded_features_equals_the_official_one(
    reference: Path, family: str, clip: str, encoder: SpeakerEncoder
) -> None:
    embedding = encoder.embed(load_file(reference / "inputs" / "features.safetensors")[f"{clip}/fbank"])
    assert embedding.shape == (192,)
    assert embedding.dtype == np.float32
    golden = golden_embedding(reference, family, clip)
    np.testing.assert_allclose(embedding, golden, rtol=0, atol=embedding_limit(reference, family))


@pytest.mark.reference
@pytest.mark.parametrize("clip", ["prompt_a", "prompt_b"])
def test_embedding_of_a_wav_file_equals_the_official_one(
    reference: Path, family: str, clip: str, encoder: SpeakerEncoder
) -> None:
    waveform = read_audio(reference / "inputs" / f"{clip}.wav").resampled(16_000)
    golden = golden_embedding(reference, family, clip)
    embedding = encoder.embed(kaldi_fbank(waveform))
    limit = max(LIMIT_OF_OWN_FBANK, embedding_limit(reference, family))
    np.testing.assert_allclose(embedding, golden, rtol=0, atol=limit)


@pytest.mark.reference
def test_resampler_with_a_steeper_filter_changes_the_embedding_little(
    reference: Path, family: str, encoder: SpeakerEncoder
) -> None:
    name, clip = clip_of_another_rate(reference, 16_000)
    steep = Waveform(resample_steeply(clip.samples, clip.sample_rate, 16_000), 16_000)
    embedding = encoder.embed(kaldi_fbank(steep)).astype(np.float64)
    golden = golden_embedding(reference, family, name).astype(np.float64)
    cosine = embedding @ golden / np.linalg.norm(embedding) / np.linalg.norm(golden)
    assert cosine > 0.999
    assert np.abs(embedding - golden).max() > embedding_limit(reference, family)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingModelFile, match=r"campplus\.onnx is missing"):
        SpeakerEncoder(tmp_path / "campplus.onnx")


def test_truncated_file_is_named(reference: Path, tmp_path: Path) -> None:
    whole = (reference / "cosyvoice2" / "checkpoint" / "campplus.onnx").read_bytes()
    (tmp_path / "campplus.onnx").write_bytes(whole[:-100])
    with pytest.raises(DamagedModelFile, match=r"campplus\.onnx cannot be read"):
        SpeakerEncoder(tmp_path / "campplus.onnx")


def test_different_network_in_the_file_is_reported(reference: Path, tmp_path: Path) -> None:
    with pytest.raises(DamagedModelFile, match="does not contain the network that its name indicates"):
        SpeakerEncoder(reference / "cosyvoice2" / "checkpoint" / "speech_tokenizer_v2.onnx")

    # The right input but a wrong output: one vector per frame.
    fbank = helper.make_tensor_value_info("input", TensorProto.FLOAT, ["B", "T", 80])
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, ["B", "T", 80])
    graph = helper.make_graph([helper.make_node("Neg", ["input"], ["output"])], "g", [fbank], [output])
    path = tmp_path / "campplus.onnx"
    path.write_bytes(
        helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    )
    with pytest.raises(DamagedModelFile, match="does not contain the network that its name indicates"):
        SpeakerEncoder(path).embed(np.ones((8, 80), np.float32))


def written(path: Path, nodes: list[NodeProto], inputs: list[list[int | str]], output: ValueInfoProto) -> Path:
    ports = [helper.make_tensor_value_info("any name", TensorProto.FLOAT, shape) for shape in inputs]
    graph = helper.make_graph(nodes, "g", ports, [output])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
    path.write_bytes(model.SerializeToString())
    return path


_TWO_NODES = [
    helper.make_node("Constant", [], ["axes"], value=helper.make_tensor("axes", TensorProto.INT64, [1], [1])),
    helper.make_node("ReduceSum", ["any name", "axes"], ["sum"], keepdims=0),
    helper.make_node("Concat", ["sum", "sum", "sum"], ["three"], axis=1),
    helper.make_node("Slice", ["three", "begin", "end", "last"], ["embedding"]),
]


def test_declared_output_shape_does_not_matter(tmp_path: Path) -> None:
    """The official program flattens any first output."""
    numbers = [("begin", 0), ("end", 192), ("last", 1)]
    constants = [
        helper.make_node("Constant", [], [name], value=helper.make_tensor(name, TensorProto.INT64, [1], [number]))
        for name, number in numbers
    ]
    output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [4, 192])
    path = written(tmp_path / "campplus.onnx", [*constants, *_TWO_NODES], [[1, "T", 80]], output)
    embedding = SpeakerEncoder(path, num_threads=1).embed(np.ones((8, 80), np.float32))
    np.testing.assert_array_equal(embedding, np.full(192, 8, np.float32))


@pytest.mark.parametrize("shape", [[2, "T", 80], [1, "T", 64], [1, "T"]])
def test_input_of_another_fixed_size_is_reported_on_opening(tmp_path: Path, shape: list[int | str]) -> None:
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    path = written(tmp_path / "campplus.onnx", [helper.make_node("Neg", ["any name"], ["out"])], [shape], output)
    with pytest.raises(DamagedModelFile, match="does not contain the network that its name indicates"):
        SpeakerEncoder(path)


def test_network_exported_for_one_length_is_reported_for_another(tmp_path: Path) -> None:
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    path = written(tmp_path / "campplus.onnx", [helper.make_node("Neg", ["any name"], ["out"])], [[1, 7, 80]], output)
    with pytest.raises(DamagedModelFile, match="does not contain the network that its name indicates"):
        SpeakerEncoder(path).embed(np.ones((8, 80), np.float32))
