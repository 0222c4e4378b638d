"""Libraries and symbol versions that a Linux program needs, from the dynamic section of its ELF file.

Source: the ELF-64 format of the System V ABI, little-endian, and the GNU version sections of the LSB.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB, _DT_SONAME, _DT_VERNEED, _DT_VERNEEDNUM = 1, 5, 14, 0x6FFFFFFE, 0x6FFFFFFF


@dataclass(frozen=True)
class Wants:
    """``sonames`` of the needed libraries; ``versions`` of their symbols, such as ``GLIBC_2.34``, by soname."""

    soname: str | None
    sonames: tuple[str, ...]
    versions: dict[str, tuple[str, ...]]


def read_wants(path: Path) -> Wants | None:
    """Return None for a file that is not a dynamic 64-bit little-endian ELF file."""
    with path.open("rb") as file:
        if file.read(6) != b"\x7fELF\x02\x01":
            return None
    return _Image(path.read_bytes()).wants()


class _Image:
    def __init__(self, content: bytes) -> None:
        self._content = content
        (table,) = struct.unpack_from("<Q", content, 32)
        size, count = struct.unpack_from("<HH", content, 54)
        self._loads: list[tuple[int, int, int]] = []  # address in memory, in the file, size
        self._dynamic: list[tuple[int, int]] = []
        for start in range(table, table + size * count, size):
            (kind,) = struct.unpack_from("<I", content, start)
            offset, address, _, file_size = struct.unpack_from("<QQQQ", content, start + 8)
            if kind == _PT_LOAD:
                self._loads.append((address, offset, file_size))
            elif kind == _PT_DYNAMIC:
                entries = range(offset, offset + file_size - 15, 16)
                self._dynamic = [struct.unpack_from("<qQ", content, entry) for entry in entries]

    def wants(self) -> Wants | None:
        values = dict(self._dynamic)
        if _DT_STRTAB not in values:
            return None
        self._names = self._offset_of(values[_DT_STRTAB])
        needed = tuple(self._name(value) for tag, value in self._dynamic if tag == _DT_NEEDED)
        soname = self._name(values[_DT_SONAME]) if _DT_SONAME in values else None
        return Wants(soname, needed, self._versions(values))

    def _versions(self, values: dict[int, int]) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        if _DT_VERNEED not in values:
            return found
        start = self._offset_of(values[_DT_VERNEED])
        for _ in range(values[_DT_VERNEEDNUM]):
            _, count, file_name, first, following = struct.unpack_from("<HHIII", self._content, start)
            versions, part = [], start + first
            for _ in range(count):
                _, _, _, name, next_part = struct.unpack_from("<IHHII", self._content, part)
                versions.append(self._name(name))
                part += next_part
            found[self._name(file_name)] = tuple(versions)
            start += following
        return found

    def _offset_of(self, address: int) -> int:
        """Return the file offset of the memory address ``address``."""
        return next(address - begin + offset for begin, offset, size in self._loads if begin <= address < begin + size)

    def _name(self, index: int) -> str:
        start = self._names + index
        return self._content[start : self._content.index(b"\0", start)].decode()
