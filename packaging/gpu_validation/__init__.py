"""The check of engines on a graphics card, part by part; ``gpu_check.py`` beside this folder runs it.

``course`` takes its steps one by one, within the time there is, each asked of a process (``asked_process``) that may
die: ``model_check``. There ``candidates`` tries every way to run a stage, ``whole_requests`` speaks with the fastest, and
``ratios`` compares them with the official implementation: ``our_side`` and ``official_side`` answer the same measures
on the same ``material``, in turns. The official side is a process of its own, under whichever Python has what that
package needs.
"""
