"""Reader of the speakers in a model's ``spk2info.pt`` (SPECIFICATION.md, B8), without PyTorch.

The window and the command line list speakers, and must not import PyTorch. The file is a zip archive of a pickle and of
the numbers of each tensor. The pickle may contain only the names that such a file needs, so it cannot run code.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.errors import BadVoiceFile
from studio.storage.disk import require_regular_file

_EMBEDDING_SIZE = 192
_MAX_BYTES = 1 << 28
_MAX_PICKLE_BYTES = 1 << 22
_MAX_SPEAKERS = 10_000
# Not the types themselves, which a pickle could call.
_NUMBER_TYPES = {
    "FloatStorage": np.dtype(np.float32), "DoubleStorage": np.dtype(np.float64), "HalfStorage": np.dtype(np.float16),
    "IntStorage": np.dtype(np.int32), "LongStorage": np.dtype(np.int64),
}  # fmt: skip
# All that dictionaries of tensors need, in pickle protocols 2 to 5.
_OPCODES = (
    pickle.PROTO, pickle.FRAME, pickle.STOP, pickle.MARK, pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE, pickle.BININT,
    pickle.BININT1, pickle.BININT2, pickle.LONG1, pickle.BINFLOAT, pickle.BINUNICODE, pickle.SHORT_BINUNICODE,
    pickle.EMPTY_DICT, pickle.EMPTY_LIST, pickle.EMPTY_TUPLE, pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3,
    pickle.APPEND, pickle.APPENDS, pickle.SETITEM, pickle.SETITEMS, pickle.BINPUT, pickle.LONG_BINPUT, pickle.MEMOIZE,
    pickle.BINGET, pickle.LONG_BINGET, pickle.GLOBAL, pickle.STACK_GLOBAL, pickle.REDUCE, pickle.BINPERSID,
)  # fmt: skip
_UNREADABLE = (
    pickle.UnpicklingError, zipfile.BadZipFile, OSError, EOFError, ValueError, LookupError, TypeError, AttributeError,
    ArithmeticError, AssertionError, NotImplementedError, MemoryError, RecursionError, RuntimeError,
)  # fmt: skip

_PythonUnpickler: Any = pickle._Unpickler

Embedding = npt.NDArray[np.float32]


def read_speakers(path: Path) -> dict[str, Embedding]:
    """Return the speakers that have only an embedding, by name. Raise ``BadVoiceFile``.

    Voices with prompt features are omitted: they are imported, not listed.
    """
    try:
        require_regular_file(path)
        with zipfile.ZipFile(path) as archive:
            entries = _load(archive)
            if not isinstance(entries, dict) or len(entries) > _MAX_SPEAKERS:
                raise _unreadable(path)
            return {
                name: _embedding(entry["embedding"])
                for name, entry in entries.items()
                if isinstance(name, str) and isinstance(entry, dict) and _is_speaker(entry)
            }
    except _UNREADABLE as error:
        raise _unreadable(path) from error


def _is_speaker(entry: dict[Any, Any]) -> bool:
    embedding = entry.get("embedding")
    return isinstance(embedding, _Tensor) and "flow_prompt_speech_token" not in entry


class _Tensor:
    """Part of a storage, which is read only if it is an embedding."""

    def __init__(self, storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.storage, self.offset, self.shape, self.strides = storage, offset, shape, strides


class _Storage:
    def __init__(self, archive: zipfile.ZipFile, name: str, dtype: np.dtype[Any]) -> None:
        self._archive, self._name, self._dtype = archive, name, dtype

    @cached_property
    def values(self) -> npt.NDArray[Any]:
        """The numbers, read once. Compressed ones are refused: a small file could expand to any size."""
        entry = self._archive.getinfo(self._name)
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > _MAX_BYTES:
            raise ValueError("the tensor is too large for a speaker")
        return np.frombuffer(self._archive.read(self._name), self._dtype)


def _embedding(tensor: _Tensor) -> Embedding:
    if tensor.shape not in ((1, _EMBEDDING_SIZE), (_EMBEDDING_SIZE,)) or tensor.strides[-1] != 1:
        raise ValueError("the tensor is not a speaker embedding")
    if not tensor.offset >= 0:
        raise ValueError("the tensor begins before its storage")
    values = tensor.storage.values[tensor.offset : tensor.offset + _EMBEDDING_SIZE].astype(np.float32)
    if values.shape != (_EMBEDDING_SIZE,) or not np.isfinite(values).all():
        raise ValueError("the embedding is incomplete")
    return values


def _load(archive: zipfile.ZipFile) -> object:
    (pickled,) = (name for name in archive.namelist() if name.endswith("/data.pkl") or name == "data.pkl")
    if archive.getinfo(pickled).file_size > _MAX_PICKLE_BYTES:
        raise ValueError("the list of speakers is too large")
    return _SpeakerUnpickler(archive, pickled.removesuffix("data.pkl")).load()


class _SpeakerUnpickler(_PythonUnpickler):  # type: ignore[misc]
    """Allows dictionaries with names as keys, and tensors.

    The ``Unpickler`` in C allocates its memo by the largest index, of which a file of 139 bytes can ask gigabytes. In
    this one the memo is a dictionary.
    """

    dispatch: dict[int, Callable[..., None]]

    def __init__(self, archive: zipfile.ZipFile, prefix: str) -> None:
        super().__init__(io.BytesIO(archive.read(f"{prefix}data.pkl")))
        self._archive, self._prefix = archive, prefix
        self._storages: dict[tuple[str, str], _Storage] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild_tensor
        if (module, name) == ("collections", "OrderedDict"):
            return _empty_dictionary
        if module == "torch" and name in _NUMBER_TYPES:
            return _NUMBER_TYPES[name]
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed")

    def persistent_load(self, saved: Any) -> _Storage:
        kind, dtype, key, _device, _size = saved
        if kind != "storage" or not isinstance(key, str) or not isinstance(dtype, np.dtype):
            raise pickle.UnpicklingError("an unknown kind of object")
        if (key, dtype.str) not in self._storages:
            self._storages[key, dtype.str] = _Storage(self._archive, f"{self._prefix}data/{key}", dtype)
        return self._storages[key, dtype.str]

    def load_setitem(self) -> None:
        self._require_names(self.stack[-2:-1])
        _PythonUnpickler.load_setitem(self)

    def load_setitems(self) -> None:
        self._require_names(self.stack[::2])
        _PythonUnpickler.load_setitems(self)

    def _require_names(self, keys: list[object]) -> None:
        """Refuse other keys: the hash of a tuple that contains itself twice, 40 times over, takes for ever."""
        if not all(isinstance(key, str) for key in keys):
            raise pickle.UnpicklingError("a key that is not a name")


_SpeakerUnpickler.dispatch = {opcode[0]: _PythonUnpickler.dispatch[opcode[0]] for opcode in _OPCODES} | {
    pickle.SETITEM[0]: _SpeakerUnpickler.load_setitem,
    pickle.SETITEMS[0]: _SpeakerUnpickler.load_setitems,
}


def _empty_dictionary() -> dict[str, Any]:
    return {}


def _rebuild_tensor(storage: _Storage, offset: int, shape: Any, strides: Any, *_others: object) -> _Tensor:
    if not isinstance(storage, _Storage):
        raise pickle.UnpicklingError("a tensor without a storage")
    return _Tensor(storage, int(offset), tuple(map(int, shape)), tuple(map(int, strides)))


def _unreadable(path: Path) -> BadVoiceFile:
    return BadVoiceFile("The speakers in {file} cannot be read.", remedy="Download the model again.", file=path.name)
