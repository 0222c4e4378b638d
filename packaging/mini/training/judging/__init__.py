"""Measures of the bundled voice: intelligibility, timbre, pitch, and the quality of the vocoder."""
