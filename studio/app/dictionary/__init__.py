"""Editing of the project's pronunciation dictionary and of the one that all projects share."""
