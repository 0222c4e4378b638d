"""Run a developer measurement.

    python3 packaging/measure.py NAME [options]
    python3 packaging/measure.py NAME --help

NAME is ``attribution``, ``clip-repairs``, ``cluster``, ``consistency``, ``marks``, ``qualities``, ``requests-at-once``,
``serving``, ``speakers``, ``take-checks`` or ``word-repairs``. ``gpu_check.py`` measures the engines on a GPU.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

_PACKAGING = Path(__file__).resolve().parent
# The program of this checkout, which need not be installed, and the training of the bundled model.
sys.path[:0] = [str(_PACKAGING.parent), str(_PACKAGING / "mini")]

MEASUREMENTS = {
    "attribution": "measurements.attribution",
    "clip-repairs": "measurements.clip_repairs",
    "cluster": "measurements.cluster",
    "consistency": "measurements.consistency",
    "marks": "measurements.marks",
    "qualities": "measurements.qualities",
    "requests-at-once": "measurements.requests_at_once",
    "serving": "measurements.serving",
    "speakers": "measurements.speakers",
    "take-checks": "measurements.take_checks",
    "word-repairs": "measurements.word_repairs",
}


def main(arguments: Sequence[str]) -> int:
    if not arguments or arguments[0] not in MEASUREMENTS:
        print(__doc__, file=sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    sys.argv[0] = f"{sys.argv[0]} {arguments[0]}"  # the program's name in --help
    status: int = importlib.import_module(MEASUREMENTS[arguments[0]]).main(arguments[1:])
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
