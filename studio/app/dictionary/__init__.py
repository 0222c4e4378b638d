"""Editing of the pronunciation dictionaries: the one of the project and the one that all projects share."""
