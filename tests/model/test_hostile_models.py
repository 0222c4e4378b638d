"""Opening any model folder takes bounded time and memory and fails with an explanatory error."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.numpy import load_file
from torch import nn

from studio.errors import DamagedModelFile, StudioError, WrongTensors
from studio.export.provenance import licence_of_model
from studio.model.checkpoint import open_checkpoint
from studio.model.config import Precision
from studio.text.styles import load_styles

pytestmark = pytest.mark.timeout(120)
_MAX_MESSAGE = 600
FAMILIES = ("cosyvoice1", "cosyvoice2", "cosyvoice3")


@pytest.fixture
def folder(reference: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Copy a miniature model, which a test may damage."""
    family = getattr(request, "param", "cosyvoice3")
    copy = tmp_path / "model"
    shutil.copytree(reference / family / "checkpoint", copy)
    for path in (copy, *copy.rglob("*")):
        os.chmod(path, 0o755)
    return copy


def load(folder: Path) -> None:
    checkpoint = open_checkpoint(folder)
    checkpoint.load_speech_lm(Precision.FLOAT32, "cpu")
    checkpoint.load_flow(Precision.FLOAT32, "cpu")
    checkpoint.load_vocoder(Precision.FLOAT32, "cpu")


def refused(folder: Path, kind: type[StudioError] = StudioError) -> None:
    with pytest.raises(kind) as caught:
        load(folder)
    assert len(str(caught.value)) < _MAX_MESSAGE
    assert str(caught.value.remedy)


def bomb(depth: int, *, merged: bool = False) -> str:
    """Aliases of aliases: ten to the power of ``depth`` values in as many lines."""
    lines = ["a0: &a0 {k: v}" if merged else "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, depth + 1):
        aliases = ", ".join([f"*a{level - 1}"] * 10)
        lines.append(f"a{level}: &a{level} " + (f"{{<<: [{aliases}]}}" if merged else f"[{aliases}]"))
    return "\n".join(lines) + "\n"


def rewritten(folder: Path, change: Callable[[str], str]) -> None:
    path = next(folder.glob("cosyvoice*.yaml"))
    before = path.read_text("utf-8")
    after = change(before)
    assert after != before
    path.write_text(after, "utf-8")


def with_value(key: str, value: str) -> Callable[[str], str]:
    return lambda text: re.sub(rf"(?m)^(\s*{key}:).*$", rf"\g<1> {value}", text)


_FACTORS = "\n".join(
    [f"f{n}: !ref <f{n + 1}> * <f{n + 1}> * <f{n + 1}> * <f{n + 1}>" for n in range(7)] + ["f7: 65536"]
)
YAML = {
    "alias bomb of 4 levels": lambda text: bomb(4) + with_value("sample_rate", "*a4")(text),
    "alias bomb of 11 levels": lambda text: bomb(11) + with_value("sample_rate", "*a11")(text),
    "unused alias bomb": lambda text: bomb(11) + text,
    "merge bomb": lambda text: bomb(11, merged=True) + text,
    "alias of itself": lambda text: "a: &a [*a]\n" + with_value("sample_rate", "*a")(text),
    "reference to a bomb": lambda text: bomb(4) + with_value("sample_rate", "!ref <a4>")(text),
    "reference that is a list": with_value("sample_rate", "!ref [1, 2]"),
    "product of products": lambda text: _FACTORS + "\n" + with_value("sample_rate", "!ref <f0>")(text),
    "product of many": lambda text: "f: 1\n" + with_value("sample_rate", "!ref " + " * ".join(["<f>"] * 9999))(text),
    "integer of many digits": with_value("sample_rate", "0x" + 9999 * "f"),
    "decimal of many digits": with_value("sample_rate", 9999 * "9"),
    "sexagesimal float": with_value("sample_rate", "1" + ":59" * 500 + ".5"),
    "long word": with_value("sample_rate", 99_999 * "x"),
    "empty integer": with_value("sample_rate", '!!int ""'),
    "no time": with_value("sample_rate", "!!timestamp soon"),
    "no truth": with_value("sample_rate", "!!bool perhaps"),
    "key that cannot be one": lambda text: "? !x {a: 1}\n: 1\n" + text,
    "deep": with_value("sample_rate", "[" * 50_000),
    "huge": lambda text: text + "#" + " " * (1 << 19),
    "long class name": lambda text: re.sub(r"(?m)^llm: !new:\S+", "llm: !new:x." + 99_999 * "y", text),
    "mel bins": with_value("num_mels", "1048576"),
    "other mel bins": with_value("num_mels", "64"),
    "window shorter than the hop": with_value("win_size", "3"),
    "other speaker embedding": with_value("spk_embed_dim", "100"),
    "harmonics": with_value("nb_harmonics", "1048576"),
    "spectrum": with_value("n_fft", "1048576"),
    "kernel sizes": with_value("upsample_kernel_sizes", "[1048576, 1048576, 1048576]"),
    "many dilations": with_value("resblock_dilation_sizes", f"[[{', '.join(['1'] * 9999)}]]"),
    "infinite": with_value("inference_cfg_rate", ".inf"),
}  # fmt: skip
YAML_3 = {
    "depth": with_value("depth", "1000000"),
    "heads": with_value("heads", "1048576"),
    "width of heads": with_value("dim_head", "1048576"),
    "width": with_value("dim", "1048576"),
    "width that cannot be divided": with_value("dim", "1023"),
    "feed forward": with_value("ff_mult", "1048576"),
}
YAML_1 = {
    "layers": with_value("num_blocks", "1000000"),
    "heads": with_value("attention_heads", "1048576"),
    "width of heads": with_value("attention_head_dim", "1048576"),
    "width": with_value("llm_input_size", "1048576"),
    "width of layers": with_value("output_size", "1048576"),
    "width that cannot be divided": with_value("output_size", "63"),
    "other width": with_value("llm_input_size", "32"),
    "width of text": with_value("text_encoder_input_size", "1048576"),
    "feed forward": with_value("linear_units", "1048576"),
    "text tokens": with_value("text_token_size", "1073741824"),
    "speech tokens": with_value("speech_token_size", "1073741824"),
    "no speech tokens": with_value("speech_token_size", "0"),
    "other speech tokens": with_value("vocab_size", "511"),
    "middle stages": with_value("num_mid_blocks", "1000000"),
    "transformer blocks": with_value("n_blocks", "1000000"),
    "channels": with_value("channels", "[1048576, 1048576]"),
    "channels that cannot be normalised": with_value("channels", "[20, 20]"),
    "many channels": with_value("channels", f"[{', '.join(['32'] * 9999)}]"),
    "many convolutions": with_value("sampling_ratios", f"[{', '.join(['1'] * 9999)}]"),
    "no token rate": with_value("input_frame_rate", "0"),
    "no hop": with_value("hop_size", "0"),
    "speaker": with_value("spk_embed_dim", "1048576"),
    "vocoder of a later generation": with_value("upsample_rates", "[8, 5, 3]"),
    "attention to the future": with_value("static_chunk_size", "0"),
}


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["cosyvoice1", "cosyvoice3"], indirect=True)
@pytest.mark.parametrize("change", YAML.values(), ids=YAML)
def test_hostile_yaml_is_refused(folder: Path, change: Callable[[str], str]) -> None:
    rewritten(folder, change)
    refused(folder)


@pytest.mark.parametrize(
    ("folder", "change"),
    [("cosyvoice1", change) for change in YAML_1.values()] + [("cosyvoice3", change) for change in YAML_3.values()],
    indirect=["folder"],
    ids=[f"{family} {name}" for family, names in (("1", YAML_1), ("3", YAML_3)) for name in names],
)
def test_impossible_sizes_are_refused(folder: Path, change: Callable[[str], str]) -> None:
    rewritten(folder, change)
    refused(folder)


_DEEP_JSON = "[" * 200_000
CONFIG: dict[str, dict[str, object] | str] = {
    "layers": {"num_hidden_layers": 100_000},
    "positions": {"max_position_embeddings": 1 << 62},
    "no positions": {"max_position_embeddings": 0},
    "width": {"hidden_size": 1 << 20, "intermediate_size": 1 << 20},
    "infinite width": '{"vocab_size": 9, "hidden_size": 1e400}',
    "number of many digits": {"hidden_size": 10**400},
    "base of many digits": {"rope_theta": 10**400},
    "negative base": {"rope_theta": -1.0},
    "words": {"hidden_size": "896"},
    "truth": {"num_hidden_layers": True},
    "heads that cannot be shared": {"num_attention_heads": 4, "num_key_value_heads": 3},
    "odd width of heads": {"hidden_size": 21, "num_attention_heads": 7, "num_key_value_heads": 7},
    "deep": _DEEP_JSON,
    "surrogate": '{"vocab_size": "\\ud800"}',
    "list": "[1]",
    "null": "null",
}


@pytest.mark.parametrize("change", CONFIG.values(), ids=CONFIG)
def test_hostile_settings_of_the_text_model_are_refused(folder: Path, change: dict[str, object] | str) -> None:
    path = folder / "CosyVoice-BlankEN" / "config.json"
    text = change if isinstance(change, str) else json.dumps(json.loads(path.read_text("utf-8")) | change)
    path.write_text(text, "utf-8")
    refused(folder)


Tensors = dict[str, torch.Tensor]
TENSORS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "int32": lambda tensor: tensor.to(torch.int32),
    "bool": lambda tensor: tensor > 0,
    "complex": lambda tensor: tensor.to(torch.complex64),
    "sparse": lambda tensor: tensor.to_sparse(),
    "meta": lambda tensor: tensor.to("meta"),
    "zero size": lambda tensor: tensor[:0].clone(),
    "scalar": lambda tensor: tensor.flatten()[0].clone(),
    "flat": lambda tensor: tensor.flatten().clone(),
    "quantised": lambda tensor: torch.quantize_per_tensor(tensor, 0.1, 0, torch.qint8),
    "expanded": lambda _: torch.zeros(1).expand(1 << 18, 1 << 18),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llm.pt", "flow.pt", "hift.pt"])
@pytest.mark.parametrize("folder", FAMILIES, indirect=True)
@pytest.mark.parametrize("change", TENSORS.values(), ids=TENSORS)
@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated", "ignore:torch.quantize_per_tensor")
def test_unsupported_kinds_of_tensors_are_refused(
    folder: Path, name: str, change: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    tensors: Tensors = torch.load(folder / name, weights_only=True)
    key = next(key for key in reversed(tensors) if tensors[key].dim() > 1 and "lm_head" not in key)
    with torch.no_grad():
        tensors[key] = change(tensors[key].detach())
    torch.save(tensors, folder / name)
    refused(folder)


def transposed(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.transpose(0, 1).contiguous()


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["cosyvoice1", "cosyvoice3"], indirect=True)
@pytest.mark.parametrize("ending", ["original0", "original1"])
@pytest.mark.parametrize(
    "change",
    [transposed, torch.flatten, lambda tensor: tensor[:0].clone(), lambda _: torch.zeros(()), lambda t: t.int()],
    ids=["transposed", "flat", "zero size", "scalar", "integers"],
)
def test_mismatched_weight_normalisation_is_refused(
    folder: Path, ending: str, change: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    tensors: Tensors = torch.load(folder / "hift.pt", weights_only=True)
    key = next(key for key in tensors if key.endswith(ending) and tensors[key].shape[0] != tensors[key].shape[1])
    tensors[key] = change(tensors[key].detach())
    torch.save(tensors, folder / "hift.pt")
    refused(folder, WrongTensors)


class RunsCode:
    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, ("ran",)


def flip_bytes(path: Path) -> None:
    """Change the directory at the end of the archive."""
    content = bytearray(path.read_bytes())
    content[-200:-30] = bytes(byte ^ 0x55 for byte in content[-200:-30])
    path.write_bytes(content)


WEIGHTS: dict[str, tuple[Callable[[Path], object], str]] = {  # the change, and the code of the error
    "missing": (lambda path: path.unlink(), "missing-model-file"),
    "empty": (lambda path: path.write_bytes(b""), "damaged-model-file"),
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]), "damaged-model-file"),
    "changed": (flip_bytes, "damaged-model-file"),
    "words": (lambda path: path.write_text("version https://git-lfs.github.com/spec/v1\n"), "damaged-model-file"),
    "a folder": (lambda path: (path.unlink(), path.mkdir()), "missing-model-file"),
    "code": (lambda path: torch.save({"weight": RunsCode()}, path), "damaged-model-file"),
    "old code": (lambda path: path.write_bytes(pickle.dumps({"weight": RunsCode()}, 2)), "damaged-model-file"),
    "a list": (lambda path: torch.save([torch.zeros(3)], path), "damaged-model-file"),
    "nothing": (lambda path: torch.save({}, path), "damaged-model-file"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llm.pt", "flow.pt", "hift.pt"])
@pytest.mark.parametrize("folder", ["cosyvoice1", "cosyvoice3"], indirect=True)
@pytest.mark.parametrize(("change", "code"), WEIGHTS.values(), ids=WEIGHTS)
def test_unusable_weights_are_refused_by_name(
    folder: Path, name: str, change: Callable[[Path], object], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    change(folder / name)
    with pytest.raises(StudioError, match=re.escape(name)) as caught:
        load(folder)
    assert caught.value.code == code
    assert not (folder / "ran").exists()


@pytest.mark.slow
@pytest.mark.parametrize("folder", FAMILIES, indirect=True)
def test_many_views_of_a_few_values_are_refused(folder: Path) -> None:
    """Each tensor is no larger than the file, but copies would fill the memory."""
    tensors: Tensors = torch.load(folder / "hift.pt", weights_only=True)
    stored = torch.zeros(100_000)
    torch.save(tensors | {f"extra.{index}": stored for index in range(100_000)}, folder / "hift.pt")
    refused(folder, WrongTensors)


@pytest.mark.slow
@pytest.mark.parametrize("folder", FAMILIES, indirect=True)
def test_parameters_and_half_precision_are_accepted(folder: Path) -> None:
    tensors: Tensors = torch.load(folder / "flow.pt", weights_only=True)
    torch.save({name: nn.Parameter(tensor.half()) for name, tensor in tensors.items()}, folder / "flow.pt")
    load(folder)


@pytest.mark.parametrize(
    ("folder", "other"),
    [("cosyvoice1", "cosyvoice2"), ("cosyvoice2", "cosyvoice3"), ("cosyvoice3", "cosyvoice1")],
    indirect=["folder"],
)
def test_the_speech_tokenizer_of_another_generation_is_refused(folder: Path, reference: Path, other: str) -> None:
    """Its inputs are the same, but not its tokens or their number."""
    checkpoint = open_checkpoint(folder)
    source = next((reference / other / "checkpoint").glob("speech_tokenizer_v*.onnx"))
    shutil.copyfile(source, folder / checkpoint.generation.speech_tokenizer_file)
    log_mel = load_file(reference / "inputs" / "features.safetensors")["prompt_a/whisper_mel"][0]
    with pytest.raises(DamagedModelFile, match=checkpoint.generation.speech_tokenizer_file):
        checkpoint.load_speech_tokenizer(1).tokenize(log_mel)


needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


def load_all(folder: Path) -> None:
    checkpoint = open_checkpoint(folder)
    checkpoint.weights_key()
    load(folder)
    checkpoint.load_text_tokenizer()
    checkpoint.load_speech_tokenizer(1)
    checkpoint.load_speaker_encoder(1)


COMMON_FILES = ("llm.pt", "flow.pt", "hift.pt", "campplus.onnx")
FILES = {
    "cosyvoice1": ("cosyvoice.yaml", *COMMON_FILES, "speech_tokenizer_v1.onnx"),
    "cosyvoice3": (
        "cosyvoice3.yaml", *COMMON_FILES, "speech_tokenizer_v3.onnx", "CosyVoice-BlankEN/config.json",
        "CosyVoice-BlankEN/vocab.json",
    ),
}  # fmt: skip


@pytest.mark.slow
@needs_pipes
@pytest.mark.parametrize(
    ("folder", "name"), [(family, name) for family, names in FILES.items() for name in names], indirect=["folder"]
)
def test_a_named_pipe_in_place_of_a_model_file_is_refused(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(StudioError, match=re.escape(Path(name).name)):
        load_all(folder)


@needs_pipes
def test_named_pipes_in_place_of_optional_files_do_not_block(folder: Path) -> None:
    (folder / "README.md").unlink()
    for name in ("styles.json", "README.md", "CosyVoice-BlankEN/respellings.txt"):
        os.mkfifo(folder / name)
    assert licence_of_model(folder) == ""
    with pytest.raises(DamagedModelFile, match=r"styles\.json"):
        load_styles("cosyvoice3", folder)
    with pytest.raises(DamagedModelFile, match=r"respellings\.txt"):
        open_checkpoint(folder).load_text_tokenizer()
