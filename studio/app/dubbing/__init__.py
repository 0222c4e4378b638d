"""Dubbing: fits takes to their slots, and shows the timeline of the slots with a guide track."""
