"""Checks of takes in the window: running them, automatic retries, review, the report, and the consistency of voices."""
