"""Engine candidates: probe, build, verify, time and choose the fastest correct one on this machine.

Decision: every way to run a stage is a *candidate* (``candidate.py``) that is verified and timed on the user's machine.
Reason: a wrong engine produces noise, and only a test on that machine detects it. Alternative: a list of GPUs and
flags that are assumed to work.

Builds run in a child process; their files are cached under a key of everything that would make them stale. The
package is independent of texts, voice names and requests: the worker swaps a verified stage in between two lines.
"""
