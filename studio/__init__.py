"""Timbre Studio: a desktop voice-cloning studio on the CosyVoice model family.

Rooms import downwards only::

    cli -> worker -> pipeline -> model -> voices | text -> audio -> settings -> paths, errors

torch, ONNX Runtime and their friends stay behind ``worker/process.py``: no other process of the
program imports them. import-linter holds both rules (``pyproject.toml``).
"""

import os

from studio.system import telemetry

__version__ = "0.1.0"

# OpenMP reads this once, when torch is loaded. Threads that wait for each other sleep instead of spinning:
# beside other busy programs, spinning was seen to make the (miniature) flow 30 times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

telemetry.switch_off(os.environ)
