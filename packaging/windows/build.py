"""Builds the installer for Windows, on Windows.                                                        NOT RUN YET

    python packaging/windows/build.py
    python packaging/windows/build.py --sign "signtool sign /fd SHA256 /tr http://timestamp.digicert.com /td SHA256 /a $f"

It freezes the program (``packaging/freeze.py``) and compiles the installer with Inno Setup 6.3 or later. The result is
``build/frozen/dist/timbre-studio-VERSION-windows-x64.exe``.
Without ``--sign`` nothing is signed, and Windows warns at the start. In the command, ``$f`` is the quoted file and
``$q`` a quote, as in Inno Setup. Not run on Windows yet; the platform-independent parts are tested.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PureWindowsPath

CHECKOUT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("timbre-studio.iss")
NAME = "timbre-studio"
_PROGRAMS = ("Timbre Studio.exe", "timbre.exe")
_SIGN_NAME = "timbre"  # name of the command in the script


def main(arguments: list[str]) -> int:
    chosen = _parser().parse_args(arguments)
    work = chosen.work.absolute()
    compiler = find_compiler()
    if compiler is None:
        sys.stderr.write("Inno Setup is not installed: https://jrsoftware.org/isdl.php\n")
        return 1
    if not chosen.keep:
        subprocess.run([sys.executable, str(CHECKOUT / "packaging" / "freeze.py"), "--work", str(work)], check=True)
    folder = work / "dist" / NAME
    if chosen.sign:
        for program in _PROGRAMS:
            subprocess.run(sign_command(chosen.sign, folder / program), check=True)
    subprocess.run(compile_command(compiler, version(), work, sign=chosen.sign), check=True)
    return 0


def version() -> str:
    """Return the program's version, without importing the program."""
    text = (CHECKOUT / "studio" / "__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    assert found is not None, "the program has a version"
    return found[1]


def compile_command(compiler: Path, version: str, work: Path, *, sign: str = "") -> list[str]:
    """Return the command of Inno Setup's compiler; the definitions are used by the script."""
    dist = work / "dist"
    definitions = {
        "Version": version,
        "Program": str(dist / NAME),
        "Icon": str(work / "icons" / f"{NAME}.ico"),
        "Output": str(dist),
    }
    command = [str(compiler), "/Qp", *(f"/D{name}={value}" for name, value in definitions.items())]
    if sign:
        # The compiler ends an argument at every quote, including escaped ones.
        command += ["/DSign", f"/S{_SIGN_NAME}=" + sign.replace('"', "$q")]
    return [*command, str(SCRIPT)]


def sign_command(sign: str, file: Path) -> str:
    """Return the command as one line: Windows passes whole command lines to programs."""
    return sign.replace("$q", '"').replace("$f", f'"{file}"')


def find_compiler() -> Path | None:
    """Return the compiler on the path or in the default folders of Inno Setup."""
    on_path = shutil.which("ISCC")
    if on_path:
        return Path(on_path)
    folders = (os.environ.get("PROGRAMFILES(X86)"), os.environ.get("PROGRAMFILES"), os.environ.get("LOCALAPPDATA"))
    for folder in filter(None, folders):
        for below in ("Inno Setup 6", PureWindowsPath("Programs", "Inno Setup 6")):
            if (found := Path(folder) / below / "ISCC.exe").is_file():
                return found
    return None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sign", default="", metavar="COMMAND", help="sign programs and installer; $f is the file")
    parser.add_argument("--keep", action="store_true", help="use the existing frozen folder")
    parser.add_argument("--work", type=Path, default=CHECKOUT / "build" / "frozen", metavar="FOLDER")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
