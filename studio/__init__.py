"""Timbre Studio: a desktop voice-cloning studio on the CosyVoice model family.

Rooms import downwards only::

    cli -> worker -> pipeline -> model -> voices | text -> audio -> settings -> paths, errors

torch, ONNX Runtime and their friends stay behind ``worker/process.py``: no other process of the
program imports them. import-linter holds both rules (``pyproject.toml``).
"""

__version__ = "0.1.0"
