"""Start Timbre Studio from a checkout: set up what is missing, then run the program.

    python3 packaging/run.py [timbre arguments]
    python3 packaging/run.py test [pytest arguments]

This file must run on any Python, so it uses nothing newer than Python 3.7. The package ``set_up`` is imported only by
a supported Python (``requires-python`` in pyproject.toml).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

_CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SET_UP_FAILED = 20


def main(arguments: list[str]) -> int:
    oldest, newest = supported_pythons()
    if not oldest <= sys.version_info[:2] <= newest:
        return _start_with_another_python(oldest, newest, arguments)
    from set_up.launch import launch  # noqa: PLC0415 - older Pythons cannot import it

    return launch(arguments)


def supported_pythons(folder: str = _CHECKOUT) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the oldest and the newest version of ``requires-python``: ``>=3.11,<3.15`` is 3.11 to 3.14."""
    with open(os.path.join(folder, "pyproject.toml"), encoding="utf-8") as file:
        found = re.search(r'^requires-python = ">=3\.(\d+),<3\.(\d+)"', file.read(), re.MULTILINE)
    assert found is not None
    return (3, int(found.group(1))), (3, int(found.group(2)) - 1)


def _start_with_another_python(oldest: tuple[int, int], newest: tuple[int, int], arguments: list[str]) -> int:
    """Look for python3.11, python3.12 … (Debian), the ``py`` launcher (Windows), or a Python of ``uv``."""
    rest = [os.path.abspath(__file__), *arguments]
    for minor in range(newest[1], oldest[1] - 1, -1):
        for command in (["python3.%d" % minor], ["py", "-3.%d" % minor]):  # noqa: UP031 - old Pythons
            program = shutil.which(command[0])
            if program and _runs([program, *command[1:]], (3, minor)):
                return _hand_over([program, *command[1:], *rest])
    uv = shutil.which("uv")
    python = uv and _python_of_uv(uv, ">=3.%d,<3.%d" % (oldest[1], newest[1] + 1))  # noqa: UP031 - old Pythons
    if python:
        return _hand_over([python, *rest])
    sys.stderr.write(
        "Timbre Studio needs Python 3.{} to 3.{}; this is Python {}.{}.\n"
        "Install one of them (Debian and Ubuntu: apt install python3.11 python3.11-venv, or a newer one; "
        "any system: uv, https://docs.astral.sh/uv/, or https://www.python.org/downloads/) and start again.\n".format(
            oldest[1], newest[1], *sys.version_info[:2]
        )
    )
    return SET_UP_FAILED


def _python_of_uv(uv: str, versions: str) -> str | None:
    """Return the path of a Python that uv finds or downloads, or None."""
    found = _found_by_uv(uv, versions)
    if found is None:
        sys.stderr.write("No Python %s is installed; uv downloads one.\n" % versions)  # noqa: UP031 - old Pythons
        subprocess.run([uv, "python", "install", versions], stdout=sys.stderr, check=False)
        found = _found_by_uv(uv, versions)
    return found


def _found_by_uv(uv: str, versions: str) -> str | None:
    # --system excludes environments, which the set-up may be about to replace.
    answer = subprocess.run(
        [uv, "python", "find", "--system", versions], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
    )
    return os.fsdecode(answer.stdout).strip() or None


def _runs(command: list[str], version: tuple[int, int]) -> bool:
    """Return whether ``command`` starts that version: version managers install placeholders that only fail."""
    answer = subprocess.run(
        [*command, "-c", "import sys; print(sys.version_info[:2] == %r)" % (version,)],  # noqa: UP031 - old Pythons
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return answer.stdout.strip() == b"True"


def _hand_over(command: list[str]) -> int:
    if os.name == "posix":
        os.execv(command[0], command)  # noqa: S606 - does not return
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
