"""A miniature of SenseVoice's published files. It recognises tones: each token has a frequency."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from studio.audio.waveform import Waveform
from studio.voices.features import kaldi_fbank

RATE = 16_000
SENSE_VOICE_PIECES = ("<blank>", "<s>", "<|en|>", "▁yes", "▁no", "你", "好", "▁may", "be")
SENSE_VOICE_HZ = {3: 300.0, 4: 700.0, 5: 1300.0, 6: 2100.0, 7: 3100.0, 8: 4500.0}


def spoken(tokens: list[int], frequencies: dict[int, float], *, seconds: float = 0.32) -> np.ndarray:
    """Return tones for ``tokens``, with silence before, between and after."""
    time = np.arange(round(seconds * RATE)) / RATE
    silence = np.zeros(round(0.32 * RATE), np.float32)
    parts = [silence]
    for token in tokens:
        parts += [(0.3 * np.sin(2 * np.pi * frequencies[token] * time)).astype(np.float32), silence]
    noise = 1e-4 * np.random.default_rng(0).standard_normal(sum(map(len, parts)))
    return (np.concatenate(parts) + noise).astype(np.float32)


def write_sense_voice(folder: Path) -> Path:
    """Write a network that classifies stacked frames, with the metadata and vocabulary of the real one."""
    folder.mkdir(parents=True, exist_ok=True)
    size = len(SENSE_VOICE_PIECES)
    features, labels = _training_frames()
    mean, deviation = features.mean(axis=0), features.std(axis=0) + 1e-3
    normalized = np.concatenate([(features - mean) / deviation, np.ones((len(features), 1))], axis=1)
    wanted = 12.0 * np.eye(size)[labels]
    weights = np.linalg.solve(normalized.T @ normalized + 50.0 * np.eye(normalized.shape[1]), normalized.T @ wanted)
    nodes = [
        helper.make_node("MatMul", ["x", "weights"], ["product"]),
        helper.make_node("Add", ["product", "bias"], ["scores"]),
        helper.make_node("Concat", ["tags", "scores"], ["logits"], axis=1),
    ]
    arrays = {
        "weights": weights[:-1].astype(np.float32),
        "bias": weights[-1].astype(np.float32),
        "tags": np.eye(size, dtype=np.float32)[None, [2, 2, 2, 2]] * 12,
    }
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, "T", 560]),
        helper.make_tensor_value_info("x_length", TensorProto.INT32, [1]),
        helper.make_tensor_value_info("language", TensorProto.INT32, [1]),
        helper.make_tensor_value_info("text_norm", TensorProto.INT32, [1]),
    ]
    metadata = {
        "model_type": "sense_voice_ctc", "lfr_window_size": "7", "lfr_window_shift": "6", "normalize_samples": "0",
        "vocab_size": str(size), "with_itn": "14", "without_itn": "15", "lang_auto": "0", "lang_zh": "3",
        "lang_en": "4", "lang_yue": "7", "lang_ja": "11", "lang_ko": "12",
        "neg_mean": ",".join(map(str, -mean)), "inv_stddev": ",".join(map(str, 1 / deviation)),
    }  # fmt: skip
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, "F", size])]
    _save(folder / "model.int8.onnx", nodes, inputs, outputs, arrays, metadata)
    _write_vocabulary(folder / "tokens.txt", SENSE_VOICE_PIECES)
    return folder


def _training_frames() -> tuple[np.ndarray, np.ndarray]:
    features, labels = [], []
    for token in (0, *SENSE_VOICE_HZ):
        seconds = 1.0
        tone = spoken([token], SENSE_VOICE_HZ, seconds=seconds)[5120:-5120] if token else 1e-4 * np.ones(16_000)
        rng = np.random.default_rng(token)
        tone = (tone + 1e-4 * rng.standard_normal(len(tone))).astype(np.float32)
        fbank = kaldi_fbank(Waveform(tone * np.float32(32_768), RATE), subtract_mean=False, has_hamming_window=True)
        stacked = [fbank[start : start + 7].ravel() for start in range(len(fbank) - 6)]
        features += stacked
        labels += [token] * len(stacked)
    return np.array(features, np.float64), np.array(labels)


def _write_vocabulary(path: Path, pieces: tuple[str, ...]) -> None:
    path.write_text("".join(f"{piece} {number}\n" for number, piece in enumerate(pieces)), "utf-8")


def _save(
    path: Path,
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    outputs: list[onnx.ValueInfoProto],
    arrays: dict[str, np.ndarray],
    metadata: dict[str, str] | None = None,
) -> None:
    initializers = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, path.stem, inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    for key, value in (metadata or {}).items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    onnx.save(model, str(path))
