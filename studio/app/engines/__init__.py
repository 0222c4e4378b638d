"""Engines page and tuning panel: the engine of each stage, and why faster ones are not used."""
