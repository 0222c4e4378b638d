"""Models that exist: what is known of them, where they lie, and how they come, are checked and go. No torch, no Qt."""
