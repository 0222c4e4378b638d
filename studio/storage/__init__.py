"""Files on disk: atomic writes, locks, JSON input, SQLite connections, and errors that name the file."""
