"""The Debian package and the archive: desktop files, fields, and the place of every file."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from email.parser import Parser
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

import pytest
from frozen.drawing import SIZES_PIXELS, as_icns, as_ico
from frozen.linux_package import (
    PackagingFailed,
    Release,
    build_deb,
    build_tarball,
    check_desktop_files,
    control,
    desktop_files,
    lay_out,
)
from frozen_fakes import write_elf

import studio
from studio.app.documents import PROJECT_SUFFIX
from studio.project.database import APPLICATION_ID
from studio.voices.library import VoiceLibrary
from studio.voices.voice_file import SUFFIX as VOICE_SUFFIX

RELEASE = Release(studio.__version__, 1_790_000_000)
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"
CHECKOUT = Path(__file__).resolve().parents[2]
CLIP = CHECKOUT / "resources" / "voices" / "Ada.wav"


@pytest.fixture
def icons(tmp_path: Path) -> Path:
    folder = tmp_path / "icons"
    folder.mkdir()
    for size in SIZES_PIXELS:
        (folder / f"timbre-studio-{size}.png").write_bytes(b"picture of %d" % size)
    return folder


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "timbre-studio"
    write_elf(folder / "timbre", "libc.so.6")
    (folder / "timbre").chmod(0o755)
    (folder / "_internal").mkdir()
    (folder / "_internal" / "data").write_bytes(b"x" * 3000)
    (folder / "_internal" / "data").chmod(0o600)
    (folder / "_internal" / "link").symlink_to("data")
    (folder / "NOTICES.txt").write_text("Notices.")
    return folder


@pytest.fixture
def share(tmp_path: Path, icons: Path) -> Path:
    folder = tmp_path / "share"
    for place, content in desktop_files(icons, RELEASE).items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_bytes(content)
    return folder


def desktop_entry(share: Path) -> dict[str, str]:
    lines = (share / "applications" / "timbre-studio.desktop").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def test_the_desktops_own_tools_are_content(share: Path) -> None:
    missing = check_desktop_files(share)
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def test_they_object_to_nonsense(share: Path) -> None:
    if shutil.which("desktop-file-validate") is None:
        pytest.skip("desktop-file-validate is not installed")
    (share / "applications" / "timbre-studio.desktop").write_text("[Desktop Entry]\nType=Nonsense\n")
    with pytest.raises(PackagingFailed, match="desktop-file-validate objects"):
        check_desktop_files(share)


def test_the_menu_entry_is_that_of_the_window(share: Path) -> None:
    """A desktop finds the entry of a window by the name the window gives itself."""
    program = (CHECKOUT / "studio" / "app" / "main.py").read_text("utf-8")
    entry = desktop_entry(share)
    assert entry["Exec"] == "timbre app %f"
    assert 'setDesktopFileName("timbre-studio")' in program
    assert (share / "icons" / "hicolor" / "48x48" / "apps" / f"{entry['Icon']}.png").read_bytes() == b"picture of 48"
    assert entry["StartupWMClass"] == "timbre-studio"


def test_every_kind_of_file_is_announced_where_desktops_look(share: Path) -> None:
    types = {
        kind.get("type"): kind.find(f"{MIME}glob").get("pattern")  # type: ignore[union-attr]
        for kind in ElementTree.parse(share / "mime" / "packages" / "timbre-studio.xml").getroot()
    }
    assert set(types.values()) == {f"*{PROJECT_SUFFIX}", f"*{VOICE_SUFFIX}"}
    assert set(desktop_entry(share)["MimeType"].strip(";").split(";")) == set(types)
    metainfo = ElementTree.parse(share / "metainfo" / "timbre-studio.metainfo.xml").getroot()
    assert {each.text for each in metainfo.findall("provides/mediatype")} == set(types)


def test_the_release_is_that_of_the_program(share: Path) -> None:
    metainfo = ElementTree.parse(share / "metainfo" / "timbre-studio.metainfo.xml").getroot()
    release = metainfo.find("releases/release")
    assert release is not None
    assert release.attrib == {"version": studio.__version__, "date": "2026-09-21"}
    assert metainfo.findtext("launchable") == "timbre-studio.desktop"


def test_files_are_known_by_what_they_hold(share: Path, tmp_path: Path) -> None:
    """Without their names: the places and values of the magic are those the program writes."""
    library = VoiceLibrary(tmp_path / "voices", built_in=tmp_path / "none")
    library.add(CLIP, "Ada", "What Ada says.")
    library.export("Ada", tmp_path / "ada.voice")
    voice = (tmp_path / "ada.voice").read_bytes()
    assert voice[:4] == b"PK\x03\x04"
    assert voice[30:44] == b"manifest.json{"
    assert 44 <= voice.index(b'"timbre-voice"') <= 80
    text = (share / "mime" / "packages" / "timbre-studio.xml").read_text("utf-8")
    assert f'offset="68" value="{APPLICATION_ID:#X}"'.replace("0X", "0x") in text


def test_the_fields_of_the_package() -> None:
    fields = Parser().parsestr(control(RELEASE, ["libc6 (>= 2.36)", "libgl1"], 10_000_000))
    assert fields["Package"] == "timbre-studio"
    assert fields["Version"] == studio.__version__
    assert fields["Installed-Size"] == "9766"
    assert fields["Depends"] == "libc6 (>= 2.36), libgl1"
    assert "ffmpeg" in fields["Recommends"].split(", "), "it reads what a phone records"
    assert all(line.startswith(" ") for line in fields["Description"].splitlines()[1:])


def test_every_file_has_its_place_and_may_be_read_by_everybody(program: Path, icons: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    lay_out(program, root, icons, RELEASE, {PurePosixPath("man", "man1", "timbre.1.gz"): b""})
    assert (root / "usr/bin/timbre").readlink() == Path("/usr/lib/timbre-studio/timbre")
    assert (root / "usr/lib/timbre-studio/_internal/link").readlink() == Path("data")
    assert (root / "usr/lib/systemd/system/timbre.service").is_file()
    assert (root / "usr/share/man/man1/timbre.1.gz").is_file()
    assert (root / "usr/lib/timbre-studio/timbre").stat().st_mode & 0o777 == 0o755
    assert (root / "usr/lib/timbre-studio/_internal/data").stat().st_mode & 0o777 == 0o644
    assert "NOTICES.txt" in (root / "usr/share/doc/timbre-studio/copyright").read_text()
    inside = {path.relative_to(root).parts[0] for path in root.rglob("*")}
    assert inside == {"usr"}, "nothing in folders that belong to persons or the system"


def test_a_package_that_dpkg_reads(program: Path, icons: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("dpkg-deb") is None:
        pytest.skip("dpkg-deb is not installed")
    page = tmp_path / "pages" / "man" / "man1" / "timbre.1.gz"
    page.parent.mkdir(parents=True)
    page.write_bytes(b"")
    # freeze.py runs with any Python, which lacks the program and its libraries.
    for name in ("argparse_manpage", "shtab"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "frozen.manual_pages", raising=False)
    deb = build_deb(program, tmp_path, tmp_path, icons, RELEASE, pages=tmp_path / "pages")
    told = subprocess.run(["dpkg-deb", "--info", str(deb)], capture_output=True, text=True, check=True).stdout
    assert "libportaudio2" in told
    assert "Installed-Size:" in told
    assert not [name for name in ("preinst", "postinst", "prerm", "postrm") if name in told], "nothing runs"
    listed = subprocess.run(["dpkg-deb", "--contents", str(deb)], capture_output=True, text=True, check=True).stdout
    assert "root/root" in listed
    assert "./usr/bin/timbre -> /usr/lib/timbre-studio/timbre" in listed
    assert "./usr/share/man/man1/timbre.1.gz" in listed


def test_the_archive_runs_where_it_is_unpacked(program: Path, icons: Path, tmp_path: Path) -> None:
    if shutil.which("xz") is None:
        pytest.skip("xz is not installed")
    archive = build_tarball(program, tmp_path, icons, RELEASE)
    with tarfile.open(archive) as packed:
        names = {
            PurePosixPath(entry.name).relative_to(f"timbre-studio-{studio.__version__}"): entry for entry in packed
        }
    assert names[PurePosixPath("timbre")].mode & 0o100
    assert {entry.mtime for entry in names.values()} == {RELEASE.seconds_since_1970}
    assert PurePosixPath("share/applications/timbre-studio.desktop") in names
    assert PurePosixPath("README.txt") in names
    assert [path.name for path in tmp_path.glob(".*.part")] == []


def test_pictures_for_windows_and_macos() -> None:
    pictures = {size: b"\x89PNG %d" % size for size in SIZES_PIXELS}
    ico = as_ico(pictures)
    assert ico[:6] == b"\0\0\1\0\7\0"
    for entry in range(7):
        at = 6 + 16 * entry
        length, offset = (int.from_bytes(ico[at + part : at + part + 4], "little") for part in (8, 12))
        side = ico[at] or 256
        assert ico[offset : offset + length] == pictures[side]
    icns = as_icns(pictures)
    assert icns[:4] == b"icns"
    assert int.from_bytes(icns[4:8], "big") == len(icns)
    assert pictures[1024] in icns
