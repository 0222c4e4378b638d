"""The same mathematics, faster: which engine runs each stage on this very machine, and why not a faster one.

Decided: every way to run a stage is a *candidate* (``candidate.py``) and goes through probe, build, verify,
time, choose. Because a fast engine that is wrong is heard as noise, and only the person's own machine can
tell. Instead of: a list of cards and flags that are believed to work.

Builds happen in a process of their own; what they leave lies in the cache folder, keyed by everything that
would make it stale. Nothing here knows texts, voices' names or requests: the worker takes a verified stage
between two lines and hands it to the pipeline.
"""
