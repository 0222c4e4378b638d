"""From what a person typed to text tokens, each step a function whose result can be shown."""
