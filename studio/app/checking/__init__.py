"""Checks of takes in the window: running them, automatic retries, review and the report."""
