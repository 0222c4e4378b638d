"""Many texts to many files: names, formats, loudness, subtitles, and going on after an interruption.

Knows neither Qt nor torch, nor where sound comes from: that is a ``SpeechSource`` (``speech_source.py``).
``plan.py`` says which files there will be, ``exporter.py`` makes them.

Decided: what has been made is remembered in the data folder, one journal for each target folder, by
what decided each file's sound and by its size and time on the disk. Because a person's folder should
hold only what they asked for, and a file that was edited since must not be overwritten unasked.
Instead of: a list beside the files.
Decided: without a wish for loudness, sound is exported as it was heard, sample for sample.
"""
