"""Where the frozen program begins, in the place of a Python interpreter.

The program starts processes of its own as ``sys.executable``: the worker and the trials of engines through
``multiprocessing``, benchmarks and the manager of engines as ``-m studio.ROOM``. Frozen, that is this very
file, so it understands both; everything else on the command line is the program's.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys

_ROOMS = "studio"


def main() -> int:
    multiprocessing.freeze_support()  # what multiprocessing has started goes no further
    _hide_own_libraries()
    _tell_installer()
    if sys.argv[1:2] == ["-m"] and sys.argv[2:3] and sys.argv[2].partition(".")[0] == _ROOMS:
        room = sys.argv[2]
        del sys.argv[1:3]
        runpy.run_module(room, run_name="__main__", alter_sys=True)
        return 0
    from studio.start import main as open_door  # noqa: PLC0415 - a room may not need it

    return open_door()


def _hide_own_libraries() -> None:
    """Other programs we start (a browser, the driver's ``nvidia-smi``) want the system's libraries, not the bundled ones.

    PyInstaller points the loader at its folder, and keeps what was there before under another name.
    """
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    if before is not None:
        os.environ["LD_LIBRARY_PATH"] = before
    elif getattr(sys, "frozen", False):
        os.environ.pop("LD_LIBRARY_PATH", None)


def _tell_installer() -> None:
    """Windows: installing and removing wait until nobody holds this (``AppMutex`` in ``windows/timbre-studio.iss``)."""
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415

        ctypes.windll.kernel32.CreateMutexW(None, False, "TimbreStudioIsRunning")  # released with the process


if __name__ == "__main__":
    sys.exit(main())
