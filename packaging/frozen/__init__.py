"""The frozen program, a folder that needs no Python: its contents, their licences, and Linux packages.

``packaging/freeze.py`` is the command. ``timbre.spec`` configures PyInstaller, ``launcher.py`` is the entry point of
the frozen program, ``notices.py`` collects the licences.
"""
