"""Random front end: text vocabulary, speech tokenizer, speaker encoder.

They have the official signatures (specification D1, B4) but are much smaller than the released ones, so the time for
preparing a voice is not realistic.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from studio.storage.json_input import read_json

_IR_VERSION, _OPERATOR_SET = 8, 13
_WIDTH = 64
_FRAME_RATE = 100  # of the tokenizer's input
_SPEAKER_EMBEDDING_SIZE = 192
_LEARNED_ENTRIES = 2000
_SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_SENTENCES = (
    "The quick brown fox jumps over the lazy dog while the rain keeps falling on the old harbour.",
    "A voice is learned from a few seconds of speech, and then it reads whatever is written here.",
    "Please read the following sentence slowly, with a warm and friendly voice.",
    "She said that they would come back before the end of the week, didn't she?",
    "You are a helpful assistant.",
    "今天的天气很好，我们一起去公园散步吧。",
    "请用一句话介绍你自己，然后说说你的家乡。",
    "他停下来笑了笑，又继续讲那个很长的故事。",
    "这是一个用来检查速度的句子，没有别的意思。",
)

FloatArray = npt.NDArray[np.float32]


def write_text_vocabulary(folder: Path, num_entries: int) -> None:
    """Write ``vocab.json``, ``merges.txt`` and ``tokenizer_config.json``. Special tokens start at ``num_entries``.

    The byte-level BPE vocabulary has a few learned merges. The other entries never match a text.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=min(num_entries, _LEARNED_ENTRIES),
        min_frequency=1,
        show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )
    tokenizer.train_from_iterator(_SENTENCES, trainer)
    tokenizer.model.save(str(folder))
    path = folder / "vocab.json"
    vocabulary: dict[str, int] = read_json(path)
    vocabulary |= {f"⟨unused {index}⟩": index for index in range(len(vocabulary), num_entries)}
    path.write_text(json.dumps(vocabulary, ensure_ascii=False), "utf-8")
    settings = {
        "add_prefix_space": False,
        "added_tokens_decoder": {
            str(num_entries + index): {
                "content": content,
                "lstrip": False,
                "normalized": False,
                "rstrip": False,
                "single_word": False,
                "special": True,
            }
            for index, content in enumerate(_SPECIAL_TOKENS)
        },
        "additional_special_tokens": list(_SPECIAL_TOKENS[1:]),
        "bos_token": None,
        "eos_token": _SPECIAL_TOKENS[0],
        "errors": "replace",
        "model_max_length": 32_768,
        "pad_token": _SPECIAL_TOKENS[0],
        "tokenizer_class": "Qwen2Tokenizer",
        "unk_token": None,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1), "utf-8")


def write_speaker_encoder(path: Path, seed: int) -> None:
    """Write a network from ``input`` (1, T, 80) to ``output`` (1, 192): mean and deviation of one random layer."""
    random = np.random.default_rng(seed)
    weights: dict[str, npt.NDArray[np.generic]] = {
        "into": _normal(random, (80, _WIDTH), 1 / 9),
        "shift": _normal(random, (_WIDTH,), 0.1),
        "out_of": _normal(random, (2 * _WIDTH, _SPEAKER_EMBEDDING_SIZE), 1 / math.sqrt(_WIDTH)),
    }
    nodes = [
        helper.make_node("MatMul", ["input", "into"], ["projected"]),
        helper.make_node("Add", ["projected", "shift"], ["shifted"]),
        helper.make_node("Tanh", ["shifted"], ["hidden"]),
        helper.make_node("ReduceMean", ["hidden"], ["mean"], axes=[1], keepdims=0),
        helper.make_node("Mul", ["hidden", "hidden"], ["squared"]),
        helper.make_node("ReduceMean", ["squared"], ["power"], axes=[1], keepdims=0),
        helper.make_node("Sqrt", ["power"], ["spread"]),
        helper.make_node("Concat", ["mean", "spread"], ["pooled"], axis=1),
        helper.make_node("MatMul", ["pooled", "out_of"], ["output"]),
    ]
    inputs = [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["batch", "frames", 80])]
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, ["batch", _SPEAKER_EMBEDDING_SIZE])
    _write_network(path, nodes, inputs, output, weights)


def write_speech_tokenizer(path: Path, seed: int, num_speech_tokens: int, *, token_rate: int = 25) -> None:
    """``feats`` (1, 128, T), ``feats_length`` (1,) int32 to ``indices`` (1, T/4) int32, or (1, T/2) at 50 tokens a second.

    Two convolutions, then finite scalar quantisation to three levels a digit (D2).
    """
    random = np.random.default_rng(seed)
    num_digits = math.ceil(math.log(num_speech_tokens, 3) - 1e-9)
    weights: dict[str, npt.NDArray[np.generic]] = {
        "kernel1": _normal(random, (_WIDTH, 128, 3), 1 / 8),
        "bias1": _normal(random, (_WIDTH,), 0.3),
        "kernel2": _normal(random, (num_digits, _WIDTH, 3), 1 / math.sqrt(_WIDTH)),
        "bias2": _normal(random, (num_digits,), 0.3),
        "nearly_one": np.array(0.999, np.float32),
        "one": np.array(1.0, np.float32),
        "powers": (3.0 ** np.arange(num_digits)).astype(np.float32)[:, None],
        "digit_axis": np.array([1], np.int64),
        "last_token": np.array(num_speech_tokens - 1, np.float32),
        "time_axis": np.array(2, np.int64),
        "zero_frame": np.array(0, np.int32),
        "one_frame": np.array(1, np.int32),
    }
    halving: dict[str, Any] = {"kernel_shape": [3], "pads": [1, 1], "strides": [2]}
    second = halving | {"strides": [_FRAME_RATE // (2 * token_rate)]}
    nodes = [
        # Zeros after feats_length.
        helper.make_node("Shape", ["feats"], ["shape"]),
        helper.make_node("Gather", ["shape", "time_axis"], ["frames_long"]),
        helper.make_node("Cast", ["frames_long"], ["frames"], to=TensorProto.INT32),
        helper.make_node("Range", ["zero_frame", "frames", "one_frame"], ["position"]),
        helper.make_node("Less", ["position", "feats_length"], ["is_sound"]),
        helper.make_node("Cast", ["is_sound"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["feats", "mask"], ["masked"]),
        helper.make_node("Conv", ["masked", "kernel1", "bias1"], ["half_rate"], **halving),
        helper.make_node("Tanh", ["half_rate"], ["hidden"]),
        helper.make_node("Conv", ["hidden", "kernel2", "bias2"], ["token_rate"], **second),
        helper.make_node("Tanh", ["token_rate"], ["bounded"]),
        helper.make_node("Mul", ["bounded", "nearly_one"], ["inside"]),
        helper.make_node("Round", ["inside"], ["level"]),
        helper.make_node("Add", ["level", "one"], ["digit"]),
        helper.make_node("Mul", ["digit", "powers"], ["weighted"]),
        helper.make_node("ReduceSum", ["weighted", "digit_axis"], ["number"], keepdims=0),
        helper.make_node("Min", ["number", "last_token"], ["limited"]),
        helper.make_node("Cast", ["limited"], ["indices"], to=TensorProto.INT32),
    ]
    inputs = [
        helper.make_tensor_value_info("feats", TensorProto.FLOAT, [1, 128, "frames"]),
        helper.make_tensor_value_info("feats_length", TensorProto.INT32, [1]),
    ]
    output = helper.make_tensor_value_info("indices", TensorProto.INT32, [1, "tokens"])
    _write_network(path, nodes, inputs, output, weights)


def _write_network(
    path: Path,
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    output: onnx.ValueInfoProto,
    weights: dict[str, npt.NDArray[np.generic]],
) -> None:
    tensors = [numpy_helper.from_array(np.ascontiguousarray(values), name) for name, values in weights.items()]
    graph = helper.make_graph(nodes, "random", inputs, [output], tensors)
    model = helper.make_model(graph, ir_version=_IR_VERSION, opset_imports=[helper.make_opsetid("", _OPERATOR_SET)])
    onnx.save(model, path)


def _normal(random: np.random.Generator, shape: tuple[int, ...], deviation: float) -> FloatArray:
    return (deviation * random.standard_normal(shape)).astype(np.float32)
