"""Measure how reliably the imperceptible mark is found, and learn what finds it.

    OPENBLAS_NUM_THREADS=1 python3 packaging/measure.py marks FOLDER... [--clips 500] [--json FILE]
    python3 packaging/measure.py marks FOLDER... --fit      also write resources/mark.npz

FOLDER contains unmarked speech, recorded or synthesised (``timbre export --unmarked``). Half of the files, chosen by
their names, are for ``--fit``, the others for the measurement. Each of these is marked once and left as it is once,
and both are searched after each change, such as a codec. With ``--json`` the results are stored after each clip, and the
next run continues from them. It needs the extra ``dev`` for ffmpeg. The program lowers its own priority. With more threads,
the small products of numpy take four times the processor time.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import soundfile
import soxr

from studio import paths
from studio.audio.resampling import Samples
from studio.provenance.mark import (
    Marker,
    MarkState,
    find_in,
    levels_of,
    load_pattern,
    stretched,
)
from studio.provenance.mark_code import file_id, keyed_code, number_of
from studio.storage.atomic_file import atomic_write

RATE = 32_000
_NICENESS = 10
_SUFFIXES = frozenset({".wav", ".flac", ".ogg", ".mp3", ".g722"})
_MAX_SECONDS, _MIN_SECONDS = 10, 1.1
_FITTED_SPEEDS = (0.93, 0.97, 1.0, 1.03, 1.07)
# In dB squared: chance differences between the voices of the fit.
_REGULARISATION = 0.1
_LOUDNESS = 10 ** (-16 / 20)

Change = Callable[[Samples], Samples]
# Margins of marked and of unmarked clips, and whether their numbers were read (0 or 1), by the name of the change.
Results = dict[str, tuple[list[float], list[float], list[float]]]
_KEY = b"of the measurement"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="unmarked speech")
    parser.add_argument("--clips", type=int, default=500, metavar="N", help="number of clips (default 500)")
    parser.add_argument("--seconds", type=float, default=0, metavar="S", help="join files of a folder to this length")
    parser.add_argument("--fit", action="store_true", help="learn from other files, twice as many")
    parser.add_argument("--json", type=Path, metavar="FILE", help="store the results, and continue from them")
    chosen = parser.parse_args(arguments)
    os.nice(_NICENESS)
    found = (path for folder in chosen.folders for path in folder.rglob("*") if path.suffix in _SUFFIXES)
    files = sorted(found, key=lambda path: zlib.crc32(path.name.encode()))  # in no order
    if chosen.fit:
        chosen_files = [path for path in files if is_for_fit(path)][: 2 * chosen.clips]
        fit(each for path in chosen_files if (each := read(path)) is not None)
    clips = joined((path for path in files if not is_for_fit(path)), chosen.seconds)
    results: Results = {}
    num_known = 0
    if chosen.json and chosen.json.is_file():
        known = json.loads(chosen.json.read_text("utf-8"))
        num_known, results = known["num_clips"], known["margins"]
    with contextlib.suppress(KeyboardInterrupt):  # after fewer clips
        for num_clips in measure(clips, chosen.clips, results, num_known):
            if chosen.json:
                atomic_write(chosen.json, json.dumps({"num_clips": num_clips, "margins": results}).encode())
    for name, (marked, unmarked, read) in results.items():
        print(f"| {name} | {describe(marked)} | {describe(unmarked)} | {describe([each - 1 for each in read])} |")
    return 0


def is_for_fit(path: Path) -> bool:
    return zlib.crc32(path.name.encode()) % 2 == 0


def read(path: Path) -> Samples | None:
    """Return the sound of a file at 32 kHz, or None if it is too short."""
    if path.suffix == ".g722":
        sound, rate = run_ffmpeg(path.read_bytes(), "-f", "g722", output=("-ar", str(RATE))), RATE
    else:
        channels, rate = soundfile.read(path, dtype="float32", always_2d=True)
        sound = channels[:, 0]
    if len(sound) < _MIN_SECONDS * rate or np.abs(sound).max() < 1e-3:
        return None
    return resampled(sound, rate, RATE)[: _MAX_SECONDS * RATE]


def joined(files: Iterable[Path], seconds: float) -> Iterator[Samples]:
    """Yield the sound of files, or of several files of the same folder, which are at least this long together."""
    waiting: dict[Path, Samples] = {}
    for path in files:
        if (sound := read(path)) is not None:
            sound = np.concatenate([waiting.pop(path.parent, sound[:0]), sound])
            if len(sound) < seconds * RATE:
                waiting[path.parent] = sound
            else:
                yield sound


def fit(clips: Iterator[Samples]) -> None:
    """Learn from ``clips`` what tells the mark from unmarked speech, and write it."""
    pairs = [(levels_of(clip).mean(axis=0), levels_of(Marker(RATE)(clip)).mean(axis=0)) for clip in clips]
    unmarked, marked = map(np.array, zip(*pairs, strict=True))
    mean = unmarked.mean(axis=0)
    bands = np.concatenate([stretched(unmarked - mean, speed) for speed in _FITTED_SPEEDS])
    variety = np.cov(bands.T) + _REGULARISATION * np.eye(bands.shape[1])
    whitening = np.linalg.inv(np.linalg.cholesky(variety))
    mark = whitening @ stretched((marked - unmarked).mean(axis=0), 1.0)
    values = {"gains": load_pattern().gains, "mean": mean, "whitening": whitening, "mark": mark / np.linalg.norm(mark)}
    np.savez(paths.resources() / "mark.npz", **{name: each.astype(np.float32) for name, each in values.items()})
    load_pattern.cache_clear()
    print(f"learned from {len(pairs)} clips; a mark is {np.linalg.norm(mark):.1f} deviations from unmarked speech")


def measure(clips: Iterator[Samples], num_clips: int, results: Results, num_known: int = 0) -> Iterator[int]:
    """Add the scores of marked and of unmarked clips after each change, less the limit: found if not negative.

    The first ``num_known`` clips are skipped. After each of the others, yield how many are done.
    """
    before = np.zeros(0, np.float32)
    for number, clip in enumerate(itertools.islice(clips, num_clips)):
        if number < num_known:
            before = clip
            continue
        written = file_id(str(number))
        marker = Marker(RATE, code=keyed_code(written, _KEY))
        for is_unmarked, sound in enumerate((marker(clip), clip)):
            for name, change in changes(before).items():
                found = find_in(change(sound))
                if found.state is not MarkState.NOT_CHECKED:
                    of_change = results.setdefault(name, ([], [], []))
                    of_change[is_unmarked].append(round(found.margin, 4))
                    if not is_unmarked:
                        of_change[2].append(float(number_of(found.codes, _KEY) == written))
        before = clip
        yield number + 1
        if number % 20 == 19:
            print(number + 1, file=sys.stderr, flush=True)


def changes(before: Samples) -> dict[str, Change]:
    """Return what is done with clips. ``before`` is the unmarked clip before, to which they are joined."""
    codecs = {
        "MP3, 128 kbit/s": ("mp3", "128k"),
        "MP3, 64 kbit/s": ("mp3", "64k"),
        "Opus, 64 kbit/s": ("opus", "64k"),
        "Opus, 32 kbit/s": ("opus", "32k"),
        "AAC, 96 kbit/s": ("adts", "96k"),
    }
    return {
        "none": lambda sound: sound,
        **{name: _codec(*how) for name, how in codecs.items()},
        "16 kHz": _at_rate(16_000),
        "8 kHz": _at_rate(8_000),
        "-16 LUFS": lambda sound: np.clip(sound * (_LOUDNESS / (np.sqrt(np.mean(sound**2)) + 1e-9)), -0.9, 0.9),
        "3 s cut out": _cut(3.0),
        "1 s cut out": _cut(1.0),
        "joined to unmarked speech": lambda sound: np.concatenate([before[: len(sound)], sound]),
        "noise, 30 dB": _with_noise(30),
        "noise, 20 dB": _with_noise(20),
        **{f"speed {speed}": _faster(speed) for speed in (0.9, 0.95, 0.97, 1.03, 1.05, 1.1)},
        "tempo 0.9": _tempo(0.9),
        "tempo 1.1": _tempo(1.1),
    }


def describe(values: Sequence[float]) -> str:
    """Return how many are found, with the interval of 95 % (Wilson)."""
    num, found = len(values), sum(value >= 0 for value in values)
    if not num:
        return ""
    share, z = found / num, 1.96
    middle, width = share + z * z / (2 * num), z * np.sqrt(share * (1 - share) / num + z * z / (4 * num * num))
    low, high = ((middle + sign * width) / (1 + z * z / num) for sign in (-1, 1))
    return f"{found} of {num} ({100 * max(low, 0):.1f} to {100 * min(high, 1):.1f} %)"


def resampled(sound: Samples, from_rate: int, to_rate: int) -> Samples:
    return sound if from_rate == to_rate else soxr.resample(sound, from_rate, to_rate).astype(np.float32)


def run_ffmpeg(content: bytes, *options: str, output: Sequence[str]) -> Samples:
    """Decode ``content``."""
    return np.frombuffer(_ffmpeg(content, *options, output=("-f", "f32le", "-ac", "1", *output)), np.float32)


def _ffmpeg(content: bytes, *options: str, output: Sequence[str]) -> bytes:
    import imageio_ffmpeg  # type: ignore[import-untyped]  # noqa: PLC0415 - only for developers

    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", *options, "-i", "-", *output, "-"]
    return subprocess.run(command, input=content, capture_output=True, check=True).stdout


def _wav(sound: Samples) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, np.clip(sound, -1, 1), RATE, format="WAV", subtype="PCM_16")
    return file.getvalue()


def _codec(container: str, rate: str) -> Change:
    def change(sound: Samples) -> Samples:
        coded = _ffmpeg(_wav(sound), "-f", "wav", output=("-b:a", rate, "-f", container))
        return run_ffmpeg(coded, output=("-ar", str(RATE)))

    return change


def _tempo(speed: float) -> Change:
    return lambda sound: run_ffmpeg(_wav(sound), "-f", "wav", output=("-af", f"atempo={speed}", "-ar", str(RATE)))


def _at_rate(rate: int) -> Change:
    return lambda sound: resampled(resampled(sound, RATE, rate), rate, RATE)


def _faster(speed: float) -> Change:
    return lambda sound: resampled(sound, round(RATE * speed), RATE)


def _cut(seconds: float) -> Change:
    def change(sound: Samples) -> Samples:
        """Return the loudest part."""
        length = min(round(seconds * RATE), len(sound))
        energy = np.concatenate([[0.0], np.cumsum(sound.astype(np.float64) ** 2)])
        start = int(np.argmax(energy[length:] - energy[: len(energy) - length]))
        return sound[start : start + length]

    return change


def _with_noise(decibels: float) -> Change:
    def change(sound: Samples) -> Samples:
        noise = np.random.default_rng(len(sound)).standard_normal(len(sound)).astype(np.float32)
        level = np.sqrt(np.mean(sound**2)) * 10 ** (-decibels / 20)
        noisy: Samples = (sound + level * noise).astype(np.float32)
        return noisy

    return change
