"""Speaker embeddings of possible prompts, computed once by the trained encoder and stored in a file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio.model.onnx_networks import SpeakerEncoder
from training.corpus.store import Corpus
from training.corpus.utterance import FloatArray
from training.trainers.filter_bank_pool import filter_bank_of, some_of_each, usual_indices
from training.trainers.options import TrainingFailed, TrainingOptions

_FILE = "speaker_embeddings.npz"


def encoder_path(options: TrainingOptions) -> Path:
    """Return the encoder of this work folder. Raise ``TrainingFailed`` if it does not exist."""
    path = options.work / "speaker_encoder.onnx"
    if not path.is_file():
        raise TrainingFailed(f"{path} does not exist. Train the speaker encoder first, which the flow needs.")
    return path


@dataclass(frozen=True, slots=True, eq=False)
class SpeakerEmbeddings:
    """Some utterances of each speaker, and their normalised embeddings (192,)."""

    indices: dict[str, npt.NDArray[np.int64]]
    of_index: dict[int, FloatArray]

    @classmethod
    def of(cls, corpus: Corpus, encoder: Path, cache: Path, *, most_of_each: int) -> SpeakerEmbeddings:
        """Reads ``cache`` if it is from the same encoder and corpus; otherwise computes and writes it."""
        chosen = some_of_each(
            corpus, usual_indices(corpus, np.arange(len(corpus))), most_of_each, np.random.default_rng(0)
        )
        wanted = np.concatenate(list(chosen.values()))
        texts = "\0".join(corpus.entry(index).text for index in wanted.tolist())
        key = hashlib.sha256(encoder.read_bytes() + wanted.tobytes() + texts.encode()).hexdigest()
        embeddings = _read(cache / _FILE, key)
        if embeddings is None:
            listen = SpeakerEncoder(encoder, num_threads=1)
            embeddings = np.stack([listen.embed(filter_bank_of(corpus, index)) for index in wanted.tolist()])
            embeddings /= np.maximum(np.linalg.norm(embeddings, axis=1, keepdims=True), 1e-12)
            _write(cache / _FILE, key, embeddings)
        return cls(chosen, dict(zip(wanted.tolist(), embeddings, strict=True)))

    def draw_index(self, speaker: str, random: np.random.Generator) -> int:
        return int(random.choice(self.indices[speaker]))


def _read(path: Path, key: str) -> FloatArray | None:
    if not path.is_file():
        return None
    with np.load(path) as content:
        embeddings: FloatArray = content["embeddings"]
        return embeddings if str(content["key"]) == key else None


def _write(path: Path, key: str, embeddings: FloatArray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"part-{path.name}")  # numpy requires this suffix
    np.savez(beside, key=np.array(key), embeddings=embeddings)
    beside.replace(path)
