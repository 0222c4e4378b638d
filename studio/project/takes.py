"""A take: one recording of a line, with all the parameters needed to repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from studio.audio.edits import AudioEdits
from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED
from studio.model.options import Quality, SamplingOptions
from studio.pipeline.request import LengthVerdict, Mode, NetworkFigures
from studio.project.lines import Line, LineStyle
from studio.take_checks.records import TakeCheck, Verdict


@dataclass(frozen=True, slots=True)
class TakeParameters:
    """The parameters with which a take was synthesised.

    Attributes:
        text: The text of the request.
        language: The language tag of the request; empty if it was detected from the text.
        line_fingerprint: The ``fingerprint`` of the line at that time.
        model_key: Identifies the weights (``EngineDescription.weights_key``), or empty.
        voice_key: Identifies the voice (``fingerprint.voice_key``), or empty.
        spoken_text: The normalized text that the model received.
        style: The style in which the take was spoken.
        omitted_style: The preset or instruction of the line if the model does not follow it. The take is then spoken without a style.
        odd_length: Set if the speech is too short or too long for the text.
        quality: The quality of the flow. A take that is not exact is a draft.
        quality_distortion_db: The measured distortion of that quality against the exact one.
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
    language: str = ""
    spoken_text: str = ""
    style: LineStyle = LineStyle()
    omitted_style: str | None = None
    speed: float = 1.0
    sampling: SamplingOptions | None = None
    odd_length: LengthVerdict | None = None
    quality: Quality = Quality.EXACT
    quality_distortion_db: float = 0.0
    engine: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Take:
    """One recording of a line. ``Project.samples_of`` returns its audio with the edits of the take and its line.

    Attributes:
        number: The number of the take within its line, from 1.
        created: The time in UTC.
        audio_seconds: The length of the recording, without edits.
        is_kept: Whether the user wants to keep the take when takes are cleaned up.
        is_complete: False if the synthesis was stopped.
        first_audio_seconds, real_time_factor, num_underruns: Measurements, or None if they are unknown.
        network: The network's share in them, if another computer spoke.
        trim_start_seconds, trim_end_seconds: The seconds omitted at the ends of the recording.
        check: The result of checking the take, or None if it was not checked.
        retry_of: The id of the take that this take was made to replace, because its check found problems.
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
    network: NetworkFigures | None = None
    trim_start_seconds: float = 0.0
    trim_end_seconds: float = 0.0
    check: TakeCheck | None = None
    retry_of: str | None = None

    @property
    def needs_review(self) -> bool:
        """Whether a check found problems that the user has not accepted. Keeping a take accepts it, too."""
        if self.is_kept:
            return False
        if self.check is not None and self.check.verdict is not Verdict.NOT_CHECKED:
            return self.check.needs_review
        return self.parameters.odd_length is not None and not (self.check is not None and self.check.is_accepted)

    @property
    def is_draft(self) -> bool:
        """Whether the take was spoken in a reduced quality."""
        return self.parameters.quality is not Quality.EXACT

    @property
    def is_recording(self) -> bool:
        """Whether the take is a human recording, possibly with replaced words."""
        return self.parameters.mode in (Mode.RECORDING.value, Mode.REPLACED_WORDS.value)

    @property
    def can_be_final(self) -> bool:
        """Whether the take is a draft that can be spoken exactly. The recording of a conversion is not stored."""
        return self.is_draft and self.is_complete and self.parameters.mode != Mode.CONVERSION.value

    @property
    def seed(self) -> int:
        return self.parameters.seed


def can_stretch(take: Take, line: Line) -> bool:
    """Whether the take can be stretched to the speed of its line."""
    return MIN_SPEED <= line.speed / take.parameters.speed <= MAX_SPEED


def edits_of(take: Take, line: Line) -> AudioEdits:
    """Return the edits with which a take of ``line`` is played and exported.

    A take that cannot be stretched to the speed of the line keeps its own speed.
    """
    return AudioEdits(
        trim_start_seconds=take.trim_start_seconds,
        trim_end_seconds=take.trim_end_seconds,
        speed=line.speed / take.parameters.speed if can_stretch(take, line) else 1.0,
        gain_db=line.gain_db,
        fade_in_seconds=line.fade_in_seconds,
        fade_out_seconds=line.fade_out_seconds,
    )
