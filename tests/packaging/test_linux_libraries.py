"""The package depends on the system libraries that the frozen program loads."""

from __future__ import annotations

from pathlib import Path

import pytest
from frozen.elf import read_wants
from frozen.linux_libraries import debian_packages, find_needs
from frozen_fakes import write_elf
from set_up.libraries import LINUX_LIBRARIES

GLIBC = {"libc.so.6": ("GLIBC_2.2.5", "GLIBC_2.34"), "libm.so.6": ("GLIBC_2.29",)}


def test_an_elf_file_tells_what_it_wants(tmp_path: Path) -> None:
    path = tmp_path / "lib.so"
    write_elf(path, "libc.so.6", "libm.so.6", "libz.so.1", versions=GLIBC)
    wants = read_wants(path)
    assert wants is not None
    assert wants.sonames == ("libc.so.6", "libm.so.6", "libz.so.1")
    assert wants.versions == GLIBC


def test_other_files_want_nothing(tmp_path: Path) -> None:
    path = tmp_path / "read.me"
    path.write_text("ELF")
    assert read_wants(path) is None


def test_what_is_in_the_folder_is_not_asked_of_the_system(tmp_path: Path) -> None:
    write_elf(tmp_path / "timbre", "libc.so.6", "libown.so.1", versions=GLIBC)
    write_elf(
        tmp_path / "_internal" / "libown.so.1", "libstdc++.so.6", versions={"libstdc++.so.6": ("GLIBCXX_3.4.30",)}
    )
    needs = find_needs(tmp_path)
    assert set(needs.sonames) == {"libc.so.6", "libstdc++.so.6"}
    assert needs.sonames["libstdc++.so.6"] == "_internal/libown.so.1"
    packages = debian_packages(needs)
    assert "libc6 (>= 2.34)" in packages
    assert "libstdc++6 (>= 12)" in packages


def test_all_that_the_set_up_installs_is_depended_on(tmp_path: Path) -> None:
    """Qt and PortAudio are opened while the program runs: no file names them."""
    write_elf(tmp_path / "timbre", "libc.so.6")
    assert {library.package_of["apt-get"] for library in LINUX_LIBRARIES} <= set(debian_packages(find_needs(tmp_path)))


def test_the_parts_of_xcb_are_packages_of_their_own(tmp_path: Path) -> None:
    write_elf(tmp_path / "plugin.so", "libxcb-render-util.so.0", "libxcb.so.1")
    packages = debian_packages(find_needs(tmp_path))
    assert {"libxcb-render-util0", "libxcb1"} <= set(packages)


def test_a_library_nobody_knows_ends_the_build(tmp_path: Path) -> None:
    write_elf(tmp_path / "plugin.so", "libsurprise.so.3")
    with pytest.raises(LookupError, match=r"libsurprise.so.3 \(for plugin.so\)"):
        debian_packages(find_needs(tmp_path))
