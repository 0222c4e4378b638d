"""Whose voice: the library of voices, and what a prompt clip yields before any network sees it. Arrays, never tensors."""
