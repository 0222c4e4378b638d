"""The settings dialog: made from the declarations in ``studio/settings.py``, one page for each subject."""
