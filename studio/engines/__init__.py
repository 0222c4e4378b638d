"""Engine candidates: probe, build, verify, time and choose the fastest correct one on this machine.

Decision: every way to run a stage is a *candidate* (``candidate.py``) that is verified and timed on the user's machine.
Reason: a fast engine that is wrong produces noise, and only that machine shows it. Alternative: a list of GPUs and
flags that are assumed to work.

Builds run in a child process; their files are cached under a key of everything that would make them stale. The
package does not know texts, voice names or requests: the worker swaps a verified stage in between two lines.
"""
