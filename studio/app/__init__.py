"""The window. The only room that knows Qt; what it works on lies in ``project``, ``voices`` and ``export``."""
