"""Measurements of developers: programs that ``measure.py`` starts, and the tables of what they measured (``*.md``)."""
