"""Export dialog with options, a preview of the file names, progress and result.

The window opens it with ``opening.open_export_dialog``.
"""
