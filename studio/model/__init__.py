"""The networks of each stage: tensors in, tensors out. SPECIFICATION.md describes the models."""
