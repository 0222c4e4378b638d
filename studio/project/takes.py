"""A take: one recording of a line, with all the parameters that are needed to repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from studio.model.config import SamplingOptions
from studio.pipeline.request import LengthVerdict
from studio.project.lines import LineStyle


@dataclass(frozen=True, slots=True)
class TakeParameters:
    """The parameters with which a take was synthesised.

    Attributes:
        text: The text of the request.
        line_fingerprint: The ``fingerprint`` of the line at that time.
        model_key: Identifies the weights (``EngineDescription.weights_key``), or empty.
        voice_key: Identifies the voice (``fingerprint.voice_key``), or empty.
        spoken_text: The normalized text that the model received.
        odd_length: Set if the speech is too short or too long for the text.
        engine: The engine and precision of each stage.
        versions: The version of each library.
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

    Attributes:
        number: The number of the take within its line, from 1.
        created: The time in UTC.
        is_kept: Whether the user wants to keep the take when takes are cleaned up.
        is_complete: False if the synthesis was stopped.
        first_audio_seconds, real_time_factor, num_underruns: Measurements, or None if they are unknown.
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
