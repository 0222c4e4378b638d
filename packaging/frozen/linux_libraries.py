"""The system libraries that the frozen program needs, found in its files, as Debian packages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from set_up.libraries import LINUX_LIBRARIES

from frozen.elf import read_wants

# In addition to the libraries of the set-up. The C library has several sonames.
_PACKAGE_OF = {library.soname: library.package_of["apt-get"] for library in LINUX_LIBRARIES} | {
    "ld-linux-x86-64.so.2": "libc6",
    "ld-linux-aarch64.so.1": "libc6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libc.so.6": "libc6",
    "libdl.so.2": "libc6",
    "libfreetype.so.6": "libfreetype6",
    "libgcc_s.so.1": "libgcc-s1",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libm.so.6": "libc6",
    "libmvec.so.1": "libc6",
    "libpthread.so.0": "libc6",
    "libresolv.so.2": "libc6",
    "librt.so.1": "libc6",
    "libstdc++.so.6": "libstdc++6",
    "libutil.so.1": "libc6",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}
# The first GCC version with the symbol version GLIBCXX_3.4.N, for the minimum version of its package.
_GCC_OF_GLIBCXX = {25: "8", 26: "9", 27: "9", 28: "10", 29: "11", 30: "12", 31: "13", 32: "13", 33: "14", 34: "15"}
_OLDEST_GCC = "7"


@dataclass
class SystemNeeds:
    """``sonames`` that are not in the folder, each with one file that needs it."""

    sonames: dict[str, str] = field(default_factory=dict)
    glibc: tuple[int, ...] = (2, 17)
    glibcxx: int = 0


def find_needs(folder: Path) -> SystemNeeds:
    """Read every program and library in ``folder``."""
    needs, present = SystemNeeds(), set()
    wanted: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            present.add(path.name)
            continue
        present.add(path.name)
        wants = read_wants(path)
        if wants is None:
            continue
        for soname in wants.sonames:
            wanted.setdefault(soname, path.relative_to(folder).as_posix())
        for version in (version for versions in wants.versions.values() for version in versions):
            if found := re.fullmatch(r"GLIBC_(\d+(?:\.\d+)+)", version):
                needs.glibc = max(needs.glibc, tuple(int(part) for part in found[1].split(".")))
            elif found := re.fullmatch(r"GLIBCXX_3\.4\.(\d+)", version):
                needs.glibcxx = max(needs.glibcxx, int(found[1]))
    needs.sonames = {soname: path for soname, path in sorted(wanted.items()) if soname not in present}
    return needs


def debian_packages(needs: SystemNeeds) -> list[str]:
    """Return the packages for ``Depends``, including libraries loaded at run time. Raises ``LookupError``."""
    unknown = {soname: path for soname, path in needs.sonames.items() if _package_of(soname) is None}
    if unknown:
        listed = ", ".join(f"{soname} (for {path})" for soname, path in unknown.items())
        raise LookupError(f"No known package contains {listed}; add it to linux_libraries.py.")
    packages = {package for soname in needs.sonames if (package := _package_of(soname))}
    packages |= {library.package_of["apt-get"] for library in LINUX_LIBRARIES}
    least = {
        "libc6": ".".join(str(part) for part in needs.glibc),
        "libstdc++6": _GCC_OF_GLIBCXX.get(needs.glibcxx, _OLDEST_GCC),
    }
    return [f"{package} (>= {least[package]})" if package in least else package for package in sorted(packages)]


def _package_of(soname: str) -> str | None:
    """Return the package of a soname; the parts of XCB have separate packages named after their sonames."""
    if found := re.fullmatch(r"(libxcb(?:-[a-z0-9]+)*)\.so\.(\d+)", soname):
        return _PACKAGE_OF.get(soname, f"{found[1]}{found[2]}")
    return _PACKAGE_OF.get(soname)
