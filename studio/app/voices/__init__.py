"""The voices dock: cards, new voices by dropping, choosing or recording, and what is known of each voice."""
