"""A take: one time a line was spoken, and all that is needed to speak it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from studio.model.config import SamplingOptions
from studio.pipeline.request import LengthVerdict
from studio.project.lines import LineStyle


@dataclass(frozen=True, slots=True)
class TakeParameters:
    """What the take was made from. ``text`` is what was sent, ``spoken_text`` what the model read.

    ``line_fingerprint`` is that of the line when it was spoken (``fingerprint.py``). ``model_key`` tells
    weights apart (``EngineDescription.weights_key``), ``voice_key`` how voices sound (``voice_keys.py``);
    both are empty where nobody knew. ``odd_length``: its speech is too short or too long for the text. ``engine``: stage to engine and precision, ``versions``: library to
    version.
    """

    text: str
    seed: int
    line_fingerprint: str
    mode: str
    voice_name: str
    voice_sha256: str
    model_name: str
    model_key: str
    voice_key: str = ""
    spoken_text: str = ""
    style: LineStyle = LineStyle()
    speed: float = 1.0
    sampling: SamplingOptions | None = None
    odd_length: LengthVerdict | None = None
    engine: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Take:
    """Its sound is in the project's file: ``Project.samples_of(take.id)``.

    ``number`` counts the takes of a line from 1. ``created`` is in UTC. ``is_kept``: the person wants to
    keep it, whatever else is cleared away. An incomplete take was stopped. The figures are None where
    nobody measured them.
    """

    id: str
    line_id: str
    number: int
    created: datetime
    audio_seconds: float
    sample_rate: int
    recipe: TakeParameters
    is_kept: bool = False
    is_complete: bool = True
    first_audio_seconds: float | None = None
    real_time_factor: float | None = None
    num_underruns: int | None = None

    @property
    def seed(self) -> int:
        return self.recipe.seed
