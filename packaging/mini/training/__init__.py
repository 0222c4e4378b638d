"""How the bundled voice is made: synthetic speech, the trainers of every stage, the shipped folder, and its judges."""
