"""Benchmark of a model on this machine: measurements with definitions.

Runs in its own process (``python -m studio.bench``): the clock must be in the process of the networks, and nothing
else may run there.
"""
