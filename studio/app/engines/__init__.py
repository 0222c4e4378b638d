"""Engines page and tuning panel: the engine of each stage, and why faster engines are not used."""
