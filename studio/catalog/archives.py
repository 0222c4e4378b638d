"""Where a model may lie on this computer: a folder, a zip or a tar archive. Each is a box of named files.

Nothing is ever unpacked by the names that an archive gives its members: whoever reads a box asks for those it
wants and writes them under names of its own. Links, devices and names that lead out of a folder do not exist here.
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
from studio.wording import Message, wording

_MOST_MEMBERS = 10_000
_OF_DAMAGED_ARCHIVES = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error, EOFError),
    *(ValueError, IndexError),  # names that are no text, or none at all
    *(RuntimeError, MemoryError),  # encrypted, of an unusual compression; of absurd sizes
    OSError,  # gzip's and the disk's
)


class ArchiveReader(Protocol):
    """``sizes``: the files in it by path with slashes, in the order in which they are quick to read."""

    @property
    def sizes(self) -> Mapping[str, int]: ...

    def open(self, path: str) -> IO[bytes]: ...

    def close(self) -> None: ...


class OpenArchive:
    """Closes a box, and turns what its library says into ``BadModelArchive``."""

    def __init__(self, path: Path, stop: CancelToken) -> None:
        """Raises ``Stopped``, ``ModelNotFound``, ``BadModelArchive``."""
        self._path = path
        if not os.path.exists(path):
            raise ModelNotFound("There is no {path}.", remedy="Give a folder or an archive.", path=path)
        with _unpacking(path):
            self._box = _open(path, stop)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._box.close()

    @property
    def sizes(self) -> Mapping[str, int]:
        return self._box.sizes

    def open(self, path: str) -> IO[bytes]:
        with _unpacking(self._path):
            return self._box.open(path)

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Around reads: archives are checked while they are read."""
        with _unpacking(self._path):
            yield


@contextlib.contextmanager
def _unpacking(path: Path) -> Iterator[None]:
    try:
        yield
    except _OF_DAMAGED_ARCHIVES as error:
        says_something = isinstance(error, RuntimeError) or (isinstance(error, OSError) and error.errno)
        raise _no_archive(path, error if says_something else wording("it is damaged, or none")) from error


def _no_archive(path: Path, reason: Exception | Message) -> BadModelArchive:
    return BadModelArchive(
        "{file} cannot be read as an archive ({reason}).",
        remedy="Copy or export it again; a zip or tar archive is needed.",
        file=path.name,
        reason=reason,
    )


def _open(path: Path, stop: CancelToken) -> ArchiveReader:
    if os.path.isdir(path):
        return _Folder(path)
    if not os.path.isfile(path):  # a pipe waits for a writer, some devices never end
        raise _no_archive(path, wording("it is not an ordinary file"))
    # A tar archive may end with weights, which are zip archives themselves, and zip is recognised by its end.
    if zipfile.is_zipfile(path) and not tarfile.is_tarfile(path):
        return _Zip(path)
    return _Tar(path, stop)


class _Folder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # A hub's cache holds links to files elsewhere: in a folder of one's own they are fine.
        found = [file for depth in ("*", "*/*", "*/*/*") for file in sorted(folder.glob(depth)) if file.is_file()]
        self.sizes = {file.relative_to(folder).as_posix(): file.stat().st_size for file in found[:_MOST_MEMBERS]}

    def open(self, path: str) -> IO[bytes]:
        return (self._folder / path).open("rb")

    def close(self) -> None:
        """A folder needs none."""


class _Zip:
    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path)
        members = [info for info in self._zip.infolist()[:_MOST_MEMBERS] if not info.is_dir()]
        self._members = {info.filename: info for info in members if is_safe_path(info.filename)}
        self.sizes = {name: info.file_size for name, info in self._members.items()}

    def open(self, path: str) -> IO[bytes]:
        return self._zip.open(self._members[path])

    def close(self) -> None:
        self._zip.close()


class _StoppableFile(io.FileIO):
    """A compressed tar archive is unpacked once from end to end to learn what is in it: for minutes, with gigabytes."""

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
            self._tar = tarfile.open(fileobj=self._file)  # noqa: SIM115 - closed with the box
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
            if len(members) > _MOST_MEMBERS:
                break
        return members

    def open(self, path: str) -> IO[bytes]:
        file = self._tar.extractfile(self._members[path])
        assert file is not None, "only regular files are members"
        return file

    def close(self) -> None:
        self._tar.close()
        self._file.close()
