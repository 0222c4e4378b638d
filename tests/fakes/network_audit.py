"""Runs the program without a network, and reports its connection attempts and the files it writes to the home folder.

An audit hook in each process watches Python code. Libraries in other languages are watched only if ``strace`` is
installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[2]
# Python imports a module of this name before anything else, in child processes too.
_SITE = """
import os, sys

def is_local(host):
    return host in (None, "", "localhost", "::1") or str(host).startswith("127.")

def watch(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if not is_local(host):
        with open(os.environ["CONTACT_ATTEMPTS"], "a") as file:
            print(event, host, *sys.argv, file=file)
        raise OSError(101, "Network is unreachable")

sys.addaudithook(watch)
"""
_ADDRESS = re.compile(r'sin_port=htons\((\d+)\), sin_addr=inet_addr\("([\d.]+)"\)')
_ADDRESS_6 = re.compile(r'sin6_port=htons\((\d+)\).*?inet_pton\(AF_INET6, "([\da-f:.]+)"')
_RESOLVER = "io.systemd.Resolve"
_DNS_PORT = 53


@dataclass(frozen=True)
class Contacts:
    ran: subprocess.CompletedProcess[str]
    attempts: list[str]  # connections attempted by Python code
    calls: list[str] | None  # system calls; None without strace
    files: list[str]  # files left in the home folder and in the temporary folder


def run_audited(arguments: list[str], folder: Path) -> Contacts:
    """Run this Python with ``arguments`` in the empty ``folder``, which is also its home folder."""
    site, home, temporary = folder / "site", folder / "home", folder / "tmp"
    for place in (site, home, temporary):
        place.mkdir()
    (site / "sitecustomize.py").write_text(_SITE, "utf-8")
    attempts, trace = folder / "attempts", folder / "trace"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(site), str(_CHECKOUT)]),
        "CONTACT_ATTEMPTS": str(attempts),
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "QT_QPA_PLATFORM": "offscreen",
        **{f"TIMBRE_{name}": str(folder / name.lower()) for name in ("DATA", "CACHE", "LOGS", "CONFIG")},
    }
    for name in [name for name in environment if name.startswith(("XDG_", "HF_", "ORT_")) or name == "DO_NOT_TRACK"]:
        del environment[name]
    environment["ORT_DISABLE_TELEMETRY"] = "0"  # set for other programs
    strace = shutil.which("strace")
    # --seccomp-bpf: without it, strace stops each process at every system call.
    calls = ["-f", "--seccomp-bpf", "-qq", "-s", "120", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o", str(trace)]
    tracing = [strace, *calls] if strace else []
    ran = subprocess.run(
        [*tracing, sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return Contacts(
        ran,
        attempts.read_text("utf-8").splitlines() if attempts.exists() else [],
        [line for line in trace.read_text("utf-8", "replace").splitlines() if _is_external(line)] if strace else None,
        [str(path.relative_to(folder)) for root in (home, temporary) for path in sorted(root.rglob("*"))],
    )


def _is_external(call: str) -> bool:
    """Return whether a line of strace is a name lookup or a connection to another computer."""
    found = _ADDRESS.search(call) or _ADDRESS_6.search(call)
    if found is None:
        return _RESOLVER in call
    return int(found[1]) == _DNS_PORT or not (found[2].startswith(("127.", "::ffff:127.")) or found[2] == "::1")
