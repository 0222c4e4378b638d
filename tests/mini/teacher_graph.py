"""A small random graph with the structure and names of the decoder in the teacher's export."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from training.teacher.graph import ENERGY, F0, FEATURES, HARMONICS, SPECTRUM

_ROOT = "/decoder/decoder/"
TEXT, WIDTH, KNOWN, HARMONIC_CHANNELS, STYLE = 6, 8, 4, 22, 256


class _Graph:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, np.ndarray] = {}
        self._random = np.random.default_rng(4)

    def constant(self, name: str, value: Any) -> str:
        self.constants[name] = np.asarray(value)
        return name

    def weight(self, name: str, *shape: int) -> str:
        return self.constant(name, (self._random.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32))

    def add(self, kind: str, name: str, *inputs: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def convolve(
        self, module: str, x: str, sizes: tuple[int, int, int], *, root: str = _ROOT, **attributes: Any
    ) -> str:
        """Add a convolution (out, in, kernel); ``longer`` is the stride of one that lengthens its input."""
        num_out, num_in, kernel = sizes
        longer, group, has_bias = (
            attributes.pop(key, value) for key, value in (("longer", 0), ("group", 1), ("bias", True))
        )
        shape = (num_in, num_out // group, kernel) if longer else (num_out, num_in // group, kernel)
        inputs = [x, self.weight(f"{module}.weight", *shape)]
        if has_bias:
            inputs.append(self.weight(f"{module}.bias", num_out))
        settings = {"strides": [longer or attributes.pop("stride", 1)], "dilations": [1], "pads": [kernel // 2] * 2}
        kind = "ConvTranspose" if longer else "Conv"
        return self.add(kind, f"{root}{module}/{kind}_output_0", *inputs, group=group, **(settings | attributes))

    def normalize(self, module: str, x: str, channels: int) -> str:
        name = f"{_ROOT}{module}"
        product = self.add(
            "MatMul", f"{name}/fc/Gemm_output_0_MatMul", "tone", self.weight(f"{module}.fc", 128, 2 * channels)
        )
        both = self.add("Add", f"{name}/fc/Gemm_output_0", product, self.weight(f"{module}.fc.bias", 2 * channels))
        columns = self.add("Unsqueeze", f"{name}/Unsqueeze", both, "two")
        self.nodes.append(
            helper.make_node("Split", [columns], [f"{name}/gain", f"{name}/shift"], axis=1, num_outputs=2)
        )
        gain = self.add("Add", f"{name}/Add_1", f"{name}/gain", "one")
        normal = self.add(
            "InstanceNormalization", f"{name}/normal", x,
            self.constant(f"{module}.ones", np.ones(channels, np.float32)),
            self.constant(f"{module}.zeros", np.zeros(channels, np.float32)),
        )  # fmt: skip
        scaled = self.add("Mul", f"{name}/Mul_3", gain, normal)
        return self.add("Add", f"{name}/Add_3", scaled, f"{name}/shift")

    def decode(self, module: str, x: str, num_in: int, *, is_longer: bool = False) -> str:
        y = self.add("LeakyRelu", f"{_ROOT}{module}/actv", self.normalize(f"{module}/norm1", x, num_in), alpha=0.2)
        if is_longer:
            y = self.convolve(f"{module}/pool", y, (num_in, num_in, 3), longer=2, group=num_in, output_padding=[1])
            x = self.add("Resize", f"{module}/up", x, "", "twice", mode="nearest", nearest_mode="floor",
                         coordinate_transformation_mode="asymmetric")  # fmt: skip
        y = self.convolve(f"{module}/conv1", y, (WIDTH, num_in, 3))
        y = self.add("LeakyRelu", f"{_ROOT}{module}/actv_1", self.normalize(f"{module}/norm2", y, WIDTH), alpha=0.2)
        y = self.convolve(f"{module}/conv2", y, (WIDTH, WIDTH, 3))
        shortcut = self.convolve(f"{module}/conv1x1", x, (WIDTH, num_in, 1), bias=False)
        return self.add("Div", f"{module}/Div", self.add("Add", f"{module}/Add", y, shortcut), "root_of_two")

    def refine(self, module: str, x: str, channels: int, kernel: int) -> str:
        number = iter(range(99))
        for index, dilation in enumerate((1, 3, 5)):
            y = x
            for part in (1, 2):
                y = self.normalize(f"{module}/adain{part}.{index}", y, channels)
                name = f"{_ROOT}{module}/Mul_{next(number)}_output_0"
                frequency = self.weight(f"{name}.frequency", 1, channels, 1)
                angle = self.add("Mul", name, frequency, y)
                square = self.add("Pow", f"{name}/Pow", self.add("Sin", f"{name}/Sin", angle), "two_float")
                name = f"{_ROOT}{module}/Mul_{next(number)}_output_0"
                wave = self.add("Mul", name, self.weight(f"{name}.inverse", 1, channels, 1), square)
                y = self.add("Add", f"{name}/Add", y, wave)
                used = dilation if part == 1 else 1
                y = self.convolve(
                    f"{module}/convs{part}.{index}", y, (channels, channels, kernel),
                    dilations=[used], pads=[used * (kernel // 2)] * 2,
                )  # fmt: skip
            x = self.add("Add", f"{module}/sum_{index}", x, y)
        return x


def small_decoder() -> onnx.ModelProto:
    graph = _Graph()
    for name, value in (("one", 1.0), ("two_float", 2.0), ("three", 3.0), ("root_of_two", 2**0.5)):
        graph.constant(name, np.float32(value))
    graph.constant("two", np.array([2]))
    graph.constant("twice", np.array([1, 1, 2], np.float32))
    graph.constant("halves", np.array([128, 128]))
    graph.constant("ends", np.array([0, 0, 1, 0, 0, 0]))
    graph.nodes.append(helper.make_node("Split", ["style", "halves"], ["tone", "other"], axis=1))
    columns = [
        graph.add("Unsqueeze", f"{name}/columns", name, graph.constant("middle", np.array([1])))
        for name in (F0, ENERGY)
    ]
    pitch = graph.convolve("F0_conv", columns[0], (1, 1, 3), stride=2)
    power = graph.convolve("N_conv", columns[1], (1, 1, 3), stride=2)
    text = graph.convolve("asr_res/asr_res.0", FEATURES, (KNOWN, TEXT, 1), root="/decoder/")
    x = graph.decode("encode", graph.add("Concat", "first", FEATURES, pitch, power, axis=1), TEXT + 2)
    for number in range(4):
        joined = graph.add("Concat", f"joined_{number}", x, text, pitch, power, axis=1)
        x = graph.decode(f"decode.{number}", joined, WIDTH + KNOWN + 2, is_longer=number == 3)
    for stage, (channels, stride) in enumerate(((8, 10), (6, 6))):
        noise = graph.convolve(
            f"generator/noise_convs.{stage}", HARMONICS, (channels, HARMONIC_CHANNELS, 12 if stage == 0 else 1),
            strides=[6 if stage == 0 else 1], pads=[3, 3] if stage == 0 else [0, 0],
        )  # fmt: skip
        noise = graph.refine(f"generator/noise_res.{stage}", noise, channels, 7)
        x = graph.add("LeakyRelu", f"loud_{stage}", x, alpha=0.1)
        x = graph.convolve(
            f"generator/ups.{stage}", x, (channels, WIDTH, 2 * stride), longer=stride, pads=[stride // 2] * 2
        )
        if stage == 1:
            x = graph.add("Pad", "reflected", x, "ends", mode="reflect")
        x = graph.add("Add", f"with_noise_{stage}", x, noise)
        blocks = [
            graph.refine(f"generator/resblocks.{3 * stage + number}", x, channels, 3 + 4 * number)
            for number in range(3)
        ]
        x = graph.add("Div", f"mean_{stage}", graph.add("Sum", f"sum_{stage}", *blocks), "three")
    last = graph.add("LeakyRelu", "last", x, alpha=0.01)
    assert graph.convolve("generator/conv_post", last, (HARMONIC_CHANNELS, 6, 7)) == SPECTRUM
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        for name in (F0, ENERGY, FEATURES, "style", HARMONICS)
    ]
    output = helper.make_tensor_value_info(SPECTRUM, TensorProto.FLOAT, None)
    weights = [numpy_helper.from_array(value, name) for name, value in graph.constants.items()]
    made = helper.make_graph(graph.nodes, "decoder", inputs, [output], weights)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
