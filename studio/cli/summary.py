"""Summary of a request, as text and as JSON."""

from __future__ import annotations

import json
from typing import Any

from studio.cli.delivery import OutputResult
from studio.pipeline.request import EngineDescription, LengthFinding, LengthVerdict

# Prefix of these warnings in the JSON output.
IMPLAUSIBLE_LENGTH = "implausible-length"
_MAX_QUOTE_LENGTH = 60


def as_words(delivered: OutputResult) -> list[str]:
    """Return two or three lines."""
    report = delivered.report
    stages = " · ".join(f"{name} {seconds:.2f} s" for name, seconds in report.stages.items())
    lines = [
        f"{report.audio_seconds:.2f} s of speech in {report.total_seconds:.2f} s "
        f"(real-time factor {report.real_time_factor:.2f}), first sound after {report.first_audio_seconds:.2f} s",
        stages,
    ]
    if delivered.num_underruns:
        lines.append(f"dropouts during playback: {delivered.num_underruns}")
    return lines


def odd_length_words(finding: LengthFinding) -> str:
    """Warning about a sentence whose speech is too short or too long for its text."""
    text = finding.spoken_text
    quote = text if len(text) <= _MAX_QUOTE_LENGTH else text[: _MAX_QUOTE_LENGTH - 1].rstrip() + "…"
    comparison = "longer" if finding.verdict is LengthVerdict.TOO_LONG else "shorter"
    return f"“{quote}” is {comparison} than plausible; listen to it, or choose another --seed."


def as_json(delivered: OutputResult, description: EngineDescription, *, load_seconds: float, seed: int) -> str:
    """One JSON object. Keys are never removed or renamed."""
    report = delivered.report
    values: dict[str, Any] = {
        "first_audio_seconds": report.first_audio_seconds,
        "audio_seconds": report.audio_seconds,
        "total_seconds": report.total_seconds,
        "real_time_factor": report.real_time_factor,
        "sample_rate": report.sample_rate,
        "stages": report.stages,
        "engine": {"device": description.device, **report.engine},
        "notes": list(description.notes),
        "model": {
            "name": description.model_name,
            "generation": description.generation,
            "folder": description.folder,
            "makes_noise": description.makes_noise,
        },
        "load_seconds": load_seconds,
        "mode": report.mode.value,
        "seed": seed,
        "num_speech_tokens": report.num_speech_tokens,
        "spoken_text": list(report.spoken_text),
        "warnings": [
            *report.warnings,
            *(f"{IMPLAUSIBLE_LENGTH}: {odd_length_words(odd)}" for odd in report.odd_lengths),
        ],
        "output": str(delivered.output) if delivered.output else None,
        "promised_start_seconds": delivered.promised_start_seconds,
        "play_start_seconds": delivered.play_start_seconds,
        "underruns": delivered.num_underruns,
    }
    return json.dumps(values, ensure_ascii=False)
