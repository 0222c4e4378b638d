"""Screenshots of every page of the window, for the manual and for reviewing changes."""
