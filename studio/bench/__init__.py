"""Measuring: what this machine makes of a model, in numbers with definitions; and random models to measure with.

Runs as a process of its own (``python -m studio.bench``), because a benchmark needs the networks in
the same process as its clock, and must not share that process with a window or a command line.
"""
