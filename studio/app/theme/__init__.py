"""Appearance of the window: light and dark colours, icons and style rules."""
