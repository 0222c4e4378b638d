"""Appearance of the window: colours for light and dark, icons, and style rules."""
