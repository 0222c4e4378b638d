"""A virtual X screen with a window manager, and a file manager to drag files from."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAMS = ("Xvfb", "openbox", "xdotool")
MISSING = tuple(name for name in PROGRAMS if shutil.which(name) is None)
needs_screen = pytest.mark.skipif(
    bool(MISSING) or sys.platform != "linux",
    reason=f"needs the Debian packages xvfb openbox xdotool; missing: {MISSING}",
)
SIZE = (1920, 1080)
_PATIENCE_SECONDS = 60.0
# Without key bindings, which would take keys from the program.
_WINDOW_MANAGER = """<?xml version="1.0"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <placement><policy>Smart</policy><center>yes</center></placement>
  <focus><focusNew>yes</focusNew></focus>
  <mouse>
    <context name="Client">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
    </context>
  </mouse>
</openbox_config>
"""


@dataclass(frozen=True)
class VirtualScreen:
    """A running X server. ``environment`` contains the variables for its clients."""

    environment: Mapping[str, str]
    folder: Path


@contextlib.contextmanager
def virtual_screen(folder: Path, size: tuple[int, int] = SIZE) -> Iterator[VirtualScreen]:
    """Run an X server and a window manager. Keys do not repeat, however long a busy machine holds them."""
    folder.mkdir(parents=True, exist_ok=True)
    reading, writing = os.pipe()
    started = []
    with (folder / "screen.log").open("wb") as log:
        try:
            started.append(
                subprocess.Popen(
                    ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{size[0]}x{size[1]}x24",
                     "-nolisten", "tcp", "-noreset", "-r"],
                    pass_fds=[writing],
                    stdout=log,
                    stderr=log,
                )
            )  # fmt: skip
            os.close(writing)
            with os.fdopen(reading, "rb") as answer:
                number = answer.readline().decode().strip()
            if not number:
                raise RuntimeError(f"Xvfb does not start: {(folder / 'screen.log').read_text()}")
            environment = {**os.environ, "DISPLAY": f":{number}", "HOME": str(folder)}
            for name in ("WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "QT_SCALE_FACTOR", "DBUS_SESSION_BUS_ADDRESS"):
                environment.pop(name, None)
            settings = folder / "openbox.xml"
            settings.write_text(_WINDOW_MANAGER)
            started.append(
                subprocess.Popen(
                    ["openbox", "--sm-disable", "--config-file", str(settings)],
                    env=environment,
                    stdout=log,
                    stderr=log,
                )
            )
            _wait_for_window_manager(environment)
            yield VirtualScreen(environment, folder)
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()


def _wait_for_window_manager(environment: Mapping[str, str]) -> None:
    """Wait until the number of desktops can be read, which the window manager publishes."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        asked = subprocess.run(
            ["xdotool", "get_num_desktops"], env=dict(environment), capture_output=True, text=True, check=False
        )
        if asked.returncode == 0:
            return
        if time.monotonic() > end:
            raise TimeoutError(f"openbox does not answer: {asked.stderr}")
        time.sleep(0.1)
