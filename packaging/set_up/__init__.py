"""Everything between a fresh checkout and a running program: Python environment, torch build, system libraries.

Runs on every Python that the program runs on, without any package, and knows nothing of what it installs.

Decided: the environment is described by a stamp written last, and everything before the stamp is
repeatable. Because: people press Ctrl-C, laptops go to sleep, two terminals start at once; a start
that finds the stamp of today's checkout need look no further. Instead of: asking pip at each start
whether everything is there, which takes seconds.
"""
