"""Developer measurements: programs that ``measure.py`` starts, and tables of their results (``*.md``)."""
