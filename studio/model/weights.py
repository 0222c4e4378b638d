"""Weight files: read without executing anything, mapped rather than copied, every name accounted for."""

from __future__ import annotations

import ctypes
import os
import pickle
import struct
import sys
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from studio.errors import BadModelSettings, DamagedModelFile, MissingModelFile, WrongTensors
from studio.wording import Message, listed, wording

# What torch.load raises for a damaged file: whatever its unpickler ran into.
LOAD_ERRORS = (
    RuntimeError, EOFError, OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError,
    AssertionError, MemoryError, struct.error,
)  # fmt: skip
_GAN_PREFIX = "generator."
_NAMES_SHOWN = 5
_MADV_DONTNEED = 4
# Tied tensors share what the file holds once: in the released models two do.
_MOST_VIEWS = 4
_Module = TypeVar("_Module", bound=nn.Module)


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a ``.pt`` file by name, memory-mapped where its format allows.

    A leading ``generator.`` is dropped from names (specification A5).
    Raises ``MissingModelFile`` and ``DamagedModelFile`` (also for a pickle that wants to run code).
    """
    if not path.is_file():
        raise MissingModelFile(
            "{file} is missing from the model folder {folder}.",
            remedy="Download the model again, or repair its folder.",
            file=path.name,
            folder=path.parent,
        )
    try:
        # Only the zip format can be mapped; the format before torch 1.6 is read into memory.
        loaded = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except pickle.UnpicklingError as error:
        raise DamagedModelFile(
            "{file} is not a plain weight file: it is damaged, or wants to run code when opened.",
            remedy="Do not use it; download the model again from a source you trust.",
            file=path.name,
        ) from error
    except LOAD_ERRORS as error:
        raise DamagedModelFile(
            "{file} cannot be read: it is truncated or damaged.", remedy="Download the model again.", file=path.name
        ) from error
    if not isinstance(loaded, dict) or not all(
        isinstance(name, str) and isinstance(tensor, torch.Tensor) for name, tensor in loaded.items()
    ):
        raise DamagedModelFile(
            "{file} holds something other than named tensors.", remedy="Download the model again.", file=path.name
        )
    _require_plain(loaded, path)
    return {name.removeprefix(_GAN_PREFIX): tensor for name, tensor in loaded.items()}


def _require_plain(tensors: Mapping[str, torch.Tensor], path: Path) -> None:
    """Raise ``WrongTensors`` unless all are ordinary floating-point tensors that the file holds in full.

    Views that repeat a few stored values take no room in the file, and all memory once they are copied.
    """
    strange = [name for name, tensor in tensors.items() if not (is_ordinary(tensor) and tensor.is_floating_point())]
    if strange:
        raise WrongTensors(
            "{file} holds tensors of a kind that a model does not have ({names}).",
            remedy="Download the model again.",
            file=path.name,
            names=_shown(strange),
        )
    if sum(tensor.nbytes for tensor in tensors.values()) > _MOST_VIEWS * path.stat().st_size:
        raise WrongTensors(
            "{file} describes far larger tensors than it holds.", remedy="Download the model again.", file=path.name
        )


def is_ordinary(tensor: torch.Tensor) -> bool:
    """Return whether a tensor from a file is neither sparse, nested nor quantised, and has values."""
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
    """Replace each pair of weight normalisation, in either spelling, by the weight it stands for.

    ``w = v * g / |v|`` with the norm over all but the first dimension (specification G2), in ``dtype``.
    Raise ``WrongTensors`` for a pair that does not fit together.
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
                continue  # the missing half is named when the module is filled
            if direction.dim() < 2 or folded[name].shape != (len(direction), *(1,) * (direction.dim() - 1)):
                raise WrongTensors(
                    "In {file}, the two tensors of the weight of {layer} do not fit together.",
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
    """Leaves parameters as they are allocated: every function of ``torch.nn.init`` does nothing."""

    def __torch_function__(
        self, func: Callable[..., object], types: Iterable[type], args: tuple[object, ...] = (), kwargs: object = None
    ) -> object:
        named: dict[str, object] = kwargs if isinstance(kwargs, dict) else {}
        if getattr(func, "__module__", "") == "torch.nn.init":
            return named["tensor"] if "tensor" in named else args[0]
        return func(*args, **named)


def meta_init(build: Callable[[], _Module]) -> _Module:
    """Return the module that ``build`` makes, with shapes and no values, to be filled.

    The meta device alone would do, but drawing initial values there makes torch import its compiler (1.5 s).
    Raise ``BadModelSettings`` where the sizes in the settings do not fit each other.
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
    """Puts ``tensors`` into ``module`` (made on the meta device) without copying those already of ``dtype``.

    ``ignored`` are names that may be in the file and are not used. Raises ``WrongTensors`` naming every
    kind of disagreement. The module is left frozen and in evaluation mode.
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
        complaints.append(wording("missing: {names}", names=_shown(missing)))
    if unexpected:
        complaints.append(wording("unknown: {names}", names=_shown(unexpected)))
    if misshapen:
        complaints.append(wording("of another shape: {names}", names=_shown(misshapen)))
    if complaints:
        raise WrongTensors(
            "{file} does not fit the settings of its model folder ({complaints}).",
            remedy="The folder mixes files of different models: download the model again.",
            file=file_name,
            complaints=listed(complaints),
        )
    module.load_state_dict({name: _as(tensors[name], dtype) for name in wanted}, strict=True, assign=True)
    module.requires_grad_(False)
    module.eval()


def _shown(names: list[str]) -> str | Message:
    shown = ", ".join(names[:_NAMES_SHOWN])
    num_more = len(names) - _NAMES_SHOWN
    return wording("{names} and {num_more} more", names=shown, num_more=num_more) if num_more > 0 else shown


def _as(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def release_pages(path: Path) -> None:
    """Lets go of what has been read of a mapped file; touching it again reads it again.

    Keeps the peak low while weights are copied into another layout. Only on Linux: elsewhere the system
    takes such pages when it needs them, but counts them as the program's until then.
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
