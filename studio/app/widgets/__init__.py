"""Widgets independent of voices and scripts: waveforms, meters, the drop overlay, labels."""
