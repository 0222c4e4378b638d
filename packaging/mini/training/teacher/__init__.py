"""Kokoro-82M, the synthesizer whose speech the bundled voice learns from, and how it pronounces English and Mandarin.

Decision: its network is divided where durations and F0 are known. Reason: phones get exact times, and pitch and
intonation can be changed before the sound is made, so that styles keep the timbre. Alternative: changing the sound.
"""
