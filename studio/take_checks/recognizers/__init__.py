"""Speech recognisers that compare a recording with its text. ``protocol.py`` defines what each of them offers."""
