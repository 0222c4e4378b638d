"""The voices dock: voice cards, and new voices from dropped files, chosen files or recordings."""
