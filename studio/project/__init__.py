"""The script a person works on: its lines, the takes of each, how words are pronounced, and the file of it all.

Knows neither Qt nor torch. ``project.py`` is the door: a :class:`~studio.project.project.Project` is a
working copy that every change is written to at once, so that a program killed at any moment loses
nothing. What is edited are values (``lines.py``, ``takes.py``, ``script.py``), an edit is a value
(``changes.py``), and its inverse is what undo keeps.
"""
