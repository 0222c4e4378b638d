"""Model folders in the official layout with random weights, for benchmarks and tests."""
