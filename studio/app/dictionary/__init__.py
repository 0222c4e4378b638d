"""Editing of the project's pronunciation dictionary and of the shared one."""
