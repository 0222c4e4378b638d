"""Pieces of the window that know nothing of voices or scripts: waveforms, meters, the drop overlay, labels."""
