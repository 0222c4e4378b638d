"""Read-only containers of files that a model can be imported from: folder, zip or tar.

Members are never extracted under their own names: the caller reads the members it wants and chooses the names to write.
Links, devices, and names of files outside the folder are omitted.
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
from typing import IO

from studio.catalog.folders import is_safe_path
from studio.catalog.progress import CancelToken
from studio.errors import BadModelArchive, ModelNotFound
from studio.messages import Message, message

_MAX_MEMBERS = 10_000
# Raised by the libraries for damaged archives.
_ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error, EOFError),
    *(ValueError, IndexError),  # undecodable or empty names
    *(RuntimeError, MemoryError),  # encryption, unsupported compression, and impossible sizes
    OSError,  # invalid gzip data and disk errors
)


class Archive:
    """An open container of files. Library errors become ``BadModelArchive``."""

    sizes: Mapping[str, int]  # sizes in bytes by path with slashes, in the order that is fastest to read

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self, path: str) -> IO[bytes]:
        """Open a file for reading. Read it in a ``reading`` block."""
        with self.reading():
            return self._open_member(path)

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Turn library errors into ``BadModelArchive``. Archives are checked while they are read."""
        with _unpacking(self.path):
            yield

    def _open_member(self, path: str) -> IO[bytes]:
        raise NotImplementedError

    def close(self) -> None:
        """Close the files of the container."""


@contextlib.contextmanager
def open_archive(path: Path, stop: CancelToken) -> Iterator[Archive]:
    """Open a folder, zip or tar. Raise ``DownloadCancelled``, ``ModelNotFound``, ``BadModelArchive``."""
    if not os.path.exists(path):
        raise ModelNotFound("{path} does not exist.", remedy="Choose a folder or an archive.", path=path)
    with _unpacking(path):
        archive = _open(path, stop)
    with contextlib.closing(archive):
        yield archive


@contextlib.contextmanager
def _unpacking(path: Path) -> Iterator[None]:
    try:
        yield
    except _ARCHIVE_ERRORS as error:
        has_reason = isinstance(error, RuntimeError) or (isinstance(error, OSError) and error.errno)
        raise _bad_archive(path, error if has_reason else message("it is damaged or not an archive")) from error


def _bad_archive(path: Path, reason: Exception | Message) -> BadModelArchive:
    return BadModelArchive(
        "{file} cannot be read as an archive ({reason}).",
        remedy="Copy or export it again as a zip or tar archive.",
        file=path.name,
        reason=reason,
    )


def _open(path: Path, stop: CancelToken) -> Archive:
    if os.path.isdir(path):
        return _Folder(path)
    if not os.path.isfile(path):  # a pipe would block, and some devices never end
        raise _bad_archive(path, message("it is not an ordinary file"))
    # zipfile recognises a zip by its end, and a tar may end with weights, which are zip archives themselves.
    if zipfile.is_zipfile(path) and not tarfile.is_tarfile(path):
        return _Zip(path)
    return _Tar(path, stop)


class _Folder(Archive):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        # Links are allowed in a folder: the Hugging Face cache consists of them.
        found = [file for depth in ("*", "*/*", "*/*/*") for file in sorted(folder.glob(depth)) if file.is_file()]
        self.sizes = {file.relative_to(folder).as_posix(): file.stat().st_size for file in found[:_MAX_MEMBERS]}

    def _open_member(self, path: str) -> IO[bytes]:
        return (self.path / path).open("rb")


class _Zip(Archive):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._zip = zipfile.ZipFile(path)
        members = [info for info in self._zip.infolist()[:_MAX_MEMBERS] if not info.is_dir()]
        self._members = {info.filename: info for info in members if is_safe_path(info.filename)}
        self.sizes = {name: info.file_size for name, info in self._members.items()}

    def _open_member(self, path: str) -> IO[bytes]:
        return self._zip.open(self._members[path])

    def close(self) -> None:
        self._zip.close()


class _StoppableFile(io.FileIO):
    """A file whose reads check ``stop``, because listing a compressed tar unpacks all of it and takes minutes."""

    def __init__(self, path: Path, stop: CancelToken) -> None:
        super().__init__(path)
        self._stop = stop

    def read(self, size: int | None = -1, /) -> bytes:
        self._stop.check()
        return super().read(size)


class _Tar(Archive):
    def __init__(self, path: Path, stop: CancelToken) -> None:
        super().__init__(path)
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

    def _open_member(self, path: str) -> IO[bytes]:
        file = self._tar.extractfile(self._members[path])
        assert file is not None, "only regular files are members"
        return file

    def close(self) -> None:
        self._tar.close()
        self._file.close()
