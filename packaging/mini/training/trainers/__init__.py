"""One trainer a stage of the bundled voice; ``loop`` is what they share."""
