"""Measure the repair of prompt clips: clips of the bundled voices with planted faults, repaired and spoken from.

    python3 packaging/measure.py clip-repairs --work FOLDER [--json FILE]

Each of the five bundled voices has eight degraded recordings: steady noise at 5 to 20 dB, a room, music, and another
speaker at 0 and -10 dB. Speech from the recording as it is and from the offered candidate is compared with the clean
clip of the voice, by the speaker encoder of studio-mini. ``clip_repairs.md`` lists the results. FOLDER keeps what is
done, so that an interrupted measurement resumes.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from studio import paths
from studio.audio.files import read_audio
from studio.audio.waveform import Waveform
from studio.pipeline.request import EngineOptions
from studio.take_checks.clip_repair import Trial, list_candidates, survey, try_candidates
from studio.take_checks.requests import CheckRequest
from studio.take_checks.service import TakeCheckService
from studio.worker.client import WorkerClient

_VOICES = ("Ada", "Angus", "Linda", "Max", "Miles")
_MODEL = paths.resources() / "models" / "studio-mini"
_ROOM_SECONDS = 0.5  # reverberation time
_CHORD_HZ = (220.0, 277.2, 329.6, 440.0)
_CHORD_SECONDS = 0.8
_HARMONICS = 12

Degrade = Callable[[Waveform, Waveform, np.random.Generator], Waveform]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for the cache and the results so far")
    parser.add_argument("--json", type=Path, help="file for the results in JSON")
    parsed = parser.parse_args(arguments)
    os.environ["TIMBRE_CACHE"] = str(parsed.work / "cache")
    parsed.work.mkdir(parents=True, exist_ok=True)
    done = parsed.work / "repairs.jsonl"
    results = [json.loads(line) for line in done.read_text("utf-8").splitlines()] if done.exists() else []
    asyncio.run(_measure(results, done))
    result = _summary(results)
    print(json.dumps(result, indent=1))
    if parsed.json:
        parsed.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 0


async def _measure(results: list[dict[str, Any]], done: Path) -> None:
    known = {(each["voice"], each["fault"]) for each in results}
    with contextlib.closing(TakeCheckService()) as checks, done.open("a", encoding="utf-8") as file:
        async with WorkerClient(_MODEL, EngineOptions(num_threads=1, engines="plain")) as client:
            for number, voice in enumerate(_VOICES):
                for fault, degrade in FAULTS.items():
                    if (voice, fault) in known:
                        continue
                    other = _clip(_VOICES[(number + 1) % len(_VOICES)])
                    recording = degrade(_clip(voice), other, np.random.default_rng(number))
                    results.append({"voice": voice, "fault": fault, **await _repair(voice, recording, checks, client)})
                    print(json.dumps(results[-1]), file=file, flush=True)


async def _repair(voice: str, recording: Waveform, checks: TakeCheckService, client: WorkerClient) -> dict[str, Any]:
    candidates = list_candidates(recording, survey(recording, checks, _MODEL))
    is_whole_clip = recording.seconds == _clip(voice).seconds
    transcript = (paths.resources() / "voices" / f"{voice}.txt").read_text("utf-8").strip() if is_whole_clip else None
    repair = await try_candidates(candidates, checks, _MODEL, client.synthesize, transcript=transcript)
    return {
        "trials": [
            {
                "origin": trial.candidate.origin.value,
                "seconds": [trial.candidate.window.start_seconds, trial.candidate.window.end_seconds],
                "steps": [step.value for step in trial.candidate.steps],
                "estimated": trial.similarity,
                "num_faulty": trial.num_faulty,
                "similarity": _similarity(trial, voice, checks),
                "is_offered": trial is repair.offered,
            }
            for trial in repair.trials
        ]
    }


def _similarity(trial: Trial, voice: str, checks: TakeCheckService) -> float | None:
    """Return the mean similarity of the spoken sentences to the clean clip."""
    clip = paths.resources() / "voices" / f"{voice}.wav"
    found = [
        checks.submit(
            CheckRequest(
                each.waveform.samples,
                each.waveform.sample_rate,
                text="",
                prompt_clip=clip,
                model_folder=_MODEL,
                recognizer="off",
            )
        )
        .result()
        .similarity
        for each in trial.spoken
    ]
    known = [each for each in found if each is not None]
    return sum(known) / len(known) if known else None


def _clip(voice: str) -> Waveform:
    return read_audio(paths.resources() / "voices" / f"{voice}.wav")


def _as_is(clip: Waveform, _other: Waveform, _random: np.random.Generator) -> Waveform:
    return clip


def _noisy(distance_db: float, *, is_pink: bool = False) -> Degrade:
    def degrade(clip: Waveform, _other: Waveform, random: np.random.Generator) -> Waveform:
        spectrum = np.fft.rfft(random.standard_normal(len(clip.samples)))
        if is_pink:
            spectrum /= np.sqrt(np.maximum(np.arange(len(spectrum)), 1.0))
        return _mixed(clip, np.fft.irfft(spectrum, len(clip.samples)), distance_db)

    return degrade


def _in_room(clip: Waveform, _other: Waveform, random: np.random.Generator) -> Waveform:
    """Return ``clip`` with an exponentially decaying response of noise, at the level of the direct sound."""
    times = np.arange(int(_ROOM_SECONDS * clip.sample_rate)) / clip.sample_rate
    response = random.standard_normal(len(times)) * 10.0 ** (-3.0 * times / _ROOM_SECONDS)
    response /= np.sqrt((response**2).sum())
    response[0] += 1.0
    size = len(clip.samples) + len(response)
    wet = np.fft.irfft(np.fft.rfft(clip.samples, size) * np.fft.rfft(response, size), size)[: len(clip.samples)]
    return Waveform((wet * 0.7).astype(np.float32), clip.sample_rate)


def _with_music(clip: Waveform, _other: Waveform, random: np.random.Generator) -> Waveform:
    """Return the clip spoken twice, the first time over chords at 5 dB, which then fade out."""
    twice = np.concatenate([clip.samples, np.zeros(clip.sample_rate // 2, np.float32), clip.samples])
    times = np.arange(len(clip.samples)) / clip.sample_rate
    steps = random.integers(-5, 6, 1 + int(clip.seconds / _CHORD_SECONDS))
    chords = 2.0 ** (steps[(times / _CHORD_SECONDS).astype(int)] / 12.0)
    envelope = np.exp(-2.0 * (times % _CHORD_SECONDS))
    phases = [2 * np.pi * np.cumsum(hertz * chords) / clip.sample_rate for hertz in _CHORD_HZ]
    music = sum(np.sin(number * phase) / number for phase in phases for number in range(1, _HARMONICS + 1)) * envelope
    over = _mixed(clip, np.asarray(music), 5.0).samples
    twice[: len(over)] = over
    return Waveform(twice, clip.sample_rate)


def _with_speaker(level_db: float) -> Degrade:
    def degrade(clip: Waveform, other: Waveform, _random: np.random.Generator) -> Waveform:
        """Return the clip, the other speaker over the end of its repetition, and the clip once more."""
        loud = np.sqrt(np.mean(clip.samples**2.0) / np.mean(other.samples**2.0)) * 10.0 ** (level_db / 20.0)
        pause = np.zeros(clip.sample_rate // 4, np.float32)
        overlapped = clip.samples.copy()
        half = len(overlapped) // 2
        answer = other.samples * np.float32(loud)
        overlapped[half:] += answer[: len(overlapped) - half]
        parts = [overlapped, answer[len(overlapped) - half :], pause, clip.samples]
        return Waveform(np.concatenate(parts) * np.float32(0.7), clip.sample_rate)

    return degrade


def _mixed(clip: Waveform, noise: np.ndarray, distance_db: float) -> Waveform:
    gain = np.sqrt(np.mean(clip.samples.astype(np.float64) ** 2) / np.mean(noise**2)) * 10.0 ** (-distance_db / 20.0)
    return Waveform((clip.samples + gain * noise).astype(np.float32), clip.sample_rate)


FAULTS: dict[str, Degrade] = {
    "none": _as_is,
    "noise 5 dB": _noisy(5.0),
    "noise 10 dB, pink": _noisy(10.0, is_pink=True),
    "noise 15 dB": _noisy(15.0),
    "noise 20 dB, pink": _noisy(20.0, is_pink=True),
    "room": _in_room,
    "music": _with_music,
    "speaker 0 dB": _with_speaker(0.0),
    "speaker -10 dB": _with_speaker(-10.0),
}


def _summary(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    def gains(chosen: Sequence[dict[str, Any]]) -> list[float]:
        """Return the gain of each recording, 0 where nothing is offered."""
        found = []
        for each in chosen:
            trials = each["trials"]
            offered = next((trial for trial in trials if trial["is_offered"]), trials[0])
            found.append(0.0 if offered is trials[0] else offered["similarity"] - trials[0]["similarity"])
        return found

    def figures(chosen: Sequence[dict[str, Any]]) -> dict[str, Any]:
        found = gains(chosen)
        return {
            "recordings": len(found),
            "offered": sum(any(trial["is_offered"] for trial in each["trials"]) for each in chosen),
            "improved": sum(gain > 0 for gain in found),
            "worse_by_more_than_0.02": sum(gain < -0.02 for gain in found),
            "median_gain": round(float(np.median(found)), 3) if found else None,
            "least_gain": round(min(found), 3) if found else None,
        }

    degraded = [each for each in results if each["fault"] != "none"]
    return {
        "degraded": figures(degraded),
        **{fault: figures([each for each in results if each["fault"] == fault]) for fault in FAULTS},
    }
