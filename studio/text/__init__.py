"""Text processing: from written text to text tokens of a model."""
