"""The mathematics, one file per stage. Tensors in, tensors out."""
