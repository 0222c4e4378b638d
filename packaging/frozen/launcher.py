"""Entry point of the frozen program, which also replaces the Python interpreter for child processes.

The program starts child processes with ``sys.executable``: the worker and engine trials through ``multiprocessing``,
benchmarks and the engine manager with ``-m studio.MODULE``. In the frozen program, that is this file, so it handles
both and passes all other arguments to the program.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys

_PACKAGE = "studio"


def main() -> int:
    multiprocessing.freeze_support()  # does not return in a child process of multiprocessing
    _hide_own_libraries()
    _tell_installer()
    if sys.argv[1:2] == ["-m"] and sys.argv[2:3] and sys.argv[2].partition(".")[0] == _PACKAGE:
        module = sys.argv[2]
        del sys.argv[1:3]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return 0
    from studio.start import main as start  # noqa: PLC0415 - not needed by other modules

    return start()


def _hide_own_libraries() -> None:
    """Restore the library path for other programs (a browser, ``nvidia-smi``), which need the system's libraries.

    PyInstaller sets the path to its folder and saves the original value in another variable.
    """
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    if before is not None:
        os.environ["LD_LIBRARY_PATH"] = before
    elif getattr(sys, "frozen", False):
        os.environ.pop("LD_LIBRARY_PATH", None)


def _tell_installer() -> None:
    """Hold a mutex on Windows that installer and uninstaller wait for (``AppMutex`` in the ``.iss`` file)."""
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415

        ctypes.windll.kernel32.CreateMutexW(None, False, "TimbreStudioIsRunning")  # released with the process


if __name__ == "__main__":
    sys.exit(main())
