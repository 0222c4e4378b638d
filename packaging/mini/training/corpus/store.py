"""The corpus on disk, in shards of about two minutes, mapped into memory.

A shard consists of the samples, F0, and a ``.json`` file that lists its lines and is written last. A corpus can be
opened while it is created, and then contains the complete shards. The sounds, tones and mels of a shard are computed
when they are first needed, and stored beside it. A shard of readings has no samples, but its sounds and tones.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from training.corpus.acoustics import mel_of
from training.corpus.lines import Line, Reading, Recording
from training.corpus.phones import silent_halves, timed_labels
from training.corpus.tokens import Register, TokenTable, relative_semitones
from training.corpus.utterance import SAMPLES_PER_TOKEN, CorpusFailed, FloatArray, IntArray, LabelArray, Speaker
from training.corpus.voices import Split, VoiceRecipe

IndexArray = npt.NDArray[np.int64]

PLAN_FILE = "plan.json"
_FULL_SCALE = 32_767.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A line without its audio. ``start`` is its first token within the shard."""

    line: Line
    speaker: Speaker
    num_tokens: int
    start: int
    shard: int

    @property
    def text(self) -> str:
        return self.line.text

    @property
    def style(self) -> str:
        return self.line.style

    @property
    def split(self) -> str:
        """That of the text: "train", "validation" or "test"."""
        return self.line.split


@dataclass(frozen=True, slots=True, eq=False)
class _Shard:
    path: Path
    samples: npt.NDArray[np.int16] = field(repr=False)
    f0_hz: FloatArray = field(repr=False)


class Corpus:
    """Lines by number. Opening reads the lists; everything else is read on access."""

    def __init__(self, entries: list[Entry], shards: list[_Shard], table: TokenTable | None = None) -> None:
        self._entries = entries
        self._shards = shards
        self._table = table
        self._labels: dict[int, npt.NDArray[np.uint8]] = {}
        self._mels: dict[int, FloatArray] = {}
        by_name = {entry.speaker.name: entry.speaker for entry in entries}
        self.speakers: list[Speaker] = [by_name[name] for name in sorted(by_name)]

    @classmethod
    def open(cls, folder: Path, table: TokenTable | None = None) -> Corpus:
        """Raise ``CorpusFailed`` if there is no complete shard. ``table`` defines the speech tokens."""
        found: list[tuple[Line, int, int, int]] = []  # line, shard, first token, number of tokens
        voices: dict[str, VoiceRecipe] = {}
        shards: list[_Shard] = []
        for path in sorted(folder.glob("shard-*.json")):
            content = json.loads(path.read_text("utf-8"))
            start = 0
            for record in content["lines"]:
                num_tokens = record.pop("num_tokens")
                record["frames"], record["syllables"] = tuple(record["frames"]), tuple(record["syllables"])
                found.append((Line(**record), len(shards), start, num_tokens))
                start += num_tokens
            voices |= {name: _voice(record) for name, record in content["voices"].items()}
            samples, f0_hz = (path.with_suffix(f".{name}.npy") for name in ("samples", "f0_hz"))
            heard = np.load(samples, mmap_mode="r") if samples.exists() else np.zeros(0, np.int16)
            shards.append(_Shard(path, heard, np.load(f0_hz, mmap_mode="r")))
        if not found:
            raise CorpusFailed(f"{folder} contains no speech yet. Create some first: train.py corpus")
        speakers = _speakers(found, voices, shards)
        entries = [
            Entry(line, speakers[line.voice], num_tokens, start, shard) for line, shard, start, num_tokens in found
        ]
        return cls(entries, shards, table)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def table(self) -> TokenTable:
        if self._table is None:
            raise CorpusFailed("The speech tokens are not chosen yet. Choose them: train.py tokens")
        return self._table

    @cached_property
    def lines(self) -> list[Line]:
        return [entry.line for entry in self._entries]

    def entry(self, index: int) -> Entry:
        return self._entries[index]

    def samples(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> FloatArray:
        """Return the samples of all tokens or of a range, (960 * tokens,)."""
        begin, end = self._range(index, from_token, num_tokens)
        raw = self._shard(index).samples[begin * SAMPLES_PER_TOKEN : end * SAMPLES_PER_TOKEN]
        return raw.astype(np.float32) / np.float32(_FULL_SCALE)

    def f0_hz(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> FloatArray:
        """Return F0 in hertz (2 * tokens,)."""
        begin, end = self._range(index, from_token, num_tokens)
        return np.array(self._shard(index).f0_hz[2 * begin : 2 * end])

    def mel(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> FloatArray:
        """Return the mel (2 * tokens, 80)."""
        begin, end = self._range(index, from_token, num_tokens)
        return np.array(self._mels_of_shard(self._entries[index].shard)[2 * begin : 2 * end])

    def labels(self, index: int) -> tuple[LabelArray, LabelArray]:
        """Return the sound and the tone of each 20 ms, (2 * tokens,)."""
        begin, end = self._range(index, 0, None)
        sounds, tones = self._labels_of_shard(self._entries[index].shard)[:, 2 * begin : 2 * end]
        return sounds, tones

    def tokens(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> IntArray:
        """Return the tokens (tokens,) for a voice: pitch relative to its median, and its effort."""
        entry = self._entries[index]
        return self._encoded(
            index, entry.speaker.median_f0_hz, Register.of_style(entry.style), slice(from_token, None), num_tokens
        )

    def heard_tokens(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> IntArray:
        """Return the tokens (tokens,) that the line alone determines: pitch relative to its own median."""
        f0_hz = self.f0_hz(index)
        voiced = f0_hz[f0_hz > 0]
        register = Register.WHISPER if self._entries[index].style == "whisper" else Register.MODAL
        median = float(np.median(voiced)) if len(voiced) else 0.0
        return self._encoded(index, median, register, slice(from_token, None), num_tokens)

    @cached_property
    def num_tokens(self) -> IndexArray:
        """Number of tokens of each line, (lines,)."""
        return np.array([entry.num_tokens for entry in self._entries])

    def indices(
        self,
        *,
        split: str | None = None,
        speaker_split: str | None = None,
        style: str | None = None,
        language: str | None = None,
        speaker: str | None = None,
    ) -> IndexArray:
        """Return the numbers of the lines that match all arguments. ``speaker`` is a name."""
        return np.array(
            [
                number
                for number, entry in enumerate(self._entries)
                if split in (None, entry.split)
                and speaker_split in (None, entry.speaker.split)
                and style in (None, entry.style)
                and language in (None, entry.line.language)
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

    def _encoded(
        self, index: int, median_f0_hz: float, register: Register, wanted: slice, num_tokens: int | None
    ) -> IntArray:
        semitones = relative_semitones(self.f0_hz(index), median_f0_hz)
        tokens = self.table.encode(self.labels(index)[0], semitones, register)[wanted]
        return tokens if num_tokens is None else tokens[:num_tokens]

    def _labels_of_shard(self, number: int) -> npt.NDArray[np.uint8]:
        """Return the sounds and tones of all lines of a shard, (2, halves)."""
        if number not in self._labels:
            self._labels[number] = self._stored(
                number,
                "labels",
                lambda index: np.stack(timed_labels(self._entries[index].line, silent_halves(self.samples(index)))),
                1,
            )
        return self._labels[number]

    def _mels_of_shard(self, number: int) -> FloatArray:
        """Return the mels of all lines of a shard, (halves, 80)."""
        if number not in self._mels:
            self._mels[number] = self._stored(number, "mels", lambda index: mel_of(self.samples(index)), 0)
        return self._mels[number]

    def _stored(self, number: int, name: str, make: Callable[[int], npt.NDArray[Any]], axis: int) -> npt.NDArray[Any]:
        """Return what ``make`` returns for all lines of a shard, joined, from the file that stores it."""
        path = self._shards[number].path.with_suffix(f".{name}.npy")
        if not path.exists():
            own = [index for index, entry in enumerate(self._entries) if entry.shard == number]
            beside = path.with_suffix(f".{os.getpid()}.npy")
            np.save(beside, np.concatenate([make(index) for index in own], axis=axis))
            beside.replace(path)
        stored: npt.NDArray[Any] = np.load(path, mmap_mode="r")
        return stored

    def _shard(self, index: int) -> _Shard:
        return self._shards[self._entries[index].shard]

    def _range(self, index: int, from_token: int, num_tokens: int | None) -> tuple[int, int]:
        entry = self._entries[index]
        end = entry.num_tokens if num_tokens is None else min(entry.num_tokens, from_token + num_tokens)
        return entry.start + from_token, entry.start + end


def crop(corpus: Corpus, indices: IndexArray, generator: np.random.Generator, *, num_tokens: int) -> tuple[int, int]:
    """Draw a piece of ``num_tokens`` as (index, first token). All possible pieces are equally likely.

    Lines that are too short are skipped. Raise ``CorpusFailed`` if all are too short.
    """
    places = np.cumsum(np.maximum(corpus.num_tokens[indices] - num_tokens + 1, 0))
    if len(places) == 0 or places[-1] == 0:
        raise CorpusFailed(f"No utterance lasts {num_tokens} tokens. Ask for shorter pieces.")
    place = int(generator.integers(places[-1]))
    which = int(np.searchsorted(places, place, side="right"))
    return int(indices[which]), place - (int(places[which - 1]) if which else 0)


def to_pcm(samples: FloatArray) -> npt.NDArray[np.int16]:
    """Return ``samples`` as 16-bit integers, as stored on disk."""
    return np.clip(np.round(samples * _FULL_SCALE), -_FULL_SCALE, _FULL_SCALE).astype(np.int16)


def write_shard(folder: Path, name: str, recordings: Sequence[Recording], voices: dict[str, VoiceRecipe]) -> None:
    """Write a shard with a name such as "shard-0007". Its list is renamed last, when everything else is complete."""
    for recording in recordings:
        assert len(recording.samples) == 480 * len(recording.f0_hz)
        assert len(recording.samples) % SAMPLES_PER_TOKEN == 0
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{name}.samples.npy", np.concatenate([to_pcm(each.samples) for each in recordings]))
    np.save(folder / f"{name}.f0_hz.npy", np.concatenate([each.f0_hz for each in recordings]).astype(np.float32))
    _write_list(folder, name, [(each.line, len(each.f0_hz) // 2) for each in recordings], voices)


def write_readings(folder: Path, name: str, readings: Sequence[Reading], voices: dict[str, VoiceRecipe]) -> None:
    """Write a shard like :func:`write_shard`."""
    folder.mkdir(parents=True, exist_ok=True)
    labels = [np.concatenate([getattr(each, kind) for each in readings]) for kind in ("sounds", "tones")]
    np.save(folder / f"{name}.labels.npy", np.stack(labels))
    np.save(folder / f"{name}.f0_hz.npy", np.concatenate([each.f0_hz for each in readings]).astype(np.float32))
    _write_list(folder, name, [(each.line, len(each.f0_hz) // 2) for each in readings], voices)


def _write_list(folder: Path, name: str, lines: Sequence[tuple[Line, int]], voices: dict[str, VoiceRecipe]) -> None:
    """Write lines with their numbers of tokens."""
    used = {line.voice: asdict(voices[line.voice]) for line, _ in lines}
    content = {
        "voices": {name: {**record, "split": record["split"].value} for name, record in used.items()},
        "lines": [{**asdict(line), "num_tokens": num_tokens} for line, num_tokens in lines],
    }
    unfinished = folder / f"{name}.json.part"
    unfinished.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    unfinished.replace(folder / f"{name}.json")


def _speakers(
    found: list[tuple[Line, int, int, int]], voices: dict[str, VoiceRecipe], shards: list[_Shard]
) -> dict[str, Speaker]:
    """Return the voices with the median F0 of their normal lines, or of all lines where there is no normal one."""
    voiced: dict[tuple[str, bool], list[FloatArray]] = {}
    for line, shard, start, num_tokens in found:
        f0_hz = shards[shard].f0_hz[2 * start : 2 * (start + num_tokens)]
        voiced.setdefault((line.voice, line.style == "normal"), []).append(f0_hz[f0_hz > 0])
    speakers: dict[str, Speaker] = {}
    for name, voice in voices.items():
        heard = np.concatenate(voiced.get((name, True)) or voiced[name, False])
        median = float(np.median(heard)) if len(heard) else 0.0
        speakers[name] = Speaker(name, voice.accent, voice.split.value, median)
    return speakers


def _voice(record: dict[str, Any]) -> VoiceRecipe:
    return VoiceRecipe(**{**record, "split": Split(record["split"])})
