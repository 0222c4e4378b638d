"""Speech tokens from WAV files equal the official ones, and unusable network files are reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper
from reference_limits import clip_of_another_rate
from safetensors.numpy import load_file

from studio.audio.files import read_audio
from studio.audio.resampling import resample_steeply
from studio.audio.waveform import Waveform
from studio.errors import ClipTooLong, DamagedModelFile, MissingModelFile
from studio.model.onnx_networks import SpeechTokenizer
from studio.voices.features import whisper_log_mel

FILE_OF = {"cosyvoice2": "speech_tokenizer_v2.onnx", "cosyvoice3": "speech_tokenizer_v3.onnx"}


@pytest.fixture
def tokenizer(reference: Path, family: str) -> SpeechTokenizer:
    return SpeechTokenizer(reference / family / "checkpoint" / FILE_OF[family], num_threads=1)


def golden_tokens(reference: Path, family: str, clip: str) -> tuple[int, ...]:
    arrays = load_file(reference / family / "golden" / "frontend.safetensors")
    return tuple(arrays[f"wav/{clip}/speech_token"].reshape(-1).tolist())


@pytest.mark.reference
@pytest.mark.parametrize("clip", ["prompt_a", "prompt_b"])
def test_tokens_of_recorded_features_equal_the_official_ones(
    reference: Path, family: str, clip: str, tokenizer: SpeechTokenizer
) -> None:
    log_mel = load_file(reference / "inputs" / "features.safetensors")[f"{clip}/whisper_mel"][0]
    assert tokenizer.tokenize(log_mel) == golden_tokens(reference, family, clip)


@pytest.mark.reference
@pytest.mark.parametrize("clip", ["prompt_a", "prompt_b"])
def test_tokens_of_a_wav_file_equal_the_official_ones(
    reference: Path, family: str, clip: str, tokenizer: SpeechTokenizer
) -> None:
    waveform = read_audio(reference / "inputs" / f"{clip}.wav").resampled(16_000)
    assert tokenizer.tokenize(whisper_log_mel(waveform)) == golden_tokens(reference, family, clip)


@pytest.mark.reference
def test_a_steeper_resampler_would_change_tokens(reference: Path, family: str, tokenizer: SpeechTokenizer) -> None:
    """This is the reason to resample as the official program does. soxr is used only for unusual ratios."""
    name, clip = clip_of_another_rate(reference, 16_000)
    steep = Waveform(resample_steeply(clip.samples, clip.sample_rate, 16_000), 16_000)
    tokens = tokenizer.tokenize(whisper_log_mel(steep))
    golden = golden_tokens(reference, family, name)
    assert len(tokens) == len(golden)
    num_changed = sum(ours != official for ours, official in zip(tokens, golden, strict=True))
    assert num_changed > 0


def test_number_of_tokens_is_a_quarter_of_the_frames_rounded_up(tokenizer: SpeechTokenizer) -> None:
    for num_frames, num_tokens in ((1, 1), (4, 1), (5, 2), (3000, 750)):
        assert len(tokenizer.tokenize(np.zeros((128, num_frames), np.float32))) == num_tokens


def test_more_than_thirty_seconds_are_refused(tokenizer: SpeechTokenizer) -> None:
    with pytest.raises(ClipTooLong, match=r"lasts 30\.0 s; the model reads at most 30 s"):
        tokenizer.tokenize(np.zeros((128, 3001), np.float32))


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingModelFile, match=r"speech_tokenizer_v2\.onnx is missing"):
        SpeechTokenizer(tmp_path / "speech_tokenizer_v2.onnx")


@pytest.mark.parametrize("content", ["nothing", "half", "noise", "words", "names"])
def test_damaged_file_is_named(
    reference: Path, tmp_path: Path, content: str, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = (reference / "cosyvoice2" / "checkpoint" / FILE_OF["cosyvoice2"]).read_bytes()
    damaged = {
        "nothing": b"",
        "half": whole[: len(whole) // 2],
        "noise": np.random.default_rng(1).bytes(5000),
        "words": b"version 1\nsize 496082973\n",
        "names": whole.replace(b"feats", b"fe\xc2ts", 1),  # ONNX Runtime quotes it, which is not UTF-8
    }
    path = tmp_path / "speech_tokenizer_v2.onnx"
    path.write_bytes(damaged[content])
    with pytest.raises(DamagedModelFile, match=r"speech_tokenizer_v2\.onnx cannot be read"):
        SpeechTokenizer(path)
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err == ""


def test_different_network_in_the_file_is_reported(reference: Path, tmp_path: Path) -> None:
    with pytest.raises(DamagedModelFile, match=r"campplus\.onnx does not contain the network"):
        SpeechTokenizer(reference / "cosyvoice2" / "checkpoint" / "campplus.onnx")

    features = helper.make_tensor_value_info("feats", TensorProto.FLOAT, [1, 128, "T"])
    length = helper.make_tensor_value_info("feats_length", TensorProto.INT32, [1])
    output = helper.make_tensor_value_info("indices", TensorProto.FLOAT, [1, 128, "T"])
    graph = helper.make_graph([helper.make_node("Neg", ["feats"], ["indices"])], "g", [features, length], [output])
    path = tmp_path / "speech_tokenizer_v2.onnx"
    path.write_bytes(
        helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    )
    with pytest.raises(DamagedModelFile, match="does not contain the network that its name indicates"):
        SpeechTokenizer(path).tokenize(np.ones((128, 8), np.float32))


@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64])
@pytest.mark.parametrize("declared", [[3, 7], [1, "T"], [5]])
def test_type_and_declared_size_of_the_output_do_not_matter(
    tmp_path: Path, kind: TensorProto.DataType, declared: list[int | str]
) -> None:
    """The official program flattens any first output."""
    features = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 128, "T"])
    length = helper.make_tensor_value_info("y", TensorProto.INT64, [1])
    output = helper.make_tensor_value_info("tokens", kind, declared)
    other = helper.make_tensor_value_info("other", TensorProto.FLOAT, None)
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["largest"], axes=[0, 1], keepdims=0),
        helper.make_node("Cast", ["largest"], ["tokens"], to=kind),
        helper.make_node("Neg", ["x"], ["other"]),
    ]
    graph = helper.make_graph(nodes, "g", [features, length], [output, other])
    path = tmp_path / "speech_tokenizer_v2.onnx"
    path.write_bytes(
        helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()
    )
    assert SpeechTokenizer(path, num_threads=1).tokenize(np.full((128, 3), 5, np.float32)) == (5, 5, 5)
    with pytest.raises(DamagedModelFile, match="does not contain the network that its name indicates"):
        SpeechTokenizer(path, num_threads=1).tokenize(np.full((128, 3), -5, np.float32))
