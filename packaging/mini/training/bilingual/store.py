"""The corpus on disk, in shards of about two minutes, mapped into memory.

A shard consists of the samples, F0, and a ``.json`` file that lists its lines and is written last. A corpus can be
opened while it is created, and then contains the complete shards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from training.bilingual.voices import Split, VoiceRecipe
from training.corpus.store import IndexArray, to_pcm
from training.corpus.utterance import SAMPLES_PER_TOKEN, CorpusFailed, FloatArray

_FULL_SCALE = 32_767.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line that was read: its text and how it was pronounced.

    ``spoken`` is the text in words. ``symbols`` are the teacher's phonemes, ``frames`` the 25 ms frames of silence, of
    each symbol, and of silence. ``syllables`` are those of the Han characters, such as "hao3".
    """

    text: str
    spoken: str
    language: str
    kind: str
    voice: str
    style: str
    split: str
    symbols: str
    frames: tuple[int, ...]
    syllables: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """``samples`` at 24 kHz, a multiple of 960, and ``f0_hz`` of each 20 ms, 0 if unvoiced."""

    line: Line
    samples: FloatArray = field(repr=False)
    f0_hz: FloatArray = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Shard:
    samples: npt.NDArray[np.int16]
    f0_hz: FloatArray


class BilingualCorpus:
    """Lines by number. Opening reads the lists; audio is read on access."""

    def __init__(self, lines: list[Line], voices: dict[str, VoiceRecipe], shards: list[_Shard]) -> None:
        self.lines = lines
        self.voices = voices
        self._shards = shards
        self._places: list[tuple[int, int, int]] = []  # shard, first token, number of tokens

    @classmethod
    def open(cls, folder: Path, *, first_shards: int | None = None) -> BilingualCorpus:
        """Raise ``CorpusFailed`` if there is no complete shard."""
        corpus = cls([], {}, [])
        for path in sorted(folder.glob("shard-*.json"))[:first_shards]:
            corpus._add(path)
        if not corpus.lines:
            raise CorpusFailed(f"{folder} contains no speech yet. Create some first: train.py bilingual")
        return corpus

    def _add(self, path: Path) -> None:
        content = json.loads(path.read_text("utf-8"))
        arrays = {name: np.load(path.with_suffix(f".{name}.npy"), mmap_mode="r") for name in ("samples", "f0_hz")}
        start = 0
        for record in content["lines"]:
            num_tokens = record.pop("num_tokens")
            record["frames"], record["syllables"] = tuple(record["frames"]), tuple(record["syllables"])
            self.lines.append(Line(**record))
            self._places.append((len(self._shards), start, num_tokens))
            start += num_tokens
        self.voices |= {name: _voice(record) for name, record in content["voices"].items()}
        self._shards.append(_Shard(**arrays))

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def num_tokens(self) -> IndexArray:
        """Number of tokens of 40 ms of each line, (lines,)."""
        return np.array([num_tokens for _, _, num_tokens in self._places], np.int64)

    def samples(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> FloatArray:
        """Return the samples of all tokens or of a range, (960 * tokens,)."""
        shard, begin, end = self._range(index, from_token, num_tokens)
        raw = self._shards[shard].samples[begin * SAMPLES_PER_TOKEN : end * SAMPLES_PER_TOKEN]
        return raw.astype(np.float32) / np.float32(_FULL_SCALE)

    def f0_hz(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> FloatArray:
        """Return F0 in hertz of each 20 ms, (2 * tokens,)."""
        shard, begin, end = self._range(index, from_token, num_tokens)
        return np.array(self._shards[shard].f0_hz[2 * begin : 2 * end])

    def indices(self, wanted: Callable[[Line, VoiceRecipe], bool]) -> IndexArray:
        """Return the numbers of the lines for which ``wanted`` is true."""
        return np.array(
            [number for number, line in enumerate(self.lines) if wanted(line, self.voices[line.voice])], np.int64
        )

    def training_indices(self) -> IndexArray:
        return self.indices(lambda line, voice: line.split == "train" and voice.split is Split.TRAIN)

    def seconds(self, language: str) -> float:
        """Return the seconds of all lines in ``language``."""
        is_wanted = np.array([line.language == language for line in self.lines])
        return float(self.num_tokens[is_wanted].sum()) / 25.0

    def _range(self, index: int, from_token: int, num_tokens: int | None) -> tuple[int, int, int]:
        shard, start, length = self._places[index]
        end = length if num_tokens is None else min(length, from_token + num_tokens)
        return shard, start + from_token, start + end


def write_shard(folder: Path, name: str, recordings: Sequence[Recording], voices: dict[str, VoiceRecipe]) -> None:
    """Write a shard with a name such as "shard-0007". Its list is renamed last, when everything else is complete."""
    for recording in recordings:
        assert len(recording.samples) == 480 * len(recording.f0_hz)
        assert len(recording.samples) % SAMPLES_PER_TOKEN == 0
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{name}.samples.npy", np.concatenate([to_pcm(each.samples) for each in recordings]))
    np.save(folder / f"{name}.f0_hz.npy", np.concatenate([each.f0_hz for each in recordings]).astype(np.float32))
    used = {each.line.voice: asdict(voices[each.line.voice]) for each in recordings}
    content = {
        "voices": {name: {**record, "split": record["split"].value} for name, record in used.items()},
        "lines": [{**asdict(each.line), "num_tokens": len(each.samples) // SAMPLES_PER_TOKEN} for each in recordings],
    }
    unfinished = folder / f"{name}.json.part"
    unfinished.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    unfinished.replace(folder / f"{name}.json")


def _voice(record: dict[str, Any]) -> VoiceRecipe:
    return VoiceRecipe(**{**record, "split": Split(record["split"])})
