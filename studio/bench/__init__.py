"""Benchmark of a model on this machine.

It runs in a separate process (``python -m studio.bench``), because the time must be measured in the process of the
networks, where nothing else may run.
"""
