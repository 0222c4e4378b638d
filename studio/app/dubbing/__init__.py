"""Dubbing: fits takes to their slots, and shows the time line of the slots with a guide track."""
