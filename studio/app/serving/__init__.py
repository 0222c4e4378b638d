"""The window's speech service: other programs use the voices and the worker of this window."""
