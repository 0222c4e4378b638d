"""Validation of engines on a GPU; ``gpu_check.py`` runs it.

``plan`` runs the steps within the available time, each in a process (``json_process``) that may crash: ``model_check``.
There ``candidates`` tries every engine, ``whole_requests`` measures the fastest, and ``ratios`` compares them with the
official implementation: ``our_side`` and ``official_side`` run the same measures on the same ``material``. The official
side is a separate process with its own Python.
"""
