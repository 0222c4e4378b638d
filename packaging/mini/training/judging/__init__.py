"""What the bundled voice is measured by: words, timbre, pitch, and how well the vocoder copies."""
