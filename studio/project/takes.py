"""A take: one recording of a line, with everything needed to repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from studio.model.config import SamplingOptions
from studio.pipeline.request import LengthVerdict
from studio.project.lines import LineStyle


@dataclass(frozen=True, slots=True)
class TakeParameters:
    """What a take was made from. ``text`` is what was sent, ``spoken_text`` what the model read.

    ``line_fingerprint`` is that of the line at the time (``fingerprint.py``). ``model_key`` identifies the weights
    (``EngineDescription.weights_key``) and ``voice_key`` the voice (``voice_keys.py``); both may be empty.
    ``odd_length`` is set if the speech is too short or too long for the text. ``engine`` maps stages to engine and
    precision, ``versions`` libraries to versions.
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
    """One recording of a line. ``Project.samples_of`` returns its audio.

    ``number`` counts the takes of a line from 1. ``created`` is in UTC. ``is_kept``: the user wants to keep it when
    takes are cleaned up. An incomplete take was stopped. Measurements are None if unknown.
    """

    id: str
    line_id: str
    number: int
    created: datetime
    audio_seconds: float
    sample_rate: int
    parameters: TakeParameters
    is_kept: bool = False
    is_complete: bool = True
    first_audio_seconds: float | None = None
    real_time_factor: float | None = None
    num_underruns: int | None = None

    @property
    def seed(self) -> int:
        return self.parameters.seed
