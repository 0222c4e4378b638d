"""Distances of the interface, in pixels that do not depend on the scale of the screen."""

from __future__ import annotations

GRID = 8  # margins and gaps are multiples of this, or half of it
RADIUS = 6  # corner radius of buttons, fields and panels
FOCUS_RING = 2
SELECTION_BAR = 3  # left edge of a selected row
