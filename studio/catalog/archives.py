"""Read-only file containers that a model can be imported from: folder, zip or tar.

Members are never extracted by their own names: the caller reads those it wants and chooses the names to write. Links,
devices and names that lead out of the folder are left out.
"""

from __future__ import annotations

import contextlib
import io
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol, Self

from studio.catalog.cancellation import CancelToken
from studio.catalog.file_names import is_safe_path
from studio.errors import BadModelArchive, ModelNotFound
from studio.messages import Message, wording

_MAX_MEMBERS = 10_000
# Raised by the libraries for damaged archives.
_ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error, EOFError),
    *(ValueError, IndexError),  # undecodable or empty names
    *(RuntimeError, MemoryError),  # encrypted or unsupported compression; absurd sizes
    OSError,  # gzip and the disk
)


class ArchiveReader(Protocol):
    """A container of files. ``sizes``: bytes by path (with slashes), in the order that is fastest to read."""

    @property
    def sizes(self) -> Mapping[str, int]: ...

    def open(self, path: str) -> IO[bytes]: ...

    def close(self) -> None: ...


class OpenArchive:
    """An open container whose library errors become ``BadModelArchive``. Close it with ``with``."""

    def __init__(self, path: Path, stop: CancelToken) -> None:
        """Open ``path``. Raise ``DownloadCancelled``, ``ModelNotFound``, ``BadModelArchive``."""
        self._path = path
        if not os.path.exists(path):
            raise ModelNotFound("{path} does not exist.", remedy="Choose a folder or an archive.", path=path)
        with _unpacking(path):
            self._reader = _open(path, stop)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reader.close()

    @property
    def sizes(self) -> Mapping[str, int]:
        return self._reader.sizes

    def open(self, path: str) -> IO[bytes]:
        with _unpacking(self._path):
            return self._reader.open(path)

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Turn library errors into ``BadModelArchive``; archives are checked while they are read."""
        with _unpacking(self._path):
            yield


@contextlib.contextmanager
def _unpacking(path: Path) -> Iterator[None]:
    try:
        yield
    except _ARCHIVE_ERRORS as error:
        is_readable = isinstance(error, RuntimeError) or (isinstance(error, OSError) and error.errno)
        raise _bad_archive(path, error if is_readable else wording("it is damaged or not an archive")) from error


def _bad_archive(path: Path, reason: Exception | Message) -> BadModelArchive:
    return BadModelArchive(
        "{file} cannot be read as an archive ({reason}).",
        remedy="Copy or export it again as a zip or tar archive.",
        file=path.name,
        reason=reason,
    )


def _open(path: Path, stop: CancelToken) -> ArchiveReader:
    if os.path.isdir(path):
        return _Folder(path)
    if not os.path.isfile(path):  # a pipe would block, and some devices never end
        raise _bad_archive(path, wording("it is not an ordinary file"))
    # zipfile recognises a zip by its end, and a tar may end with weights, which are zip archives themselves.
    if zipfile.is_zipfile(path) and not tarfile.is_tarfile(path):
        return _Zip(path)
    return _Tar(path, stop)


class _Folder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Links are allowed in a folder: the Hugging Face cache consists of them.
        found = [file for depth in ("*", "*/*", "*/*/*") for file in sorted(folder.glob(depth)) if file.is_file()]
        self.sizes = {file.relative_to(folder).as_posix(): file.stat().st_size for file in found[:_MAX_MEMBERS]}

    def open(self, path: str) -> IO[bytes]:
        return (self._folder / path).open("rb")

    def close(self) -> None:
        """Do nothing."""


class _Zip:
    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path)
        members = [info for info in self._zip.infolist()[:_MAX_MEMBERS] if not info.is_dir()]
        self._members = {info.filename: info for info in members if is_safe_path(info.filename)}
        self.sizes = {name: info.file_size for name, info in self._members.items()}

    def open(self, path: str) -> IO[bytes]:
        return self._zip.open(self._members[path])

    def close(self) -> None:
        self._zip.close()


class _StoppableFile(io.FileIO):
    """A file whose reads check ``stop``: listing a compressed tar unpacks all of it, which takes minutes."""

    def __init__(self, path: Path, stop: CancelToken) -> None:
        super().__init__(path)
        self._stop = stop

    def read(self, size: int | None = -1, /) -> bytes:
        self._stop.check()
        return super().read(size)


class _Tar:
    def __init__(self, path: Path, stop: CancelToken) -> None:
        self._file = _StoppableFile(path, stop)
        try:
            self._tar = tarfile.open(fileobj=self._file)  # noqa: SIM115 - closed in close()
            self._members = self._read_members()
        except BaseException:
            self._file.close()
            raise
        self.sizes = {name: member.size for name, member in self._members.items()}

    def _read_members(self) -> dict[str, tarfile.TarInfo]:
        members: dict[str, tarfile.TarInfo] = {}
        for member in self._tar:
            name = member.name.removeprefix("./")
            if member.isreg() and is_safe_path(name):
                members[name] = member
            if len(members) > _MAX_MEMBERS:
                break
        return members

    def open(self, path: str) -> IO[bytes]:
        file = self._tar.extractfile(self._members[path])
        assert file is not None, "only regular files are members"
        return file

    def close(self) -> None:
        self._tar.close()
        self._file.close()
