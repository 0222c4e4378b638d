"""Export of lines to audio files, subtitles and a manifest: names, formats, loudness, and resuming. No Qt, no torch.

``plan.py`` determines the files, ``exporter.py`` makes them. The audio comes from a ``SpeechSource``
(``speech_source.py``).

Decision: a journal per target folder, in the data folder, records each exported file with its parameters, size and
time. Reason: the target folder contains only what was requested, and a file that was edited since is not overwritten
without asking. Alternative: a list beside the files.
Decision: without a loudness target, audio is exported unchanged, sample for sample.
"""
