"""Training of the bundled voice: synthetic speech, trainers of all stages, the model folder, and its evaluation."""
