"""The desktop application, the only package that imports Qt.

Its data is defined in ``project``, ``voices`` and ``export``.
"""
