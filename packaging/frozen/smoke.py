"""Tests a Debian package in a fresh Debian system inside a folder. Needs root and debootstrap.

    python3 packaging/frozen/smoke.py build/frozen/dist/timbre-studio_0.1.0_amd64.deb

Installs it with apt, synthesises speech in the terminal and in the window (virtual screen and sound server), removes
it, and compares the lists of files. ``smoke.sh`` runs inside; this file checks the results.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import wave
from array import array
from collections.abc import Iterator
from pathlib import Path

_SCRIPT = Path(__file__).with_name("smoke.sh")
_TOOLS = (
    "libasound2-plugins", "procps", "pulseaudio", "pulseaudio-utils", "scrot", "shared-mime-info", "desktop-file-utils",
    "gtk-update-icon-cache", "hicolor-icon-theme", "xauth", "xdg-utils", "xdotool", "xvfb", "fonts-dejavu-core",
    "openbox", "libfile-mimeinfo-perl", "ffmpeg",
)  # fmt: skip
# Far below the quietest speech of the bundled voices, and above silence.
_MIN_LOUDNESS = 0.005
_MIN_SECONDS = 1.0
# Otherwise apt keeps dependencies that a test tool suggests, as ffmpeg's libraries suggest PortAudio.
_AS_BEFORE = ("-oAPT::AutoRemove::SuggestsImportant=false", "-oAPT::AutoRemove::RecommendsImportant=false")
# Changed by the installation of any package.
_OF_APT = (
    "/var/lib/dpkg/",
    "/var/lib/apt/",
    "/var/cache/",
    "/var/log/",
    "/etc/ld.so.cache",
    "/home/",
    "/run/",
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("deb", type=Path)
    parser.add_argument("--work", type=Path, default=Path("build/frozen/smoke"), help="folder for the fresh Debian")
    parser.add_argument("--release", default="bookworm")
    parser.add_argument("--mirror", default="", help="Debian mirror (default: debootstrap's own)")
    chosen = parser.parse_args(arguments)
    root = fresh_debian(chosen.work.absolute(), chosen.release, chosen.mirror)
    faults = try_in(root, chosen.deb)
    for fault in faults:
        print(f"FAULT  {fault}")
    if not faults:
        print("The package installs, works in the terminal and in the window, and is removed completely.")
    return 1 if faults else 0


def fresh_debian(work: Path, release: str, mirror: str) -> Path:
    """Return a copy of a minimal Debian with the test tools; ``base`` is kept for later runs."""
    base, root = work / f"base-{release}", work / "root"
    if not (base / "finished").exists():
        shutil.rmtree(base, ignore_errors=True)
        work.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["debootstrap", "--variant=minbase", release, str(base), *([mirror] if mirror else [])], check=True
        )
        for name in ("resolv.conf", "hosts"):
            shutil.copy(Path("/etc", name), base / "etc" / name)
        # With the proxy settings of this machine.
        reached = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=True)
        (base / "etc" / "apt" / "apt.conf.d" / "90as-outside").write_text(reached.stdout)
        with _mounted(base):
            _inside(base, "apt-get", "update")
            _inside(base, "apt-get", "install", "-y", "--no-install-recommends", *_TOOLS)
            _inside(base, "useradd", "--create-home", "person")
        (base / "finished").touch()
    shutil.rmtree(root, ignore_errors=True)
    subprocess.run(["cp", "-a", "--reflink=auto", str(base), str(root)], check=True)
    return root


def try_in(root: Path, deb: Path) -> list[str]:
    """Return a description of each fault."""
    trial = root / "trial"
    trial.mkdir()
    shutil.copy(deb, trial / "timbre.deb")
    shutil.copy(_SCRIPT, trial / "smoke.sh")
    with _mounted(root):
        before = _files(root)
        _inside(root, "apt-get", "install", "-y", "--no-install-recommends", "/trial/timbre.deb")
        installed = _files(root)
        _inside(root, "bash", "/trial/smoke.sh", check=False)
        _inside(root, "apt-get", "purge", "-y", "--autoremove", *_AS_BEFORE, "timbre-studio")
        after = _files(root)
    print(
        f"installed: {sum(size for name, size in installed.items() if name not in before) / 1e6:.0f} MB with its dependencies"
    )
    faults = [f"left behind: {name}" for name in sorted(after.keys() - before.keys())]
    faults += [f"removed: {name}" for name in sorted(before.keys() - after.keys())]
    report = trial / "report.txt"
    lines = report.read_text("utf-8").splitlines() if report.is_file() else []
    print("\n".join(lines))
    faults += [line.removeprefix("FAULT ") for line in lines if line.startswith("FAULT ")]
    if not lines or lines[-1] != "END":
        faults.append("smoke.sh did not finish")
    for name in ("said.wav", "played.wav", "memo.wav", "window.wav"):
        faults += _faults_of_sound(trial / "out" / name)
    return faults


def loudness(path: Path) -> tuple[float, float]:
    """Return the seconds of a 16-bit WAV file that are not silent, and their root mean square."""
    with wave.open(str(path), "rb") as file:
        samples = array("h", file.readframes(file.getnframes()))
        channels, rate = file.getnchannels(), file.getframerate()
    heard = [sample / 32768 for sample in samples[::channels] if abs(sample) > 64]
    if not heard:
        return 0.0, 0.0
    return len(heard) / rate, (sum(value * value for value in heard) / len(heard)) ** 0.5


def _faults_of_sound(path: Path) -> list[str]:
    if not path.is_file():
        return [f"{path.name} was not made"]
    seconds, level = loudness(path)
    print(f"{path.name}: {seconds:.1f} s audible, root mean square {level:.3f}")
    is_audible = seconds >= _MIN_SECONDS and level >= _MIN_LOUDNESS
    return [] if is_audible else [f"{path.name} is silent"]


def _files(root: Path) -> dict[str, int]:
    """Return the size of every file and folder of the system by path."""
    found = {}
    for folder, folders, names in os.walk(root):
        inside = "/" + Path(folder).relative_to(root).as_posix().removeprefix(".")
        folders[:] = [name for name in folders if f"{inside}/{name}".replace("//", "/") not in _NOT_ON_DISK]
        for name in (*folders, *names):
            path = f"{inside}/{name}".replace("//", "/")
            if not path.startswith(_OF_APT):
                found[path] = os.lstat(os.path.join(folder, name)).st_size if name in names else 0
    return found


_NOT_ON_DISK = {"/proc", "/sys", "/dev", "/tmp", "/trial"}  # noqa: S108 - in the tested system


@contextlib.contextmanager
def _mounted(root: Path) -> Iterator[None]:
    """Mount the kernel's file systems for the duration of the block."""
    mounts = [(["-t", "proc", "proc"], root / "proc"), (["-t", "sysfs", "sysfs"], root / "sys")]
    mounts += [(["--bind", "/dev"], root / "dev"), (["-t", "tmpfs", "tmpfs"], root / "dev" / "shm")]
    mounts += [(["-t", "tmpfs", "-o", "mode=1777", "tmpfs"], root / "tmp")]
    done: list[Path] = []
    try:
        for options, place in mounts:
            subprocess.run(["mount", *options, str(place)], check=True)
            done.append(place)
        yield
    finally:
        for place in reversed(done):
            subprocess.run(["umount", "-l", str(place)], check=False)


def _inside(root: Path, *command: str, check: bool = True) -> None:
    kept = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    settings = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "LC_ALL": "C.UTF-8",
        "DEBIAN_FRONTEND": "noninteractive",
        **kept,
    }
    subprocess.run(["chroot", str(root), *command], env=settings, stdin=subprocess.DEVNULL, check=check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
