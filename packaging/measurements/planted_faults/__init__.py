"""Measurement of the checks of takes: planted faults, good takes, word times and costs."""
