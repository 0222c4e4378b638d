"""Distances of the interface, in pixels that do not depend on the scale of the screen."""

from __future__ import annotations

GRID = 8  # margins and gaps are multiples of this, or half of it
SPACINGS = (0, 2, 4, 8, 12, 16, 24)  # a test checks that margins and gaps are among them
RADIUS = 6  # corner radius of buttons, fields and panels
SMALL_RADIUS = 4  # of parts of these, and of marks in texts and timelines
FOCUS_RING = 2
SELECTION_BAR = 3  # left edge of a selected row
