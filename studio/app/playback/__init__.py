"""Playback of takes: the transport, the waveform panel and the comparison of takes."""
