"""Files of a trained speculator in the published layout "DSpark" (specification E9). Does not import torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studio.errors import BadModelSettings, DamagedModelFile, MissingModelFile, WrongTensors
from studio.paths import SPECULATOR_FOLDER
from studio.storage.json_input import read_json

SPECULATOR_LAYOUT = "dspark"  # the value of ``speculators_model_type``
SETTINGS_FILE, WEIGHTS_FILE = "config.json", "model.safetensors"
_REMEDY = "Remove it on the Models page (Ctrl+M), or install it again."
GENERATIONS_WITH_SPECULATORS = ("cosyvoice2", "cosyvoice3")  # that have published speculators
_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class DSparkConfig:
    """Settings from ``config.json``.

    Attributes:
        tapped_layers: Layers of the language model whose inputs the speculator reads.
        mask_id: Id of the mask token, in the ids of text and speech together.
        block_size: Number of tokens that are proposed in one run.
    """

    hidden_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    rope_theta: float
    rms_norm_eps: float
    tapped_layers: tuple[int, ...]
    mask_id: int
    block_size: int


def read_config(path: Path) -> DSparkConfig:
    """Read ``config.json``. Raise ``MissingModelFile``, ``DamagedModelFile``, ``BadModelSettings``."""
    if not path.is_file():
        raise MissingModelFile("{folder}/{file} is missing.", remedy=_REMEDY, folder=SPECULATOR_FOLDER, file=path.name)
    try:
        values = read_json(path)
        layer = values["transformer_layer_config"]
        rope = layer.get("rope_parameters") or layer
        config = DSparkConfig(
            hidden_size=int(layer["hidden_size"]),
            num_layers=int(layer["num_hidden_layers"]),
            num_heads=int(layer["num_attention_heads"]),
            num_kv_heads=int(layer["num_key_value_heads"]),
            head_size=int(layer.get("head_dim") or layer["hidden_size"] // layer["num_attention_heads"]),
            rope_theta=float(rope.get("rope_theta", 1_000_000.0)),
            rms_norm_eps=float(layer.get("rms_norm_eps", 1e-6)),
            tapped_layers=tuple(int(index) for index in values["aux_hidden_state_layer_ids"]),
            mask_id=int(values["mask_token_id"]),
            block_size=int(values["block_size"]),
        )
    except (ValueError, TypeError, AttributeError, OverflowError, ArithmeticError, OSError) as error:
        raise not_readable(path) from error
    except KeyError as error:
        raise BadModelSettings("{file} lacks {reason}.", remedy=_REMEDY, file=path.name, reason=error) from error
    is_supported = (
        values.get("speculators_model_type") == SPECULATOR_LAYOUT
        and values.get("markov_head_type", "vanilla") == "vanilla"
        and values.get("sample_from_anchor", True)
        and all(kind == "full_attention" for kind in layer.get("layer_types") or ())
    )
    sizes = (config.hidden_size, config.num_layers, config.num_heads, config.num_kv_heads, config.block_size)
    if not (
        is_supported
        and all(1 <= size <= _LARGEST for size in sizes)
        and config.block_size >= 2
        and config.num_heads % config.num_kv_heads == 0
        and config.head_size % 2 == 0
        and config.tapped_layers
    ):
        raise BadModelSettings("{file} describes a speculator of an unsupported kind.", remedy=_REMEDY, file=path.name)
    return config


def is_speculator(settings: object) -> bool:
    """Return whether the content of a ``config.json`` describes a speculator, supported or not."""
    return isinstance(settings, dict) and "speculators_model_type" in settings


def generation_of(settings: Any) -> str | None:
    """Return the generation for which a speculator was trained, according to its settings, or None."""
    try:
        trained_for = str(settings["speculators_config"]["verifier"]["name_or_path"]).casefold()
    except (LookupError, TypeError):
        return None
    found = [name for name in GENERATIONS_WITH_SPECULATORS if name in trained_for]
    return found[0] if len(found) == 1 else None


def require_weights(path: Path) -> None:
    """Raise ``MissingModelFile``."""
    if not path.is_file():
        raise MissingModelFile("{folder}/{file} is missing.", remedy=_REMEDY, folder=SPECULATOR_FOLDER, file=path.name)


def require_speculator(settings: Path, weights: Path, model_folder: Path) -> None:
    """Check that these files are a speculator of the model in ``model_folder``. Only the shapes of the weights are read.

    Raise ``MissingModelFile``, ``DamagedModelFile``, ``BadModelSettings``, ``WrongTensors``, and the errors of
    ``detect_generation`` and ``TextTokenizer.from_folder``.
    """
    from studio.model.generations import detect_generation  # noqa: PLC0415 - the list of models needs only the names
    from studio.text.tokenizer import TextTokenizer  # noqa: PLC0415

    config, shapes = read_config(settings), _shapes(weights)
    generation, document = detect_generation(model_folder)
    trained_for = generation_of(read_json(settings))
    if generation.text_folder is None or trained_for not in (None, generation.name):
        raise WrongTensors(
            "The speculator was not trained for {generation}.",
            remedy="Choose the one that was published for this model.",
            generation=generation.title,
        )
    text_folder = model_folder / generation.text_folder
    try:
        backbone = read_json(text_folder / "config.json")
        hidden_size, num_layers = int(backbone["hidden_size"]), int(backbone["num_hidden_layers"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedModelFile(
            "{file} is not readable.", remedy="Download the model again.", file="config.json"
        ) from error
    num_text = TextTokenizer.from_folder(text_folder, generation.text).num_tokens
    num_ids = num_text + document.root.section("llm").integer("speech_token_size")
    if max(config.tapped_layers) >= num_layers:
        raise wrong_tensor("aux_hidden_state_layer_ids")
    if shapes.get("fc.weight") != (config.hidden_size, len(config.tapped_layers) * hidden_size):
        raise wrong_tensor("fc.weight")
    for name in ("markov_head.markov_w1.weight", *({"embed_tokens.weight"} & shapes.keys())):
        if len(shapes.get(name, ())) != 2 or shapes[name][0] < num_ids:
            raise wrong_tensor(name)


def _shapes(path: Path) -> Mapping[str, tuple[int, ...]]:
    """Return the shapes of the tensors. Raise ``MissingModelFile``, ``DamagedModelFile``."""
    import safetensors  # noqa: PLC0415 - only for a check

    require_weights(path)
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 - not a dict
    except (OSError, safetensors.SafetensorError, ValueError) as error:
        raise not_readable(path) from error


def not_readable(path: Path) -> DamagedModelFile:
    return DamagedModelFile("{file} is not readable.", remedy=_REMEDY, file=path.name)


def wrong_tensor(name: str) -> WrongTensors:
    return WrongTensors(
        "In {file} of the speculator, {name} is missing or does not fit the model.",
        remedy=_REMEDY,
        file=WEIGHTS_FILE,
        name=name,
    )
