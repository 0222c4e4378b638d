"""Dialogs for audiobooks: details of the work, and the check of audio levels."""
