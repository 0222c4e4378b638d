"""Widgets for general use: waveform view, level meter, drop overlay, labels and error messages."""
