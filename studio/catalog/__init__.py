"""Models that exist on this machine. Knows their folders, not what is in them; no torch."""
