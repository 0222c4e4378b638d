"""The corpus on disk, in shards of about two minutes, mapped into memory.

A shard consists of the samples, F0, and a ``.json`` file that lists its lines and is written last. A corpus can be
opened while it is created, and then contains the complete shards.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from training.bilingual.voices import Split, VoiceRecipe
from training.corpus.acoustics import mel_of
from training.corpus.store import Corpus, Entry, to_pcm
from training.corpus.utterance import SAMPLES_PER_TOKEN, TOKENS_PER_SECOND, CorpusFailed, FloatArray, Speaker

PLAN_FILE = "plan.json"
_FULL_SCALE = 32_767.0
_MARGIN_TOKENS = 2


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


class BilingualCorpus(Corpus):
    """Lines by number, and everything that trainers read of a corpus except tokens. The mel is computed on access."""

    def __init__(self, lines: list[Line], entries: list[Entry], voices: dict[str, VoiceRecipe], shards: list[_Shard]):
        super().__init__(entries, [])
        self.lines = lines
        self.voices = voices
        self._arrays = shards

    @classmethod
    def open(cls, folder: Path) -> BilingualCorpus:
        """Raise ``CorpusFailed`` if there is no complete shard."""
        lines: list[Line] = []
        lengths: list[tuple[int, int, int]] = []  # shard, first token, number of tokens
        voices: dict[str, VoiceRecipe] = {}
        shards: list[_Shard] = []
        for path in sorted(folder.glob("shard-*.json")):
            content = json.loads(path.read_text("utf-8"))
            start = 0
            for record in content["lines"]:
                num_tokens = record.pop("num_tokens")
                record["frames"], record["syllables"] = tuple(record["frames"]), tuple(record["syllables"])
                lines.append(Line(**record))
                lengths.append((len(shards), start, num_tokens))
                start += num_tokens
            voices |= {name: _voice(record) for name, record in content["voices"].items()}
            arrays = {name: np.load(path.with_suffix(f".{name}.npy"), mmap_mode="r") for name in ("samples", "f0_hz")}
            shards.append(_Shard(**arrays))
        if not lines:
            raise CorpusFailed(f"{folder} contains no speech yet. Create some first: train.py bilingual")
        speakers = _speakers(lines, lengths, voices, shards)
        entries = [
            Entry(line.text, speakers[line.voice], line.style, line.split, num_tokens, start, shard)
            for line, (shard, start, num_tokens) in zip(lines, lengths, strict=True)
        ]
        return cls(lines, entries, voices, shards)

    def samples(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> FloatArray:
        begin, end = self._range(index, from_token, num_tokens)
        raw = self._arrays[self.entry(index).shard].samples[begin * SAMPLES_PER_TOKEN : end * SAMPLES_PER_TOKEN]
        return raw.astype(np.float32) / np.float32(_FULL_SCALE)

    def f0_hz(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> FloatArray:
        begin, end = self._range(index, from_token, num_tokens)
        return np.array(self._arrays[self.entry(index).shard].f0_hz[2 * begin : 2 * end])

    def mel(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> FloatArray:
        # The windows of the first and last frame reach into the neighbouring tokens.
        before = min(from_token, _MARGIN_TOKENS)
        wanted = None if num_tokens is None else before + num_tokens + _MARGIN_TOKENS
        wide = mel_of(self.samples(index, from_token=from_token - before, num_tokens=wanted))
        end = None if num_tokens is None else 2 * (before + num_tokens)
        return wide[2 * before : end]

    def seconds(self, language: str) -> float:
        """Return the seconds of all lines in ``language``."""
        is_wanted = np.array([line.language == language for line in self.lines])
        return float(self.num_tokens[is_wanted].sum()) / TOKENS_PER_SECOND


def open_speech(folder: Path) -> Corpus:
    """Return the corpus in ``folder``, of either kind. Raise ``CorpusFailed`` if there is no complete shard."""
    plan = folder / PLAN_FILE
    is_bilingual = plan.is_file() and "texts_and_voices" in json.loads(plan.read_text("utf-8"))
    return BilingualCorpus.open(folder) if is_bilingual else Corpus.open(folder)


def _speakers(
    lines: list[Line],
    places: list[tuple[int, int, int]],
    voices: dict[str, VoiceRecipe],
    shards: list[_Shard],
) -> dict[str, Speaker]:
    """Return the voices with the median F0 of their normal lines, or of all lines where there is no normal one."""
    voiced: dict[tuple[str, bool], list[FloatArray]] = {}
    for line, (shard, start, num_tokens) in zip(lines, places, strict=True):
        f0_hz = shards[shard].f0_hz[2 * start : 2 * (start + num_tokens)]
        voiced.setdefault((line.voice, line.style == "normal"), []).append(f0_hz[f0_hz > 0])
    speakers: dict[str, Speaker] = {}
    for name, voice in voices.items():
        heard = np.concatenate(voiced.get((name, True)) or voiced[name, False])
        speakers[name] = Speaker(
            name=name,
            engine="kokoro",
            voice=name,
            accent=voice.accent,
            pitch=0,
            resample_ratio=1.0,
            split=voice.split.value,
            median_f0_hz=float(np.median(heard)) if len(heard) else 0.0,
        )
    return speakers


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
