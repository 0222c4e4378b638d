"""The settings dialog, built from the declarations in ``studio/settings.py``, with one page for each subject."""
