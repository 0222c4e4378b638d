"""Export dialog: options, preview of the file names, progress and result.

Opened by ``opening.open_export_dialog``.
"""
