"""Stand-ins for what lies before the speech language model: text vocabulary, speech tokenizer, speaker encoder.

They keep the official signatures (specification D1, B4) and are far smaller than the released ones:
how long a voice takes to prepare is not to be learned from them.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from studio.bench.onnx_writer import ElementType, Node, Port, onnx_bytes
from studio.json_input import read_json

_WIDTH = 64
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
    """``vocab.json``, ``merges.txt`` and ``tokenizer_config.json``: byte-level BPE, special tokens from ``num_entries`` on.

    A few merges are learned; the rest of the entries are names that no text ever becomes.
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
    """``input`` (1, T, 80) float32 to ``output`` (1, 192): mean and spread over time of one random layer."""
    random = np.random.default_rng(seed)
    weights: dict[str, npt.NDArray[np.generic]] = {
        "into": _normal(random, (80, _WIDTH), 1 / 9),
        "shift": _normal(random, (_WIDTH,), 0.1),
        "out_of": _normal(random, (2 * _WIDTH, _SPEAKER_EMBEDDING_SIZE), 1 / math.sqrt(_WIDTH)),
    }
    nodes = [
        Node("MatMul", ["input", "into"], "projected"),
        Node("Add", ["projected", "shift"], "shifted"),
        Node("Tanh", ["shifted"], "hidden"),
        Node("ReduceMean", ["hidden"], "mean", {"axes": [1], "keepdims": 0}),
        Node("Mul", ["hidden", "hidden"], "squared"),
        Node("ReduceMean", ["squared"], "power", {"axes": [1], "keepdims": 0}),
        Node("Sqrt", ["power"], "spread"),
        Node("Concat", ["mean", "spread"], "pooled", {"axis": 1}),
        Node("MatMul", ["pooled", "out_of"], "output"),
    ]
    inputs = [Port("input", ElementType.FLOAT, ["batch", "frames", 80])]
    output = Port("output", ElementType.FLOAT, ["batch", _SPEAKER_EMBEDDING_SIZE])
    path.write_bytes(onnx_bytes(nodes, inputs, output, weights))


def write_speech_tokenizer(path: Path, seed: int, num_speech_tokens: int) -> None:
    """``feats`` (1, 128, T), ``feats_length`` (1,) int32 to ``indices`` (1, T/4) int32.

    Two convolutions of stride 2, then finite scalar quantisation to three levels a digit (D2).
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
    halving = {"kernel_shape": [3], "pads": [1, 1], "strides": [2]}
    nodes = [
        # Zeros for whatever lies past feats_length.
        Node("Shape", ["feats"], "shape"),
        Node("Gather", ["shape", "time_axis"], "frames_long"),
        Node("Cast", ["frames_long"], "frames", {"to": ElementType.INT32}),
        Node("Range", ["zero_frame", "frames", "one_frame"], "position"),
        Node("Less", ["position", "feats_length"], "is_sound"),
        Node("Cast", ["is_sound"], "mask", {"to": ElementType.FLOAT}),
        Node("Mul", ["feats", "mask"], "masked"),
        Node("Conv", ["masked", "kernel1", "bias1"], "half_rate", halving),
        Node("Tanh", ["half_rate"], "hidden"),
        Node("Conv", ["hidden", "kernel2", "bias2"], "quarter_rate", halving),
        Node("Tanh", ["quarter_rate"], "bounded"),
        Node("Mul", ["bounded", "nearly_one"], "inside"),
        Node("Round", ["inside"], "level"),
        Node("Add", ["level", "one"], "digit"),
        Node("Mul", ["digit", "powers"], "weighted"),
        Node("ReduceSum", ["weighted", "digit_axis"], "number", {"keepdims": 0}),
        Node("Min", ["number", "last_token"], "limited"),
        Node("Cast", ["limited"], "indices", {"to": ElementType.INT32}),
    ]
    inputs = [Port("feats", ElementType.FLOAT, [1, 128, "frames"]), Port("feats_length", ElementType.INT32, [1])]
    output = Port("indices", ElementType.INT32, [1, "tokens"])
    path.write_bytes(onnx_bytes(nodes, inputs, output, weights))


def _normal(random: np.random.Generator, shape: tuple[int, ...], deviation: float) -> FloatArray:
    return (deviation * random.standard_normal(shape)).astype(np.float32)
