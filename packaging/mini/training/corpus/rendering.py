"""Rendering of one sentence by one speaker in one style, from the synthesizer to the stored utterance."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import soxr

from training.corpus import flite
from training.corpus.acoustics import f0_of, mel_of
from training.corpus.effects import (
    LEVEL_DBFS,
    active_level_dbfs,
    equalised,
    limited,
    whispered,
    with_effort,
)
from training.corpus.espeak import USUAL_WORDS_PER_MINUTE, espeak, shifted_pitch
from training.corpus.phones import SILENCE
from training.corpus.speakers import SpeakerRecipe
from training.corpus.spoken import HALF_FRAME_SECONDS, Segment, Spoken, labels_on_grid
from training.corpus.store import to_pcm
from training.corpus.styles import DELIVERY_OF_STYLE, Delivery, Effort
from training.corpus.tokens import PairTable, colours_of, encode
from training.corpus.utterance import (
    SAMPLE_RATE,
    SAMPLES_PER_TOKEN,
    TOKENS_PER_SECOND,
    FloatArray,
    LabelArray,
    Utterance,
)

# Silence before and after. The position of token boundaries within a phone is random.
_MIN_BEFORE_SECONDS, _MAX_BEFORE_SECONDS = 0.08, 0.16
_AFTER_SECONDS = 0.16
# Every recording contains at least this much noise, because digital silence has no useful spectrum.
_NOISE_FLOOR = 2.5e-5
_CALIBRATION_RANGE = (50.0, 550.0)
_RANGE_AROUND_MEDIAN = (0.45, 2.4)
_MAX_FLOOR_HZ = 140.0


@dataclass(frozen=True, slots=True)
class Voice:
    """A measured speaker, with its median F0 and level in normal style."""

    recipe: SpeakerRecipe
    median_f0_hz: float
    level_dbfs: float


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """Audio at 24 kHz, and its segments on the same time axis."""

    samples: FloatArray = field(repr=False)
    segments: tuple[Segment, ...]


def listened_to(recipe: SpeakerRecipe, texts: tuple[str, ...]) -> Voice:
    """Measure a speaker with ``texts`` in normal style."""
    heard = [_played(recipe, text, DELIVERY_OF_STYLE["normal"]).samples for text in texts]
    lowest, highest = _CALIBRATION_RANGE
    first = np.concatenate([f0_of(samples, floor_hz=lowest, ceiling_hz=highest) for samples in heard])
    rough = float(np.median(first[first > 0])) if (first > 0).any() else 120.0
    f0 = np.concatenate([_f0(samples, rough) for samples in heard])
    median = float(np.median(f0[f0 > 0])) if (f0 > 0).any() else rough
    return Voice(recipe, round(median, 2), round(float(np.mean([active_level_dbfs(each) for each in heard])), 2))


def rendered(
    text: str, voice: Voice, *, style: str, split: str, table: PairTable, generator: np.random.Generator
) -> tuple[Utterance, LabelArray]:
    """Return the utterance, and its labels before rare pairs are merged."""
    delivery = DELIVERY_OF_STYLE[style]
    played = _played(voice.recipe, text, delivery)
    samples = played.samples
    if delivery.effort is Effort.WHISPER:
        samples = whispered(samples, _f0(samples, voice.median_f0_hz), generator)
    samples = with_effort(samples, delivery.effort)
    samples, offset_seconds = _cut(samples, played.segments, generator)
    wanted = LEVEL_DBFS[delivery.effort] + _own_level(samples, voice, delivery)
    gain = 10.0 ** ((wanted - active_level_dbfs(samples)) / 20.0)
    noisy = limited(samples * np.float32(gain)) + generator.normal(0.0, _NOISE_FLOOR, len(samples)).astype(np.float32)
    kept = to_pcm(noisy).astype(np.float32) / np.float32(32_767.0)
    num_tokens = len(kept) // SAMPLES_PER_TOKEN
    labels = labels_on_grid(played.segments, 2 * num_tokens, offset_seconds=offset_seconds)
    has_voice = delivery.effort is not Effort.WHISPER
    f0_hz = _f0(kept, voice.median_f0_hz) if has_voice else np.zeros(2 * num_tokens, np.float32)
    colours = colours_of(f0_hz, median_f0_hz=voice.median_f0_hz, style=style)
    utterance = Utterance(
        text=text,
        speaker=voice.recipe.speaker(voice.median_f0_hz),
        style=style,
        split=split,
        samples=kept,
        tokens=encode(labels, colours, table),
        mel=mel_of(kept),
        f0_hz=f0_hz,
    )
    return utterance, labels


def labels_only(text: str, recipe: SpeakerRecipe, style: str) -> LabelArray:
    """Return only the labels, (2 * tokens,). This is fast, and sufficient for counting phones."""
    spoken, ratio = _said(recipe, text, DELIVERY_OF_STYLE[style])
    segments = _slower(spoken.segments, 1.0 / ratio)
    num_half_frames = 2 * int(segments[-1].end_seconds * TOKENS_PER_SECOND)
    return labels_on_grid(segments, num_half_frames, offset_seconds=0.0)


def _own_level(samples: FloatArray, voice: Voice, delivery: Delivery) -> float:
    """Return the deviation from the speaker's level, which is kept for modal sentences only."""
    if delivery.effort is not Effort.MODAL:
        return 0.0
    return float(np.clip(active_level_dbfs(samples) - voice.level_dbfs, -3.0, 3.0))


def _played(recipe: SpeakerRecipe, text: str, delivery: Delivery) -> _Placed:
    """Apply the speaker's equaliser and resample to 24 kHz."""
    spoken, ratio = _said(recipe, text, delivery)
    samples = soxr.resample(spoken.samples, spoken.sample_rate * ratio, SAMPLE_RATE, quality="HQ")
    samples = equalised(samples.astype(np.float32), recipe.equaliser_db)
    return _Placed(samples, _slower(spoken.segments, 1.0 / ratio))


def _said(recipe: SpeakerRecipe, text: str, delivery: Delivery) -> tuple[Spoken, float]:
    """Synthesize speech that is slower and lower, to compensate for the faster playback."""
    ratio = recipe.resample_ratio
    if recipe.engine == "flite":
        stretch = ratio / delivery.rate
        f0_mean_hz = recipe.pitch * delivery.f0 / ratio
        return flite.say(text, voice=recipe.voice, f0_mean_hz=f0_mean_hz, duration_stretch=stretch), ratio
    spoken = espeak().say(
        text,
        voice=recipe.voice,
        accent=delivery.accent or recipe.accent,
        pitch=shifted_pitch(recipe.pitch, delivery.f0),
        pitch_range=recipe.pitch_range,
        words_per_minute=USUAL_WORDS_PER_MINUTE * delivery.rate / ratio,
    )
    return spoken, ratio


def _slower(segments: tuple[Segment, ...], factor: float) -> tuple[Segment, ...]:
    return tuple(Segment(each.label, each.start_seconds * factor, each.end_seconds * factor) for each in segments)


def _cut(
    samples: FloatArray, segments: tuple[Segment, ...], generator: np.random.Generator
) -> tuple[FloatArray, float]:
    """Add silence on both sides, up to whole tokens. Also return the start of the result on the old time axis."""
    sounding = [segment for segment in segments if segment.label != SILENCE] or list(segments)
    before = generator.uniform(_MIN_BEFORE_SECONDS, _MAX_BEFORE_SECONDS)
    start = round((sounding[0].start_seconds - before) * SAMPLE_RATE)
    end = round((sounding[-1].end_seconds + _AFTER_SECONDS) * SAMPLE_RATE)
    end = start + -(-(end - start) // SAMPLES_PER_TOKEN) * SAMPLES_PER_TOKEN
    piece = samples[max(0, start) : max(0, end)]
    padded = np.pad(piece, (max(0, -start), 0))
    padded = np.pad(padded, (0, end - start - len(padded)))
    return padded, start / SAMPLE_RATE


def _f0(samples: FloatArray, median_f0_hz: float) -> npt.NDArray[np.float32]:
    lowest, highest = _RANGE_AROUND_MEDIAN
    num_frames = len(samples) // round(HALF_FRAME_SECONDS * SAMPLE_RATE)
    if num_frames == 0:
        return np.zeros(0, np.float32)
    return f0_of(
        samples,
        floor_hz=float(np.clip(lowest * median_f0_hz, 45.0, _MAX_FLOOR_HZ)),
        ceiling_hz=min(800.0, highest * median_f0_hz),
    )
