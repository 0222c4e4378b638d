"""Qualities of takes: their names, the choice for a script, and drafts that become final."""
