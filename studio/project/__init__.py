"""The script being edited: lines, takes, pronunciation dictionary, and the project file. No Qt, no torch.

A :class:`~studio.project.project.Project` writes every change to a working copy on disk at once, so that nothing is
lost if the program is killed. Lines, takes and the script are immutable values (``lines.py``, ``takes.py``,
``script.py``). A change is an immutable value as well (``changes.py``), and its inverse undoes it.
"""
