"""Trainers of the stages of the bundled voice. They share ``loop``."""
