"""Files on disk: atomic writes, locks, JSON input, SQLite connections, and disk errors."""
