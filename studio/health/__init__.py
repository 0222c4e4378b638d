"""Diagnostics of the installation, error reports, and the log file. Imports neither torch nor Qt."""
