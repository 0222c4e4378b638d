"""Builds the app and a disk image for macOS, on a Mac with Apple silicon.                              NOT RUN YET

    python3 packaging/macos/build.py
    python3 packaging/macos/build.py --identity "Developer ID Application: NAME (TEAM)" --profile PROFILE

Use the Python of python.org: the licence check fails on libraries of Homebrew. It freezes the program (``packaging/freeze.py``, which creates ``Timbre Studio.app`` next to the folder), adds the
notices and the Chinese texts, signs the app, and writes
``build/frozen/dist/timbre-studio-VERSION-macos-arm64.dmg``.

Without ``--identity`` the signature is ad hoc, and macOS warns users who downloaded the app. PROFILE is a profile of
``xcrun notarytool store-credentials PROFILE``; with it the image is notarised and the ticket stapled to it. Not run on
a Mac yet; the platform-independent parts are tested.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT / "packaging"))

from macos.bundle import APP_NAME, ENTITLEMENTS, HERE, LOCALISATIONS  # noqa: E402

NAME = "timbre-studio"
_AD_HOC = "-"


def main(arguments: list[str]) -> int:
    chosen = _parser().parse_args(arguments)
    work = chosen.work.absolute()
    if not chosen.keep:
        subprocess.run([sys.executable, str(CHECKOUT / "packaging" / "freeze.py"), "--work", str(work)], check=True)
    dist = work / "dist"
    app, image = dist / APP_NAME, dist / f"{NAME}-{version()}-macos-arm64.dmg"
    complete(app, dist / NAME / "NOTICES.txt")
    _run(signing(app, chosen.identity))
    _run(imaging(lay_out(app, work / "image"), image, chosen.identity))
    if chosen.profile:
        _run(notarising(image, chosen.profile))
    return 0


def _run(commands: list[list[str]]) -> None:
    for command in commands:
        subprocess.run(command, check=True)


def version() -> str:
    """Return the program's version, without importing the program."""
    text = (CHECKOUT / "studio" / "__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    assert found is not None, "the program has a version"
    return found[1]


def complete(app: Path, notices: Path) -> None:
    """Add the notices and localisations to the app; before signing, which seals every file."""
    resources = app / "Contents" / "Resources"
    shutil.copyfile(notices, resources / "NOTICES.txt")
    for name in LOCALISATIONS:
        shutil.copytree(HERE / name, resources / name, dirs_exist_ok=True)


def signing(app: Path, identity: str) -> list[list[str]]:
    """Return the commands that sign (with ``--deep``, as PyInstaller's layout needs) and verify the app."""
    command = ["codesign", "--force", "--deep", "--sign", identity, "--entitlements", str(ENTITLEMENTS)]
    if identity != _AD_HOC:  # required for notarisation
        command += ["--options", "runtime", "--timestamp"]
    return [[*command, str(app)], ["codesign", "--verify", "--deep", "--strict", "--verbose=2", str(app)]]


def lay_out(app: Path, staging: Path) -> Path:
    """Create the contents of the image: the app, and a link to the Applications folder."""
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    shutil.copytree(app, staging / app.name, symlinks=True)
    (staging / "Applications").symlink_to("/Applications")
    return staging


def imaging(staging: Path, image: Path, identity: str) -> list[list[str]]:
    create = ["hdiutil", "create", "-volname", "Timbre Studio", "-srcfolder", str(staging)]
    commands = [[*create, "-ov", "-format", "UDZO", str(image)]]
    if identity != _AD_HOC:
        commands.append(["codesign", "--sign", identity, "--timestamp", str(image)])
    return commands


def notarising(image: Path, profile: str) -> list[list[str]]:
    """Return the commands that notarise the image (takes minutes) and staple the ticket, for offline computers."""
    return [
        ["xcrun", "notarytool", "submit", str(image), "--keychain-profile", profile, "--wait"],
        ["xcrun", "stapler", "staple", str(image)],
        ["xcrun", "stapler", "validate", str(image)],
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--identity", default=_AD_HOC, help="name of the signing certificate (security find-identity)")
    parser.add_argument("--profile", default="", help="notarise with these stored credentials")
    parser.add_argument("--keep", action="store_true", help="use the existing frozen app")
    parser.add_argument("--work", type=Path, default=CHECKOUT / "build" / "frozen", metavar="FOLDER")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
