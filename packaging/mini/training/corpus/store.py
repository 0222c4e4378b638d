"""A corpus on disk, in shards of a few minutes each, mapped into memory.

A shard consists of five arrays and a ``.json`` file that lists its utterances and is written last. A corpus can be
opened while it is created, and then contains the complete shards.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from training.corpus.utterance import (
    MEL_BINS,
    SAMPLES_PER_TOKEN,
    CorpusFailed,
    FloatArray,
    IntArray,
    LabelArray,
    Speaker,
    Utterance,
)

IndexArray = npt.NDArray[np.int64]

_FULL_SCALE = 32_767.0


@dataclass(frozen=True, slots=True)
class Entry:
    """Description of an utterance without its audio. ``start`` is its first token within the shard."""

    text: str
    speaker: Speaker
    style: str
    split: str
    num_tokens: int
    start: int
    shard: int


@dataclass(frozen=True, slots=True, eq=False)
class _Shard:
    samples: npt.NDArray[np.int16]
    mel: npt.NDArray[np.float16]
    f0_hz: FloatArray
    tokens: IntArray
    labels: LabelArray


class Corpus:
    """Utterances by number. Opening reads the lists; audio is read on access."""

    def __init__(self, entries: list[Entry], shards: list[_Shard]) -> None:
        self._entries = entries
        self._shards = shards
        by_name = {entry.speaker.name: entry.speaker for entry in entries}
        self.speakers: list[Speaker] = [by_name[name] for name in sorted(by_name)]

    @classmethod
    def open(cls, folder: Path) -> Corpus:
        """Raise ``CorpusFailed`` if there is no complete shard."""
        entries: list[Entry] = []
        shards: list[_Shard] = []
        for path in sorted(folder.glob("shard-*.json")):
            content = json.loads(path.read_text(encoding="utf-8"))
            entries += _entries(content, len(shards))
            shards.append(
                _Shard(**{name: np.load(path.with_suffix(f".{name}.npy"), mmap_mode="r") for name in _ARRAYS})
            )
        if not entries:
            raise CorpusFailed(f"{folder} contains no speech yet. Create some first: train.py corpus --corpus {folder}")
        return cls(entries, shards)

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: int) -> Utterance:
        entry = self._entries[index]
        return Utterance(
            text=entry.text,
            speaker=entry.speaker,
            style=entry.style,
            split=entry.split,
            samples=self.samples(index),
            tokens=self.tokens(index),
            mel=self.mel(index),
            f0_hz=self.f0_hz(index),
        )

    def entry(self, index: int) -> Entry:
        return self._entries[index]

    def samples(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> FloatArray:
        """Return the samples of all tokens or of a range, (960 * tokens,)."""
        begin, end = self._range(index, from_token, num_tokens)
        raw = self._shard(index).samples[begin * SAMPLES_PER_TOKEN : end * SAMPLES_PER_TOKEN]
        return raw.astype(np.float32) / np.float32(_FULL_SCALE)

    def mel(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> FloatArray:
        """Return the mel (2 * tokens, 80)."""
        begin, end = self._range(index, from_token, num_tokens)
        return self._shard(index).mel[2 * begin : 2 * end].astype(np.float32)

    def f0_hz(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> FloatArray:
        """Return F0 in hertz (2 * tokens,)."""
        begin, end = self._range(index, from_token, num_tokens)
        return np.array(self._shard(index).f0_hz[2 * begin : 2 * end])

    def tokens(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> IntArray:
        """Return the tokens (tokens,)."""
        begin, end = self._range(index, from_token, num_tokens)
        return np.array(self._shard(index).tokens[begin:end])

    def labels(self, index: int) -> LabelArray:
        """Return the phone label of each 20 ms, (2 * tokens,), before rare pairs are merged."""
        begin, end = self._range(index, 0, None)
        return np.array(self._shard(index).labels[2 * begin : 2 * end])

    @cached_property
    def num_tokens(self) -> IndexArray:
        """Number of tokens of each utterance, (utterances,)."""
        return np.array([entry.num_tokens for entry in self._entries])

    def indices(
        self,
        *,
        split: str | None = None,
        speaker_split: str | None = None,
        engine: str | None = None,
        style: str | None = None,
        speaker: str | None = None,
    ) -> IndexArray:
        """Return the numbers of the utterances that match all arguments. ``speaker`` is a name."""
        return np.array(
            [
                number
                for number, entry in enumerate(self._entries)
                if split in (None, entry.split)
                and speaker_split in (None, entry.speaker.split)
                and engine in (None, entry.speaker.engine)
                and style in (None, entry.style)
                and speaker in (None, entry.speaker.name)
            ],
            dtype=np.int64,
        )

    def by_speaker(self, indices: IndexArray) -> dict[str, IndexArray]:
        """Return ``indices`` by speaker, for drawing a prompt and a target of one speaker."""
        gathered: dict[str, list[int]] = {}
        for index in indices.tolist():
            gathered.setdefault(self._entries[index].speaker.name, []).append(index)
        return {name: np.array(numbers) for name, numbers in gathered.items()}

    def _shard(self, index: int) -> _Shard:
        return self._shards[self._entries[index].shard]

    def _range(self, index: int, from_token: int, num_tokens: int | None) -> tuple[int, int]:
        entry = self._entries[index]
        end = entry.num_tokens if num_tokens is None else min(entry.num_tokens, from_token + num_tokens)
        return entry.start + from_token, entry.start + end


def sample(corpus: Corpus, indices: IndexArray, generator: np.random.Generator) -> Utterance:
    """Draw one of ``indices`` with a probability proportional to its length."""
    lengths = np.cumsum(corpus.num_tokens[indices])
    return corpus[int(indices[np.searchsorted(lengths, generator.integers(lengths[-1]), side="right")])]


def crop(corpus: Corpus, indices: IndexArray, generator: np.random.Generator, *, num_tokens: int) -> tuple[int, int]:
    """Draw a piece of ``num_tokens`` as (index, first token). All possible pieces are equally likely.

    Utterances that are too short are skipped. Raise ``CorpusFailed`` if all are too short.
    """
    places = np.cumsum(np.maximum(corpus.num_tokens[indices] - num_tokens + 1, 0))
    if len(places) == 0 or places[-1] == 0:
        raise CorpusFailed(f"No utterance lasts {num_tokens} tokens. Ask for shorter pieces.")
    place = int(generator.integers(places[-1]))
    which = int(np.searchsorted(places, place, side="right"))
    return int(indices[which]), place - (int(places[which - 1]) if which else 0)


def write_shard(folder: Path, name: str, utterances: Sequence[Utterance], labels: Sequence[LabelArray]) -> None:
    """Write a shard with a name such as "shard-0007". Its list is renamed last, when everything else is complete."""
    for utterance in utterances:
        assert len(utterance.samples) == SAMPLES_PER_TOKEN * utterance.num_tokens
        assert utterance.mel.shape == (2 * utterance.num_tokens, MEL_BINS)
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {
        "samples": np.concatenate([to_pcm(each.samples) for each in utterances]),
        "mel": np.concatenate([each.mel for each in utterances]).astype(np.float16),
        "f0_hz": np.concatenate([each.f0_hz for each in utterances]).astype(np.float32),
        "tokens": np.concatenate([each.tokens for each in utterances]).astype(np.int32),
        "labels": np.concatenate(labels).astype(np.uint8),
    }
    for part, array in arrays.items():
        np.save(folder / f"{name}.{part}.npy", array)
    speakers = {each.speaker.name: each.speaker for each in utterances}
    content = {
        "speakers": {name: asdict(speaker) for name, speaker in speakers.items()},
        "utterances": [
            {
                "text": each.text,
                "speaker": each.speaker.name,
                "style": each.style,
                "split": each.split,
                "num_tokens": each.num_tokens,
            }
            for each in utterances
        ],
    }
    unfinished = folder / f"{name}.json.part"
    unfinished.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    unfinished.replace(folder / f"{name}.json")


def to_pcm(samples: FloatArray) -> npt.NDArray[np.int16]:
    """Return ``samples`` as 16-bit integers, as stored on disk."""
    return np.clip(np.round(samples * _FULL_SCALE), -_FULL_SCALE, _FULL_SCALE).astype(np.int16)


_ARRAYS = ("samples", "mel", "f0_hz", "tokens", "labels")


def _entries(content: dict[str, Any], shard: int) -> list[Entry]:
    speakers = {name: Speaker(**record) for name, record in content["speakers"].items()}
    entries: list[Entry] = []
    start = 0
    for record in content["utterances"]:
        entries.append(
            Entry(
                text=record["text"],
                speaker=speakers[record["speaker"]],
                style=record["style"],
                split=record["split"],
                num_tokens=record["num_tokens"],
                start=start,
                shard=shard,
            )
        )
        start += record["num_tokens"]
    return entries
