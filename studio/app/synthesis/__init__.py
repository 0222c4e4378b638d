"""The synthesis queue, and the takes it makes."""
