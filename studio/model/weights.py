"""Weight files: loaded without executing code, memory-mapped, and checked tensor by tensor."""

from __future__ import annotations

import ctypes
import os
import pickle
import re
import struct
import sys
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import safetensors
import torch
from safetensors.torch import load_file
from torch import nn
from torch.overrides import TorchFunctionMode

from studio.errors import BadModelSettings, DamagedModelFile, MissingModelFile, WrongTensors
from studio.messages import Message, listed, message
from studio.model.weight_files import parts_of

# Errors of torch.load for a damaged file.
LOAD_ERRORS = (
    RuntimeError, EOFError, OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError,
    AssertionError, MemoryError, struct.error, safetensors.SafetensorError,
)  # fmt: skip
_GAN_PREFIX = "generator."
# Added to all names by DistributedDataParallel and torch.compile.
_WRAPPER_PREFIXES = ("module.", "_orig_mod.")
# Where trainers store the tensors beside the state of the training.
_NESTED = ("module", "state_dict", "model_state_dict", "model")
_POINTER = b"version https://git-lfs"
_FORBIDDEN_CLASS = re.compile(r"GLOBAL ([\w.]+)")
_NAMES_SHOWN = 5
_MADV_DONTNEED = 4
# Tied tensors share their stored values. In the released models, two tensors do.
_MAX_VIEWS = 4
_Module = TypeVar("_Module", bound=nn.Module)


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a weight file by name, memory-mapped if the format allows it.

    The file may be a ``state_dict``, a checkpoint of a trainer that contains one, or safetensors. If it is the first of
    several parts, the others are read too. The prefixes of wrappers and ``generator.`` (specification A5) are removed
    from names. Raise ``MissingModelFile`` and ``DamagedModelFile`` (also for a pickle that would run code).
    """
    tensors: dict[str, torch.Tensor] = {}
    for part in parts_of(path):
        require_file(part)
        found = _state_dict(_load(part))
        if not found:
            raise DamagedModelFile(
                "{file} contains no named tensors.",
                remedy="Download the model again.",
                file=part.name,
            )
        _require_plain(found, part)
        tensors |= found
    tensors = _without_wrapper(tensors)
    # The rest of a network for adversarial training is the discriminator.
    generator = {name: tensor for name, tensor in tensors.items() if name.startswith(_GAN_PREFIX)}
    return {name.removeprefix(_GAN_PREFIX): tensor for name, tensor in (generator or tensors).items()}


def _load(path: Path) -> object:
    try:
        with path.open("rb") as file:
            head = file.read(len(_POINTER))
        if head == _POINTER:
            raise DamagedModelFile(
                "{file} is a pointer of Git LFS, not the file itself.",
                remedy="Run git lfs pull in its folder, or download the file.",
                file=path.name,
            )
        if head[8:10] == b'{"':  # after the length of the header
            return load_file(path)
        # Only the zip format can be mapped; the older format of torch before 1.6 is read into memory.
        return torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except pickle.UnpicklingError as error:
        if found := _FORBIDDEN_CLASS.search(str(error)):
            raise DamagedModelFile(
                "{file} contains an object of the class {name}, which could run code when opened.",
                remedy="Save only the state_dict of the network, or download the model from a source you trust.",
                file=path.name,
                name=found[1],
            ) from error
        raise DamagedModelFile(
            "{file} is not a plain weight file: it is damaged, or would run code when opened.",
            remedy="Do not use it; download the model again from a source you trust.",
            file=path.name,
        ) from error
    except LOAD_ERRORS as error:
        raise DamagedModelFile(
            "{file} cannot be read: it is truncated or damaged.", remedy="Download the model again.", file=path.name
        ) from error


def _state_dict(loaded: object) -> dict[str, torch.Tensor]:
    """Return the named tensors in a loaded file, without what trainers add to them; empty if there are none."""
    for _ in _NESTED:
        if isinstance(loaded, dict):
            loaded = next((loaded[name] for name in _NESTED if isinstance(loaded.get(name), dict)), loaded)
    if not isinstance(loaded, dict) or not all(isinstance(name, str) for name in loaded):
        return {}
    tensors = {name: value for name, value in loaded.items() if isinstance(value, torch.Tensor)}
    # Whole numbers count steps or averaged checkpoints.
    return {name: tensor for name, tensor in tensors.items() if tensor.dim() or tensor.is_floating_point()}


def _without_wrapper(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    while prefix := next((each for each in _WRAPPER_PREFIXES if all(name.startswith(each) for name in tensors)), None):
        tensors = {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
    return tensors


def require_file(path: Path) -> None:
    """Raise ``MissingModelFile`` if ``path`` is not a file."""
    if not path.is_file():
        raise MissingModelFile(
            "{file} is missing from the model folder {folder}.",
            remedy="Download the model again, or repair its folder.",
            file=path.name,
            folder=path.parent,
        )


def _require_plain(tensors: Mapping[str, torch.Tensor], path: Path) -> None:
    """Raise ``WrongTensors`` unless all are ordinary floating-point tensors, stored in full.

    Views that repeat a few stored values take no space in the file but fill the memory once copied.
    """
    strange = [name for name, tensor in tensors.items() if not (is_ordinary(tensor) and tensor.is_floating_point())]
    if strange:
        raise WrongTensors(
            "{file} contains tensors of an unsupported kind ({names}).",
            remedy="Download the model again.",
            file=path.name,
            names=_shown(strange),
        )
    if sum(tensor.nbytes for tensor in tensors.values()) > _MAX_VIEWS * path.stat().st_size:
        raise WrongTensors(
            "{file} describes far larger tensors than it contains.", remedy="Download the model again.", file=path.name
        )


def is_ordinary(tensor: torch.Tensor) -> bool:
    """Return whether a loaded tensor is dense, not nested, not quantised, and has values."""
    return (
        type(tensor) in (torch.Tensor, nn.Parameter)
        and tensor.layout is torch.strided
        and not tensor.is_nested
        and not tensor.is_quantized
        and tensor.device.type == "cpu"
    )


def fold_weight_norm(
    tensors: Mapping[str, torch.Tensor], *, file_name: str, dtype: torch.dtype = torch.float32
) -> dict[str, torch.Tensor]:
    """Return ``tensors`` with each weight-normalised pair, in either naming scheme, replaced by its weight.

    ``w = v * g / |v|`` with the norm over all but the first dimension (specification G2), in ``dtype``.
    Raise ``WrongTensors`` if the shapes of a pair do not match.
    """
    folded = dict(tensors)
    for gain_ending, direction_ending in (
        (".weight_g", ".weight_v"),
        (".parametrizations.weight.original0", ".parametrizations.weight.original1"),
    ):
        for name in [name for name in folded if name.endswith(gain_ending)]:
            layer = name.removesuffix(gain_ending)
            direction = folded.get(layer + direction_ending)
            if direction is None:
                continue  # load_weights reports the missing tensor
            if direction.dim() < 2 or folded[name].shape != (len(direction), *(1,) * (direction.dim() - 1)):
                raise WrongTensors(
                    "The two tensors that make up the weight of {layer} in {file} do not match.",
                    remedy="Download the model again.",
                    file=file_name,
                    layer=layer,
                )
            gain = folded.pop(name).to(dtype)
            direction = folded.pop(layer + direction_ending).to(dtype)
            norm = direction.flatten(1).norm(dim=1).view(gain.shape)
            folded[layer + ".weight"] = direction * (gain / norm)
    return folded


class _NoInitialValues(TorchFunctionMode):
    """Turns the functions of ``torch.nn.init`` into no-ops."""

    def __torch_function__(
        self, func: Callable[..., object], types: Iterable[type], args: tuple[object, ...] = (), kwargs: object = None
    ) -> object:
        named: dict[str, object] = kwargs if isinstance(kwargs, dict) else {}
        if getattr(func, "__module__", "") == "torch.nn.init":
            return named["tensor"] if "tensor" in named else args[0]
        return func(*args, **named)


def meta_init(build: Callable[[], _Module]) -> _Module:
    """Return the module that ``build`` creates, on the meta device: with shapes but no values.

    Initialisation is skipped as well, because on the meta device it makes torch import its compiler (1.5 s).
    Raise ``BadModelSettings`` if the sizes in the settings contradict each other.
    """
    try:
        with torch.device("meta"), _NoInitialValues():
            return build()
    except (RuntimeError, ValueError, ArithmeticError) as error:  # the checks of torch's own modules
        raise BadModelSettings(
            "The settings of the model describe an impossible network ({reason}).",
            remedy="Download the model again.",
            reason=error,
        ) from error


def load_weights(
    module: nn.Module,
    tensors: Mapping[str, torch.Tensor],
    *,
    file_name: str,
    dtype: torch.dtype = torch.float32,
    ignored: Collection[str] = (),
) -> None:
    """Load ``tensors`` into ``module`` (on the meta device) without copying those that already have type ``dtype``.

    ``ignored`` names may be present and are not used. Raise ``WrongTensors`` listing missing, unknown and
    misshapen tensors. Afterwards the module is frozen and in evaluation mode.
    """
    wanted = module.state_dict()
    missing = [name for name in wanted if name not in tensors]
    unexpected = [name for name in tensors if name not in wanted and name not in ignored]
    misshapen = [
        f"{name} {tuple(tensors[name].shape)} instead of {tuple(tensor.shape)}"
        for name, tensor in wanted.items()
        if name in tensors and tensors[name].shape != tensor.shape
    ]
    complaints: list[Message] = []
    if missing:
        complaints.append(message("missing: {names}", names=_shown(missing)))
    if unexpected:
        complaints.append(message("unknown: {names}", names=_shown(unexpected)))
    if misshapen:
        complaints.append(message("of wrong shape: {names}", names=_shown(misshapen)))
    if complaints:
        raise WrongTensors(
            "{file} does not match the settings of its model folder ({complaints}).",
            remedy="The folder mixes files of different models: download the model again.",
            file=file_name,
            complaints=listed(complaints),
        )
    typed = {name: tensors[name].to(dtype) if tensors[name].is_floating_point() else tensors[name] for name in wanted}
    module.load_state_dict(typed, strict=True, assign=True)
    module.requires_grad_(False)
    module.eval()


def _shown(names: list[str]) -> str | Message:
    shown = ", ".join(names[:_NAMES_SHOWN])
    num_more = len(names) - _NAMES_SHOWN
    return message("{names} and {num_more} more", names=shown, num_more=num_more) if num_more > 0 else shown


def release_freed_memory() -> None:
    """Return freed memory to the system, after many tensors of a few megabytes were allocated and freed.

    glibc keeps it between those that are still used. Other systems return it themselves.
    """
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(ctypes.c_size_t(0))


def release_pages(path: Path) -> None:
    """Release the pages of a mapped file that have been read. They are read again on the next access.

    This lowers peak memory while weights are repacked. It does nothing on systems other than Linux: they reclaim such
    pages when they need memory, but count them as used by the program until then.
    """
    if not sys.platform.startswith("linux"):
        return
    library = ctypes.CDLL(None, use_errno=True)
    name = os.path.realpath(path)
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            addresses, *_, mapped = line.rstrip("\n").split(maxsplit=5)
            if mapped == name:
                start, stop = (int(address, 16) for address in addresses.split("-"))
                library.madvise(ctypes.c_void_p(start), ctypes.c_size_t(stop - start), _MADV_DONTNEED)
