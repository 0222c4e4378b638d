"""Sets up a checkout: Python environment, torch build, system libraries.

Runs on all supported Pythons without any package, and does not import the program.

Decision: a stamp that is written last describes the environment, and everything before it is repeatable. Reason: a
set-up can be interrupted or started twice at the same time, and a start that finds a current stamp needs no other
checks. Alternative: asking pip at each start, which takes seconds.
"""
