"""The second process, where the models live, and the way to it.

``client.py`` asks from an asyncio loop, ``link.py`` carries (two threads for each life of the worker),
``process.py`` starts and ends, ``server.py`` answers; ``protocol.py`` is all they say to each other.
"""
