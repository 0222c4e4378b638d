"""Editing of the pronunciation dictionaries: that of the project and the one shared by all projects."""
