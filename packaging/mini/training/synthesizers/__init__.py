"""The synthesizers, phones and speech tokens of the model that is bundled now, for the measurement of take checks.

They leave with that model; the next one learns from ``training.teacher``.
"""
