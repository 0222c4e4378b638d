"""Playback of takes and clips, the waveform panel, and the comparison of takes."""
