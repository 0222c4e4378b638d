"""The script being edited: lines, takes, pronunciation dictionary, and the project file. No Qt, no torch.

A :class:`~studio.project.project.Project` (``project.py``) is a working copy on disk to which every change is written
at once, so that a program that is killed loses nothing. Lines, takes and the script are immutable values (``lines.py``,
``takes.py``, ``script.py``). A change is a value too (``changes.py``), and undo keeps its inverse.
"""
