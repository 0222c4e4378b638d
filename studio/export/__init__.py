"""Export of lines to audio files, subtitles and a manifest. Contains no Qt and no torch.

``plan.py`` determines the files, and ``exporter.py`` writes them. The audio comes from a ``SpeechSource``
(``speech_source.py``).

Decision: for each target folder, a journal in the data folder records the exported files with their parameters, sizes
and times. Reason: the target folder contains only what was requested, and a file that was edited since its export is
not overwritten without asking. Alternative: a list beside the files.

Decision: if there is no loudness target, the audio is exported unchanged, sample for sample.
"""
