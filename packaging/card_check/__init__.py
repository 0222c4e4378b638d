"""The check of engines on a graphics card, part by part; ``gpu_check.py`` beside this folder runs it.

``candidates`` tries every way to run a stage, ``requests`` speaks with the fastest, ``ratios`` compares them with the
official implementation: ``our_side`` and ``official_side`` answer the same measures on the same ``material``, in
turns. The official side is a process of its own, under whichever Python has what that package needs.
"""
