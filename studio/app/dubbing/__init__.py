"""Dubbing: fitting of takes to their slots, the time line of a script with slots, and its guide track."""
