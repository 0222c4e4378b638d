"""Checks of takes: whether the recorded speech matches its text and the voice of the prompt, and has no faults.

Does not import Qt or torch. ``records.py`` contains the results, which projects store; ``requests.py`` the inputs.
"""
