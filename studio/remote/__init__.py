"""Another computer as a worker: its `timbre serve`, OpenAI's speech API or CosyVoice's Triton runtime.

Decision: a remote computer is a ``Worker``, as the local process is, so that ``WorkerClient`` and everything above it
need no second path. Reason: requests, cancellation, progress and failures then have one meaning. Alternative: a second
client beside ``WorkerClient``.

Decision: the voice travels as its file (a recording, or prompt features as safetensors), identified by its SHA-256, and
the served model computes the prompt features. Reason: the features depend on the model, which this computer may not
have. Alternative: features of a local front end.
"""
