"""The pronunciation dictionary as a person edits it: the project's own words, and those of all projects."""
