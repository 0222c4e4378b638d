"""Screenshots of every page of the window, for the README and for reviewing changes."""
