"""Timbre Studio: a desktop voice-cloning studio on the CosyVoice model family.

Packages, each importing only from those below it:

=============  =====================================================================
``app``        Qt window, the only package with Qt
``cli``        command line
``health``     self-checks, logs, error reports
``export``     audio files, subtitles and manifests from many lines
``bench``      benchmarks
``project``    script, takes, dictionary, project file and its recovery
``catalog``    known and installed models: download, verify, remove
``worker``     second process with the models, and its client
``engines``    faster implementations of the model stages, selected by trials
``pipeline``   streaming synthesis of a request
``model``      the networks: speech language model, flow, vocoder
``text``       normalization, segmentation, text tokens
``voices``     voice library, checks and features of prompt clips
``audio``      waveforms, audio files, audio devices
``system``     child processes, processor, installation
``storage``    atomic writes, locks, JSON input, SQLite
=============  =====================================================================

torch, ONNX Runtime, TensorRT and vLLM are imported only in the worker process. import-linter checks both rules
(``pyproject.toml``).

Glossary:

voice
    A named clip in the library, with its transcript and notes.
prompt
    What the models take from a voice: speech tokens, mel spectrogram, speaker embedding.
line
    One row of the script: text, voice and style.
take
    One recording of a line. A line may have several and plays its chosen one.
job
    A line in the queue of the window, waiting to be spoken.
request
    Everything the worker needs to synthesize a text, frozen when the job starts.
utterance
    The state of synthesis of one sentence of a request.
chunk
    A piece of an utterance's waveform, played as soon as it is ready.
engine
    One implementation of a model stage, such as PyTorch, ONNX Runtime or TensorRT.
device
    The CPU or GPU an engine runs on; an audio device plays or records.
"""

import os

from studio.system import telemetry

__version__ = "0.1.0"

# OpenMP reads these once, when torch is loaded: waiting threads sleep instead of spinning. On a busy computer,
# spinning made the flow of studio-mini 30 times slower. GNU's library, which torch uses on Linux, first spins for a
# fraction of a millisecond, because the next operation usually starts sooner. On an idle computer, the flow of
# CosyVoice3 then takes 0.76 (bfloat16) and 0.61 (int8) of the time; with a busy process on each core, it is not slower.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

# Otherwise CUDA numbers GPUs by speed, while nvidia-smi, which the settings use, numbers them by slot.
os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")

telemetry.switch_off(os.environ)
