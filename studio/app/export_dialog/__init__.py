"""The dialog over ``studio.export``: what a person wishes, the names that come of it, and how far it is.

The window opens it with ``opening.open_export_dialog``.
"""
