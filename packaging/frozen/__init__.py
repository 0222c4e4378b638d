"""The program as one folder that needs no Python: what goes in, whose work that is, and Linux packages of it.

``packaging/freeze.py`` is the command. ``timbre.spec`` tells PyInstaller what to freeze, on every system;
``launcher.py`` is the first line of the frozen program; ``notices.py`` finds the licences of what is inside.
"""
