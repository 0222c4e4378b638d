"""Small ELF files and inventories for tests of the frozen program, without freezing."""

from __future__ import annotations

import struct
from pathlib import Path


def write_elf(path: Path, *sonames: str, versions: dict[str, tuple[str, ...]] | None = None) -> None:
    """A 64-bit ELF file that holds a dynamic section and nothing else; one segment maps it as it is, from 0x1000 on."""
    base = 0x1000
    names = b"\0"
    index_of: dict[str, int] = {}
    for name in (*sonames, *(versions or {}), *(each for of_one in (versions or {}).values() for each in of_one)):
        if name not in index_of:
            index_of[name] = len(names)
            names += name.encode() + b"\0"
    needs = b""
    for position, (soname, of_one) in enumerate((versions or {}).items()):
        is_last = position == len(versions or {}) - 1
        needs += struct.pack("<HHIII", 1, len(of_one), index_of[soname], 16, 0 if is_last else 16 + 16 * len(of_one))
        for number, version in enumerate(of_one):
            needs += struct.pack("<IHHII", 0, 0, 0, index_of[version], 0 if number == len(of_one) - 1 else 16)
    dynamic_at = 64 + 2 * 56
    entries = [(1, index_of[soname]) for soname in sonames]
    size = 16 * (len(entries) + (3 if versions else 1) + 1)
    names_at, needs_at = dynamic_at + size, dynamic_at + size + len(names)
    entries.append((5, base + names_at))
    if versions:
        entries += [(0x6FFFFFFE, base + needs_at), (0x6FFFFFFF, len(versions))]
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in [*entries, (0, 0)])
    total = needs_at + len(needs)
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, total, total, 4096)
    where = struct.pack("<IIQQQQQQ", 2, 6, dynamic_at, base + dynamic_at, 0, size, size, 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + load + where + dynamic + names + needs)
