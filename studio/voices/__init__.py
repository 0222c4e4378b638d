"""Voice library, checks of prompt clips and their acoustic features. Arrays, not tensors."""
