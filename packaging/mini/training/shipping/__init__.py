"""From the trainers' checkpoints to a model folder in the official layout, as every other model comes."""
