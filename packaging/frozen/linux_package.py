"""Debian package and archive of the frozen folder.

The package has no maintainer scripts: dpkg triggers of the desktop process its files.
"""

from __future__ import annotations

import datetime
import hashlib
import io
import os
import platform
import shutil
import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from set_up.libraries import INSTALL_COMMANDS, LINUX_LIBRARIES

from frozen.drawing import NAME, PICTURE, SIZES_PIXELS
from frozen.linux_libraries import debian_packages, find_needs

_DATA = Path(__file__).with_name("linux")
_ROOT = Path(__file__).resolve().parents[2]
_UNIT = _ROOT / "packaging" / "service" / "timbre.service"
# Not in /opt: no Debian package owns it, so removing the package would remove it.
PROGRAM_FOLDER = PurePosixPath("usr", "lib", NAME)
_MAX_ICON_PIXELS = 512
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_DESCRIPTION = """\
read texts aloud in any voice, on your own computer
 Give it a few seconds of a voice and a text of any length, and it reads the
 text aloud in that voice, beginning to speak while it is still thinking about
 the rest. It comes with a small English voice model; the models of the
 CosyVoice family are downloaded from its window.
"""
_READ_ME = """\
Timbre Studio {version}

Start it with ./timbre in this folder; ./timbre --help lists the commands.
The folder can be anywhere. To uninstall the program, delete it.

It needs these libraries, which most desktops have:

{libraries}

With ffmpeg installed it also reads m4a, mp4 and webm.

share/ contains the files for menus and file types. To add the program to your menu:
  mkdir -p ~/.local/bin ~/.local/share && ln -s "$PWD/timbre" ~/.local/bin/timbre && cp -r share/* ~/.local/share/

The licences of everything in this folder are in NOTICES.txt.
"""


class PackagingFailed(Exception):
    """Packaging is not possible; the message states the reason."""


@dataclass(frozen=True)
class Release:
    """``seconds_since_1970`` is the date of the release, and of every file in the packages."""

    version: str
    seconds_since_1970: int

    @property
    def date(self) -> str:
        return datetime.datetime.fromtimestamp(self.seconds_since_1970, datetime.UTC).date().isoformat()


def debian_architecture() -> str:
    return _ARCHITECTURES[platform.machine()]


def desktop_files(icons: Path, release: Release) -> dict[PurePosixPath, bytes]:
    """Return the desktop files by path below ``share``; ``icons`` contains the images of ``drawing.py``."""
    metainfo = (_DATA / f"{NAME}.metainfo.xml").read_text("utf-8")
    metainfo = metainfo.replace("@VERSION@", release.version).replace("@DATE@", release.date)
    hicolor = PurePosixPath("icons", "hicolor")
    files = {
        PurePosixPath("applications", f"{NAME}.desktop"): (_DATA / f"{NAME}.desktop").read_bytes(),
        PurePosixPath("metainfo", f"{NAME}.metainfo.xml"): metainfo.encode(),
        PurePosixPath("mime", "packages", f"{NAME}.xml"): (_DATA / f"{NAME}.mime.xml").read_bytes(),
        hicolor / "scalable" / "apps" / f"{NAME}.svg": PICTURE.read_bytes(),
    }
    for size in SIZES_PIXELS:
        if size <= _MAX_ICON_PIXELS:
            picture = (icons / f"{NAME}-{size}.png").read_bytes()
            files[hicolor / f"{size}x{size}" / "apps" / f"{NAME}.png"] = picture
    return files


def control(release: Release, depends: list[str], installed_bytes: int) -> str:
    """The fields of Debian policy, chapter 5.3."""
    return (
        f"Package: {NAME}\n"
        f"Version: {release.version}\n"
        f"Architecture: {debian_architecture()}\n"
        "Maintainer: The makers of Timbre Studio\n"
        f"Installed-Size: {-(-installed_bytes // 1024)}\n"
        f"Depends: {', '.join(depends)}\n"
        "Recommends: ffmpeg, libasound2-plugins, xdg-utils\n"
        "Section: sound\n"
        "Priority: optional\n"
        f"Description: {_DESCRIPTION}"
    )


def lay_out(
    program: Path, root: Path, icons: Path, release: Release, command_line_files: Mapping[PurePosixPath, bytes]
) -> None:
    """Create the files of the package below ``root``, with hard links to those of the program if possible."""
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(program, root / PROGRAM_FOLDER, symlinks=True, copy_function=_link_or_copy)
    for place, content in {**desktop_files(icons, release), **command_line_files}.items():
        _write(root / "usr" / "share" / place, content)
    _write(root / "usr" / "lib" / "systemd" / "system" / _UNIT.name, _UNIT.read_bytes())
    documents = root / "usr" / "share" / "doc" / NAME
    notices = f"/{PROGRAM_FOLDER}/NOTICES.txt"
    words = f"Timbre Studio is licensed under the Apache License 2.0. Licences of its components:\n{notices}\n\n"
    _write(documents / "copyright", words.encode() + (_ROOT / "LICENSE").read_bytes())
    launcher = root / "usr" / "bin" / "timbre"
    launcher.parent.mkdir(parents=True)
    launcher.symlink_to(f"/{PROGRAM_FOLDER}/timbre")
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def check_desktop_files(share: Path) -> list[str]:
    """Validate the files; return the names of missing validators. Raises ``PackagingFailed``."""
    missing = []
    for command in (
        ["desktop-file-validate", str(share / "applications" / f"{NAME}.desktop")],
        ["appstreamcli", "validate", "--no-net", str(share / "metainfo" / f"{NAME}.metainfo.xml")],
    ):
        if shutil.which(command[0]) is None:
            missing.append(command[0])
            continue
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise PackagingFailed(f"{command[0]} reports errors:\n{done.stdout}{done.stderr}")
    return missing


def build_deb(program: Path, work: Path, target: Path, icons: Path, release: Release, *, pages: Path) -> Path:
    """Build the package; ``pages`` is the folder that ``manual_pages.py`` fills.

    Raises ``PackagingFailed``, and ``LookupError`` for an unknown library.
    """
    root = work / "deb"
    found = {PurePosixPath(path.relative_to(pages)): path.read_bytes() for path in pages.rglob("*") if path.is_file()}
    lay_out(program, root, icons, release, found)
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()]
    depends = debian_packages(find_needs(program))
    sums = "".join(f"{_md5(path)}  {path.relative_to(root)}\n" for path in files)
    installed_bytes = sum(path.stat().st_size for path in files)
    _write(root / "DEBIAN" / "control", control(release, depends, installed_bytes).encode())
    _write(root / "DEBIAN" / "md5sums", sums.encode())
    deb = target / f"{NAME}_{release.version}_{debian_architecture()}.deb"
    # zstd: as fast as gzip and nearly as small as xz, which takes minutes. Supported since Debian 12, Ubuntu 18.04.
    command = ["dpkg-deb", "--root-owner-group", "-Zzstd", "-z10", "--build", str(root), str(deb)]
    _run(command, {"SOURCE_DATE_EPOCH": str(release.seconds_since_1970)})
    shutil.rmtree(root)
    return deb


def build_tarball(program: Path, target: Path, icons: Path, release: Release) -> Path:
    """Build an archive of a folder that runs wherever it is unpacked."""
    top = f"{NAME}-{release.version}"
    archive_path = target / f"{top}-linux-{platform.machine()}.tar.xz"
    part = archive_path.with_name(f".{archive_path.name}.part")

    def dated(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = release.seconds_since_1970, 0, 0, "", ""
        return entry

    command = ["xz", "-T0", "-4", "-c"]
    with part.open("wb") as packed, subprocess.Popen(command, stdin=subprocess.PIPE, stdout=packed) as packer:
        assert packer.stdin is not None
        with packer.stdin, tarfile.open(fileobj=packer.stdin, mode="w|", format=tarfile.GNU_FORMAT) as archive:
            archive.add(program, top, filter=dated)
            for place, content in {
                PurePosixPath("README.txt"): read_me(release).encode(),
                **{PurePosixPath("share") / place: body for place, body in desktop_files(icons, release).items()},
            }.items():
                entry = tarfile.TarInfo(str(PurePosixPath(top) / place))
                entry.size = len(content)
                archive.addfile(dated(entry), io.BytesIO(content))
    if packer.returncode != 0:
        raise PackagingFailed(f"xz ended with status {packer.returncode}.")
    part.replace(archive_path)
    return archive_path


def read_me(release: Release) -> str:
    names = {"apt-get": "Debian, Ubuntu", "dnf": "Fedora", "pacman": "Arch", "zypper": "openSUSE"}
    lines = []
    for manager, command in INSTALL_COMMANDS.items():
        packages = dict.fromkeys(library.package_of[manager] for library in LINUX_LIBRARIES)
        lines.append(f"  {names[manager]}: sudo {command} {' '.join(packages)}")
    return _READ_ME.format(version=release.version, libraries="\n".join(lines))


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _md5(path: Path) -> str:
    """The checksum that dpkg uses to verify installed files; not for security."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _run(command: list[str], variables: dict[str, str]) -> None:
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PackagingFailed(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
