"""Engines page and tuning panel, which show the engine of each stage and why faster engines are not used."""
