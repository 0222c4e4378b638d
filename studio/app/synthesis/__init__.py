"""The synthesis queue and the takes that it generates."""
