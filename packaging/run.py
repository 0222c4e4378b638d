"""Start Timbre Studio from a checkout: sets up what is missing, then runs the program.

    python3 packaging/run.py [timbre arguments]
    python3 packaging/run.py test [pytest arguments]

This file is read by whatever Python a person happens to have, so it uses nothing newer than
Python 3.7; the package ``set_up`` beside it is only imported by a Python the program runs on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

OLDEST = (3, 11)
NEWEST = (3, 13)
SET_UP_FAILED = 20


def main(arguments: list[str]) -> int:
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        return _start_with_another_python(arguments)
    from set_up.launch import launch  # noqa: PLC0415 - cannot be read by an older Python

    return launch(arguments)


def _start_with_another_python(arguments: list[str]) -> int:
    """Debian names its Pythons python3.11, python3.12; Windows has the ``py`` launcher."""
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        for command in (["python3.%d" % minor], ["py", "-3.%d" % minor]):  # noqa: UP031 - old Pythons
            program = shutil.which(command[0])
            if program and _runs([program, *command[1:]], (3, minor)):
                return _hand_over([program, *command[1:], os.path.abspath(__file__), *arguments])
    sys.stderr.write(
        "Timbre Studio needs Python 3.11, 3.12 or 3.13; this is Python {}.{}.\n"
        "Install one of them (Ubuntu 22.04: apt install python3.11 python3.11-venv; "
        "other systems: https://www.python.org/downloads/) and start again.\n".format(*sys.version_info[:2])
    )
    return SET_UP_FAILED


def _runs(command: list[str], version: tuple[int, int]) -> bool:
    """Whether it is there and is what its name says (version managers leave stand-ins that only complain)."""
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
