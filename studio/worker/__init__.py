"""The second process, where the models live, and the way to it."""
